-- The database's own answer to a query that forgot its tenant (PG-05). The owner
-- of the tables passes by; a role that is only granted the tables sees the rows of
-- the tenant named in its transaction, and none without one. README.md says how.
DO $block$
DECLARE
  v_table text;
BEGIN
  FOREACH v_table IN ARRAY ARRAY[
    'tenants', 'operators', 'sign_in_links', 'sign_in_sessions', 'bearer_tokens', 'operator_commands',
    'threads', 'submissions', 'idempotency_keys', 'journal_records', 'runs', 'run_tools', 'turns',
    'tool_calls', 'approval_requests', 'approval_votes', 'unknown_outcomes', 'denials', 'diagnostics',
    'abort_requests', 'event_inbox', 'events', 'event_tails', 'audit_log', 'audit_tails']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', v_table);
    EXECUTE format(
      'CREATE POLICY rows_of_one_tenant ON %I
         USING (tenant_id = current_setting(''effect_agent.tenant'', true))
         WITH CHECK (tenant_id = current_setting(''effect_agent.tenant'', true))', v_table);
  END LOOP;
END
$block$;
