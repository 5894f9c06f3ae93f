-- The only truth. Append-only: no statement of the runtime updates or deletes a
-- record. Bodies are canonical JSON text, because jsonb refuses \u0000 and lone
-- surrogates and would not give back the digested bytes (PG-06).
CREATE TABLE journal_records (
  tenant_id        text NOT NULL,
  thread_id        text NOT NULL,
  sequence         bigint NOT NULL,
  run_id           text NOT NULL,
  epoch            bigint NOT NULL,
  kind             text NOT NULL,
  body             text NOT NULL,
  digest           text NOT NULL,
  previous_digest  text NOT NULL,
  batch_id         text NOT NULL,
  batch_place      smallint NOT NULL,
  recorded_at      timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, thread_id, sequence),
  CONSTRAINT sequence_starts_at_one CHECK (sequence >= 1)
);
CREATE INDEX records_by_run ON journal_records (tenant_id, run_id, sequence);
-- A batch is found by its first record, so replays need no table of their own.
CREATE UNIQUE INDEX one_batch_per_id ON journal_records (tenant_id, thread_id, batch_id) WHERE batch_place = 1;
CREATE UNIQUE INDEX one_opening_per_run ON journal_records (tenant_id, run_id) WHERE kind = 'RunOpened';
CREATE UNIQUE INDEX one_settlement_per_run ON journal_records (tenant_id, run_id) WHERE kind = 'RunSettled';
