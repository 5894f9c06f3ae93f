-- A denial may suggest other arguments to the model: canonical text in the tool's own
-- encoding. What runs is always what was declared.
ALTER TABLE approval_requests ADD COLUMN suggestion text;
ALTER TABLE approval_requests ADD CONSTRAINT only_a_denial_suggests
  CHECK (suggestion IS NULL OR state = 'denied');

-- Each of several approvers answers for the same arguments, and the row says which.
ALTER TABLE approval_votes ADD COLUMN parameters_digest text;
UPDATE approval_votes v SET parameters_digest = a.parameters_digest
FROM approval_requests a WHERE a.tenant_id = v.tenant_id AND a.request_id = v.request_id;
ALTER TABLE approval_votes ALTER COLUMN parameters_digest SET NOT NULL;

-- Who reads a pending request at this moment. Nothing depends on it and it claims
-- nothing, so it need not survive a crash of the database.
CREATE UNLOGGED TABLE approval_looks (
  tenant_id      text NOT NULL,
  request_id     text NOT NULL,
  operator_id    text NOT NULL,
  operator_name  text NOT NULL,
  looks_until    timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, request_id, operator_id)
);
CREATE INDEX looks_by_time ON approval_looks (tenant_id, looks_until);
ALTER TABLE approval_looks ENABLE ROW LEVEL SECURITY;
CREATE POLICY rows_of_one_tenant ON approval_looks
  USING (tenant_id = current_setting('effect_agent.tenant', true))
  WITH CHECK (tenant_id = current_setting('effect_agent.tenant', true));

-- As in 0007, with the suggestion of a decision.
CREATE OR REPLACE FUNCTION project_people(
  p_tenant text, p_thread text, p_run text, p_agent text, p_at timestamptz, p_changes json)
