-- Settled runs leave the journal wherever they stand in it, also between the records of work that is
-- unsettled. Each place where records are gone says what the chain ended with before it and what it goes
-- on from behind it; at the front of a thread `threads.kept_after_*` says the same. Gaps that touch are one.
CREATE TABLE journal_gaps (
  tenant_id         text NOT NULL,
  thread_id         text NOT NULL,
  after_sequence    bigint NOT NULL,
  after_digest      text NOT NULL,
  through_sequence  bigint NOT NULL,
  through_digest    text NOT NULL,
  PRIMARY KEY (tenant_id, thread_id, after_sequence),
  CONSTRAINT a_gap_has_records CHECK (after_sequence >= 1 AND through_sequence > after_sequence),
  FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, thread_id)
);

-- Behind the front a gap may stand between two records of one run, whose proof joins them: of each record that
-- is gone from there its place stays, and the seal that makes its digest again (lib/proof/link-seal.ts).
CREATE TABLE journal_links (
  tenant_id        text NOT NULL,
  thread_id        text NOT NULL,
  sequence         bigint NOT NULL,
  epoch            bigint NOT NULL,
  digest           text NOT NULL,
  previous_digest  text NOT NULL,
  recorded_at      timestamptz NOT NULL,
  seal_state       text NOT NULL,
  seal_bytes       bigint NOT NULL,
  PRIMARY KEY (tenant_id, thread_id, sequence),
  FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, thread_id)
);

-- Runs that are here and in an archive as well: a pass is about to take them out, or somebody brought
-- them back. No other archive takes them.
CREATE TABLE archived_copies (
  tenant_id  text NOT NULL,
  run_id     text NOT NULL,
  archive    text NOT NULL,
  PRIMARY KEY (tenant_id, run_id)
);
CREATE INDEX copies_by_archive ON archived_copies (tenant_id, archive);

-- An archive has its row before its file has a name. `written_at` is set before the first of its runs goes,
-- `finished_at` when all are gone, `restored_at` while they are back. Rows from before are finished.
ALTER TABLE archives
  ALTER COLUMN finished_at DROP NOT NULL,
  ADD COLUMN folder text,
  ADD COLUMN written_at timestamptz,
  ADD COLUMN restored_at timestamptz;

DO $block$
DECLARE
  v_table text;
BEGIN
  FOREACH v_table IN ARRAY ARRAY['journal_gaps', 'journal_links', 'archived_copies'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', v_table);
    EXECUTE format(
      'CREATE POLICY rows_of_one_tenant ON %I
         USING (tenant_id = current_setting(''effect_agent.tenant'', true))
         WITH CHECK (tenant_id = current_setting(''effect_agent.tenant'', true))', v_table);
  END LOOP;
END
$block$;
