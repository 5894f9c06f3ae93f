-- What was accepted and who owns it now. A thread's row carries the epoch of its
-- owner and the tail of its journal: one conditional UPDATE checks both.
CREATE TABLE threads (
  tenant_id            text NOT NULL,
  thread_id            text NOT NULL,
  agent_id             text NOT NULL,
  epoch                bigint NOT NULL DEFAULT 0,
  worker_id            text,
  claimed_at           timestamptz,
  tail_sequence        bigint NOT NULL DEFAULT 0,
  tail_digest          text NOT NULL DEFAULT repeat('0', 64),
  last_batch_id        text,
  last_queue_sequence  integer NOT NULL DEFAULT 0,
  created_at           timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, thread_id)
) WITH (fillfactor = 70);
CREATE INDEX threads_by_worker ON threads (worker_id) WHERE worker_id IS NOT NULL;

CREATE TABLE submissions (
  tenant_id         text NOT NULL,
  submission_id     text NOT NULL,
  thread_id         text NOT NULL,
  run_id            text NOT NULL,
  agent_id          text NOT NULL,
  queue_sequence    integer NOT NULL,
  state             text NOT NULL DEFAULT 'ready',
  due_at            timestamptz NOT NULL DEFAULT now(),
  unknown_policy    text NOT NULL DEFAULT 'park',
  title             text NOT NULL,
  input             text NOT NULL,
  requester_kind    text NOT NULL,
  requester_id      text NOT NULL,
  requester_name    text NOT NULL,
  claims            integer NOT NULL DEFAULT 0,
  lost_attempts     integer NOT NULL DEFAULT 0,
  postponed_reason  text,
  created_at        timestamptz NOT NULL DEFAULT now(),
  state_since       timestamptz NOT NULL DEFAULT now(),
  settled_at        timestamptz,
  PRIMARY KEY (tenant_id, submission_id),
  CONSTRAINT submission_state_is_known CHECK (state IN ('ready', 'running', 'waiting', 'unknown', 'settled')),
  CONSTRAINT unknown_policy_is_known CHECK (unknown_policy IN ('park', 'block')),
  CONSTRAINT settled_submissions_say_when CHECK ((state = 'settled') = (settled_at IS NOT NULL)),
  FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, thread_id)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX one_place_per_queue ON submissions (tenant_id, thread_id, queue_sequence);
CREATE UNIQUE INDEX one_submission_per_run ON submissions (tenant_id, run_id);
CREATE UNIQUE INDEX one_running_submission_per_thread ON submissions (tenant_id, thread_id) WHERE state = 'running';
CREATE INDEX open_submissions ON submissions (tenant_id, thread_id, queue_sequence) WHERE state <> 'settled';
CREATE INDEX ready_submissions ON submissions (due_at) WHERE state = 'ready';
CREATE INDEX running_submissions ON submissions (due_at) WHERE state = 'running';
-- Obligations: everything unsettled, oldest first (OP-11).
CREATE INDEX obligations_by_age ON submissions (tenant_id, created_at, submission_id) WHERE state <> 'settled';

-- Scope of a key: tenant, thread (empty: a new one), principal (DU-11).
CREATE TABLE idempotency_keys (
  tenant_id       text NOT NULL,
  thread_scope    text NOT NULL,
  principal_kind  text NOT NULL,
  principal_id    text NOT NULL,
  key             text NOT NULL,
  payload_digest  text NOT NULL,
  submission_id   text NOT NULL,
  run_id          text NOT NULL,
  thread_id       text NOT NULL,
  queue_sequence  integer NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, thread_scope, principal_kind, principal_id, key)
);

-- Processes, not tenants: one process drives the threads of many.
CREATE TABLE workers (
  worker_id         text PRIMARY KEY,
  address           text NOT NULL,
  started_at        timestamptz NOT NULL DEFAULT now(),
  heartbeat_at      timestamptz NOT NULL DEFAULT now(),
  stopped_at        timestamptz,
  last_takeover_at  timestamptz
);
CREATE INDEX workers_by_address ON workers (address) WHERE stopped_at IS NULL;
