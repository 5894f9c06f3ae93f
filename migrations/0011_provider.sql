-- The payment provider's own ledger. Only the provider process writes here, over
-- its own connection; the shop reaches it over HTTP alone. It shares the database
-- so that a kill -9 of either side loses nothing that was acknowledged.
CREATE SCHEMA provider;

CREATE TABLE provider.ledger (
  entry_id           text PRIMARY KEY DEFAULT gen_random_uuid()::text,
  kind               text NOT NULL CHECK (kind IN ('refund', 'charge')),
  idempotency_key    text NOT NULL,
  request_digest     text NOT NULL,
  order_id           text NOT NULL,
  payment_method_id  text NOT NULL,
  amount_cents       bigint NOT NULL CHECK (amount_cents > 0),
  outcome            text NOT NULL CHECK (outcome IN ('completed', 'declined')),
  decline_reason     text,
  created_at         timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT one_entry_per_key UNIQUE (kind, idempotency_key)
);
CREATE INDEX ledger_by_order ON provider.ledger (order_id, created_at);

-- Faults in force, kept in the database so that a restarted provider still has them.
CREATE TABLE provider.faults (
  fault_id      text PRIMARY KEY DEFAULT gen_random_uuid()::text,
  request_kind  text NOT NULL CHECK (request_kind IN ('refund', 'charge', 'status')),
  order_id      text,
  behaviour     text NOT NULL CHECK (behaviour IN ('decline', 'drop-before-commit', 'drop-after-commit', 'delay')),
  delay_millis  integer NOT NULL DEFAULT 0 CHECK (delay_millis BETWEEN 0 AND 600000),
  remaining     integer CHECK (remaining IS NULL OR remaining >= 0),
  created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX faults_by_kind ON provider.faults (request_kind, order_id);
