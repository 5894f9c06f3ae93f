-- What stays of a run whose rows were archived or deleted by age: enough to say so,
-- and no more. Its thread stays too, with the place that its chain goes on from; a
-- key of the ledger stays and still answers with the same receipt.
ALTER TABLE threads
  ADD COLUMN kept_after_sequence bigint NOT NULL DEFAULT 0,
  ADD COLUMN kept_after_digest text NOT NULL DEFAULT repeat('0', 64);

CREATE TABLE archived_runs (
  tenant_id    text NOT NULL,
  run_id       text NOT NULL,
  thread_id    text NOT NULL,
  outcome      text NOT NULL,
  settled_at   timestamptz NOT NULL,
  archived_at  timestamptz NOT NULL DEFAULT now(),
  -- Null: deleted without an archive.
  archive      text,
  PRIMARY KEY (tenant_id, run_id),
  CONSTRAINT only_settled_runs_are_archived CHECK (outcome IN ('completed', 'failed', 'aborted'))
);

-- Files whose rows are all gone from here: what a pass that was killed finds missing
-- in this table, it finishes first.
CREATE TABLE archives (
  tenant_id    text NOT NULL,
  archive      text NOT NULL,
  sha256       text NOT NULL,
  runs         integer NOT NULL,
  records      bigint NOT NULL,
  finished_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, archive)
);

DO $block$
DECLARE
  v_table text;
BEGIN
  FOREACH v_table IN ARRAY ARRAY['archived_runs', 'archives'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', v_table);
    EXECUTE format(
      'CREATE POLICY rows_of_one_tenant ON %I
         USING (tenant_id = current_setting(''effect_agent.tenant'', true))
         WITH CHECK (tenant_id = current_setting(''effect_agent.tenant'', true))', v_table);
  END LOOP;
END
$block$;