RETURNS void
LANGUAGE plpgsql AS $function$
BEGIN
  INSERT INTO approval_requests (tenant_id, request_id, thread_id, run_id, agent_id, turn, call_id,
    tool_name, summary, risk, denial_rule, requester, approvers_required, self_approval,
    parameters_digest, content, requested_sequence, requested_at, expires_at)
  SELECT p_tenant, c.request_id, p_thread, p_run, p_agent, c.turn, c.call_id,
    c.tool_name, c.summary, c.risk, c.denial_rule, c.requester, c.approvers_required, c.self_approval,
    c.parameters_digest, c.content, c.requested_sequence, from_millis(c.requested_ms),
    from_millis(c.expires_ms)
  FROM json_to_recordset(coalesce(p_changes -> 'approvals', '[]')) AS c (
    request_id text, turn integer, call_id text, tool_name text, summary text, risk text,
    denial_rule text, requester text, approvers_required integer, self_approval boolean,
    parameters_digest text, content text, requested_sequence bigint, requested_ms bigint,
    expires_ms bigint)
  ON CONFLICT DO NOTHING;

  -- A person's row is decided already; a rule's decision comes with the record that carries it.
  UPDATE approval_requests a SET
    delivered_at = coalesce(a.delivered_at, p_at),
    state = CASE WHEN a.state = 'pending' THEN c.decision ELSE a.state END,
    decider_kind = coalesce(a.decider_kind, c.actor_kind),
    decider_id = coalesce(a.decider_id, c.actor_id),
    decider_name = coalesce(a.decider_name, c.actor_name),
    decision_reason = coalesce(a.decision_reason, c.reason),
    suggestion = coalesce(a.suggestion, c.suggestion),
    decided_at = coalesce(a.decided_at, from_millis(c.decided_ms))
  FROM json_to_recordset(coalesce(p_changes -> 'decisions', '[]')) AS c (
    request_id text, decision text, actor_kind text, actor_id text, actor_name text, reason text,
    suggestion text, decided_ms bigint)
  WHERE a.tenant_id = p_tenant AND a.request_id = c.request_id;

  INSERT INTO unknown_outcomes AS u (tenant_id, unknown_id, thread_id, run_id, agent_id, turn, call_id,
    tool_name, reason, detail, after_settlement, execution_class, parameters_digest, idempotency_key,
    attempt, declared_sequence, unknown_sequence, prepared_at, unknown_at)
  SELECT p_tenant, c.unknown_id, p_thread, p_run, p_agent, c.turn, c.call_id,
    c.tool_name, c.reason, c.detail, c.after_settlement, t.execution_class, t.parameters_digest,
    t.idempotency_key, t.attempt, t.declared_sequence, c.unknown_sequence, t.started_at, p_at
  FROM json_to_recordset(coalesce(p_changes -> 'unknowns', '[]')) AS c (
    unknown_id text, turn integer, call_id text, tool_name text, reason text, detail text,
    after_settlement boolean, unknown_sequence bigint)
  LEFT JOIN tool_calls t
    ON t.tenant_id = p_tenant AND t.run_id = p_run AND t.turn = c.turn AND t.call_id = c.call_id
  -- A retry that a person allowed can end in doubt again: the same call, open once more.
  ON CONFLICT (tenant_id, unknown_id) DO UPDATE SET
    reason = excluded.reason, detail = excluded.detail, after_settlement = excluded.after_settlement,
    attempt = excluded.attempt, unknown_sequence = excluded.unknown_sequence,
    prepared_at = excluded.prepared_at, unknown_at = excluded.unknown_at,
    occurrences = u.occurrences + 1, state = 'open', resolution = NULL, result = NULL,
    result_is_failure = NULL, resolver_kind = NULL, resolver_id = NULL, resolver_name = NULL,
    resolution_reason = NULL, evidence = NULL, resolution_command_id = NULL, resolved_at = NULL,
    delivered_at = NULL;

  UPDATE unknown_outcomes u SET
    delivered_at = coalesce(u.delivered_at, p_at),
    state = 'resolved',
    resolution = coalesce(u.resolution, c.resolution),
    result = coalesce(u.result, CASE WHEN u.resolution IS NULL THEN c.result END),
    result_is_failure = coalesce(u.result_is_failure, c.result_is_failure),
    resolver_kind = coalesce(u.resolver_kind, c.actor_kind),
    resolver_id = coalesce(u.resolver_id, c.actor_id),
    resolver_name = coalesce(u.resolver_name, c.actor_name),
    resolution_reason = coalesce(u.resolution_reason, c.reason),
    evidence = coalesce(u.evidence, c.evidence),
    resolved_at = coalesce(u.resolved_at, from_millis(c.resolved_ms))
  FROM json_to_recordset(coalesce(p_changes -> 'resolutions', '[]')) AS c (
    unknown_id text, resolution text, result text, result_is_failure boolean, actor_kind text,
    actor_id text, actor_name text, reason text, evidence text, resolved_ms bigint)
  WHERE u.tenant_id = p_tenant AND u.unknown_id = c.unknown_id;

  -- A reconciler that later proves what happened closes the open doubt.
  UPDATE unknown_outcomes u SET
    delivered_at = p_at, state = 'resolved', resolution = 'completed-with-result', result = c.result,
    result_is_failure = c.result_is_failure, resolver_kind = 'policy', resolver_id = 'reconciler',
    resolver_name = 'reconciler', resolution_reason = 'The reconciler proved the outcome.',
    evidence = 'reconciler', resolved_at = p_at
  FROM json_to_recordset(coalesce(p_changes -> 'reconciled', '[]')) AS c (
    turn integer, call_id text, result text, result_is_failure boolean)
  WHERE u.tenant_id = p_tenant AND u.run_id = p_run AND u.turn = c.turn AND u.call_id = c.call_id
    AND u.state = 'open';

  INSERT INTO denials (tenant_id, denial_id, kind, thread_id, run_id, agent_id, turn, call_id, tool_name,
    reason, diagnostic_id, denied_sequence, denied_at)
  SELECT p_tenant, c.denial_id, c.kind, p_thread, p_run, p_agent, c.turn, c.call_id, c.tool_name,
    c.reason, c.diagnostic_id, c.denied_sequence, p_at
  FROM json_to_recordset(coalesce(p_changes -> 'denials', '[]')) AS c (
    denial_id text, kind text, turn integer, call_id text, tool_name text, reason text,
    diagnostic_id text, denied_sequence bigint)
  ON CONFLICT DO NOTHING;

  INSERT INTO abort_requests AS b (tenant_id, run_id, thread_id, actor_kind, actor_id, actor_name, reason,
    requested_at, delivered_at)
  SELECT p_tenant, p_run, p_thread, c.actor_kind, c.actor_id, c.actor_name, c.reason,
    from_millis(c.requested_ms), p_at
  FROM json_to_recordset(coalesce(p_changes -> 'aborts', '[]')) AS c (
    actor_kind text, actor_id text, actor_name text, reason text, requested_ms bigint)
  ON CONFLICT (tenant_id, run_id) DO UPDATE SET delivered_at = coalesce(b.delivered_at, excluded.delivered_at);
END
$function$;
