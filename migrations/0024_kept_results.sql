-- Whole texts of tool results whose records hold a bounded copy. A row is written in
-- the same statement as its record, which carries the digest that the text must have;
-- nothing changes it, and it goes when its run's rows go.
CREATE TABLE kept_results (
  tenant_id        text NOT NULL,
  run_id           text NOT NULL,
  result_id        text NOT NULL,
  thread_id        text NOT NULL,
  turn             integer NOT NULL,
  call_id          text NOT NULL,
  record_sequence  bigint NOT NULL,
  -- SHA-256 of the text as the record has it; the record, not this column, decides.
  digest           text NOT NULL,
  -- Canonical JSON text, or its beginning.
  body             text NOT NULL,
  kept_at          timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, run_id, result_id),
  CONSTRAINT a_kept_text_is_bounded CHECK (octet_length(body) <= 8388608)
);
CREATE INDEX kept_results_by_thread ON kept_results (tenant_id, thread_id, record_sequence);
ALTER TABLE kept_results ENABLE ROW LEVEL SECURITY;
CREATE POLICY rows_of_one_tenant ON kept_results
  USING (tenant_id = current_setting('effect_agent.tenant', true))
  WITH CHECK (tenant_id = current_setting('effect_agent.tenant', true));

-- As in 0016; a kept text is evidence like the record that names it.
CREATE OR REPLACE FUNCTION grant_tenant_role() RETURNS void
LANGUAGE plpgsql AS $function$
BEGIN
  GRANT USAGE ON SCHEMA public TO effect_agent_tenant;
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO effect_agent_tenant;
  REVOKE UPDATE, DELETE ON journal_records, audit_log, kept_results FROM effect_agent_tenant;
  ALTER DEFAULT PRIVILEGES IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO effect_agent_tenant;
END
$function$;

DO $block$
BEGIN
  IF tenant_role_state() = 'bound' THEN
    REVOKE UPDATE, DELETE ON kept_results FROM effect_agent_tenant;
  END IF;
END
$block$;
