-- Every operator act, refused ones too: append-only, one hash chain per tenant.
-- The tail's row lock orders writers; take it last in a transaction.
CREATE TABLE audit_log (
  tenant_id        text NOT NULL,
  sequence         bigint NOT NULL,
  at               timestamptz NOT NULL,
  actor_kind       text NOT NULL,
  actor_id         text NOT NULL,
  actor_name       text NOT NULL,
  verb             text NOT NULL,
  target           text NOT NULL,
  run_id           text,
  accepted         boolean NOT NULL,
  reason           text NOT NULL,
  before           text,
  after            text,
  command_id       text,
  digest           text NOT NULL,
  previous_digest  text NOT NULL,
  PRIMARY KEY (tenant_id, sequence)
);
CREATE INDEX audit_by_run ON audit_log (tenant_id, run_id, sequence) WHERE run_id IS NOT NULL;
CREATE INDEX audit_by_actor ON audit_log (tenant_id, actor_id, sequence DESC);

CREATE TABLE audit_tails (
  tenant_id  text PRIMARY KEY,
  sequence   bigint NOT NULL DEFAULT 0,
  digest     text NOT NULL DEFAULT repeat('0', 64)
);
