-- What the console lists. Everything here follows from journal records, except
-- what people and the clock write first (decisions, resolutions, aborts,
-- acknowledgements) and records carry later. Bodies stay in the journal;
-- `*_sequence` columns say which record holds them.
CREATE TABLE runs (
  tenant_id           text NOT NULL,
  run_id              text NOT NULL,
  thread_id           text NOT NULL,
  submission_id       text NOT NULL,
  agent_id            text NOT NULL,
  state               text NOT NULL DEFAULT 'queued',
  title               text NOT NULL,
  requester_id        text NOT NULL,
  requester_name      text NOT NULL,
  model_id            text,
  definition_digest   text,
  attempts            integer NOT NULL DEFAULT 0,
  turns               integer NOT NULL DEFAULT 0,
  tool_calls          integer NOT NULL DEFAULT 0,
  input_tokens        bigint NOT NULL DEFAULT 0,
  output_tokens       bigint NOT NULL DEFAULT 0,
  failure_tag         text,
  failure_message     text,
  diagnostic_id       text,
  finish_reason       text,
  exhausted           text,
  settled_sequence    bigint,
  created_at          timestamptz NOT NULL,
  started_at          timestamptz,
  settled_at          timestamptz,
  PRIMARY KEY (tenant_id, run_id),
  CONSTRAINT run_state_is_known CHECK (
    state IN ('queued', 'running', 'waiting', 'unknown', 'completed', 'failed', 'aborted'))
) WITH (fillfactor = 80);
CREATE INDEX runs_by_time ON runs (tenant_id, created_at DESC, run_id DESC);
CREATE INDEX runs_by_state ON runs (tenant_id, state, created_at DESC, run_id DESC);
CREATE INDEX runs_by_agent ON runs (tenant_id, agent_id, created_at DESC, run_id DESC);
CREATE INDEX runs_by_failure ON runs (tenant_id, failure_tag, created_at DESC, run_id DESC)
  WHERE failure_tag IS NOT NULL;
CREATE INDEX runs_by_thread ON runs (tenant_id, thread_id, created_at DESC, run_id DESC);

-- Which runs declared a call of which tool: the tool filter of the run list.
CREATE TABLE run_tools (
  tenant_id   text NOT NULL,
  tool_name   text NOT NULL,
  created_at  timestamptz NOT NULL,
  run_id      text NOT NULL,
  PRIMARY KEY (tenant_id, tool_name, created_at, run_id)
);

CREATE TABLE turns (
  tenant_id        text NOT NULL,
  run_id           text NOT NULL,
  turn             integer NOT NULL,
  thread_id        text NOT NULL,
  record_sequence  bigint NOT NULL,
  call_count       integer NOT NULL,
  finish_reason    text NOT NULL,
  input_tokens     bigint,
  output_tokens    bigint,
  started_at       timestamptz NOT NULL,
  recorded_at      timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, run_id, turn)
);

CREATE TABLE tool_calls (
  tenant_id            text NOT NULL,
  run_id               text NOT NULL,
  turn                 integer NOT NULL,
  call_id              text NOT NULL,
  call_index           integer NOT NULL,
  thread_id            text NOT NULL,
  tool_name            text NOT NULL,
  state                text NOT NULL DEFAULT 'queued',
  execution_class      text NOT NULL,
  provider_executed    boolean NOT NULL,
  needs_approval       boolean NOT NULL,
  parameters_digest    text NOT NULL,
  tool_digest          text NOT NULL,
  failure_mode         text,
  failure_handling     text,
  failure_tag          text,
  failure_message      text,
  diagnostic_id        text,
  is_failure           boolean NOT NULL DEFAULT false,
  original_bytes       bigint,
  approval_request_id  text,
  unknown_id           text,
  denial_id            text,
  idempotency_key      text,
  attempt              integer,
  declared_sequence    bigint NOT NULL,
  prepared_sequence    bigint,
  settled_sequence     bigint,
  declared_at          timestamptz NOT NULL,
  requested_at         timestamptz,
  decided_at           timestamptz,
  started_at           timestamptz,
  ended_at             timestamptz,
  PRIMARY KEY (tenant_id, run_id, turn, call_id),
  CONSTRAINT call_state_is_known CHECK (state IN (
    'queued', 'waiting', 'running', 'succeeded', 'failed', 'denied-by-person', 'denied-by-policy',
    'expired', 'aborted', 'unknown', 'not-executed'))
) WITH (fillfactor = 70);

CREATE TABLE approval_requests (
  tenant_id           text NOT NULL,
  request_id          text NOT NULL,
  thread_id           text NOT NULL,
  run_id              text NOT NULL,
  agent_id            text NOT NULL,
  turn                integer NOT NULL,
  call_id             text NOT NULL,
  tool_name           text NOT NULL,
  summary             text NOT NULL,
  risk                text NOT NULL,
  denial_rule         text NOT NULL,
  requester           text,
  approvers_required  integer NOT NULL,
  self_approval       boolean NOT NULL,
  parameters_digest   text NOT NULL,
  content             text NOT NULL,
  requested_sequence  bigint NOT NULL,
  requested_at        timestamptz NOT NULL,
  expires_at          timestamptz,
  state               text NOT NULL DEFAULT 'pending',
  decider_kind        text,
  decider_id          text,
  decider_name        text,
  decision_reason     text,
  decision_command_id text,
  decided_at          timestamptz,
  delivered_at        timestamptz,
  PRIMARY KEY (tenant_id, request_id),
  CONSTRAINT approval_state_is_known CHECK (state IN ('pending', 'approved', 'denied', 'expired', 'withdrawn')),
  CONSTRAINT a_decision_says_who_and_when CHECK (
    (state = 'pending') = (decided_at IS NULL)
    AND (state = 'pending') = (decider_kind IS NULL)
    AND (decider_kind IS NULL) = (decider_id IS NULL)
    AND (decider_kind IS NULL) = (decider_name IS NULL)),
  CONSTRAINT only_decisions_are_delivered CHECK (delivered_at IS NULL OR decided_at IS NOT NULL)
);
CREATE INDEX pending_approvals_by_deadline ON approval_requests (tenant_id, expires_at, request_id)
  WHERE state = 'pending';
-- Of every tenant, for the sweeper. The second condition keeps lists off it: they also show what never expires.
CREATE INDEX expiring_approvals ON approval_requests (expires_at) WHERE state = 'pending' AND expires_at IS NOT NULL;
CREATE INDEX undelivered_decisions ON approval_requests (tenant_id, run_id)
  WHERE decided_at IS NOT NULL AND delivered_at IS NULL AND state <> 'withdrawn';
CREATE INDEX approvals_by_run ON approval_requests (tenant_id, run_id, turn);
CREATE INDEX decided_approvals_by_time ON approval_requests (tenant_id, decided_at DESC, request_id DESC)
  WHERE state <> 'pending';

-- One row per person who answered a request that needs more than one approver.
CREATE TABLE approval_votes (
  tenant_id      text NOT NULL,
  request_id     text NOT NULL,
  operator_id    text NOT NULL,
  operator_name  text NOT NULL,
  decision       text NOT NULL,
  reason         text NOT NULL,
  command_id     text NOT NULL,
  voted_at       timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, request_id, operator_id),
  CONSTRAINT vote_is_known CHECK (decision IN ('approved', 'denied')),
  FOREIGN KEY (tenant_id, request_id) REFERENCES approval_requests (tenant_id, request_id)
);

CREATE TABLE unknown_outcomes (
  tenant_id              text NOT NULL,
  unknown_id             text NOT NULL,
  thread_id              text NOT NULL,
  run_id                 text NOT NULL,
  agent_id               text NOT NULL,
  turn                   integer NOT NULL,
  call_id                text NOT NULL,
  tool_name              text NOT NULL,
  reason                 text NOT NULL,
  detail                 text NOT NULL,
  after_settlement       boolean NOT NULL,
  execution_class        text,
  parameters_digest      text,
  idempotency_key        text,
  attempt                integer,
  occurrences            integer NOT NULL DEFAULT 1,
  declared_sequence      bigint,
  unknown_sequence       bigint NOT NULL,
  prepared_at            timestamptz,
  unknown_at             timestamptz NOT NULL,
  state                  text NOT NULL DEFAULT 'open',
  resolution             text,
  result                 text,
  result_is_failure      boolean,
  resolver_kind          text,
  resolver_id            text,
  resolver_name          text,
  resolution_reason      text,
  evidence               text,
  resolution_command_id  text,
  resolved_at            timestamptz,
  delivered_at           timestamptz,
  PRIMARY KEY (tenant_id, unknown_id),
  CONSTRAINT unknown_state_is_known CHECK (state IN ('open', 'resolved')),
  CONSTRAINT resolution_is_known CHECK (resolution IN (
    'completed-with-result', 'never-happened', 'safe-to-retry', 'abort-submission')),
  CONSTRAINT a_resolution_says_who_why_and_when CHECK (
    (state = 'open' AND num_nulls(resolution, resolver_kind, resolver_id, resolver_name,
      resolution_reason, evidence, resolved_at) = 7)
    OR (state = 'resolved' AND num_nulls(resolution, resolver_kind, resolver_id, resolver_name,
      resolution_reason, evidence, resolved_at) = 0)),
  CONSTRAINT only_a_completion_has_a_result CHECK ((resolution = 'completed-with-result') = (result IS NOT NULL)
    OR (resolution IS NULL AND result IS NULL))
);
CREATE INDEX open_unknowns_by_age ON unknown_outcomes (tenant_id, unknown_at, unknown_id) WHERE state = 'open';
CREATE INDEX resolved_unknowns_by_time ON unknown_outcomes (tenant_id, resolved_at DESC, unknown_id DESC)
  WHERE state = 'resolved';
CREATE INDEX unknowns_by_run ON unknown_outcomes (tenant_id, run_id);
CREATE INDEX undelivered_resolutions ON unknown_outcomes (tenant_id, run_id)
  WHERE state = 'resolved' AND delivered_at IS NULL AND NOT after_settlement;

CREATE TABLE denials (
  tenant_id          text NOT NULL,
  denial_id          text NOT NULL,
  kind               text NOT NULL,
  thread_id          text NOT NULL,
  run_id             text NOT NULL,
  agent_id           text NOT NULL,
  turn               integer NOT NULL,
  call_id            text NOT NULL,
  tool_name          text NOT NULL,
  reason             text NOT NULL,
  diagnostic_id      text,
  denied_sequence    bigint NOT NULL,
  denied_at          timestamptz NOT NULL,
  acknowledged_at    timestamptz,
  acknowledger_id    text,
  acknowledger_name  text,
  note               text,
  PRIMARY KEY (tenant_id, denial_id),
  CONSTRAINT denial_kind_is_known CHECK (kind IN ('denial', 'check-error')),
  CONSTRAINT an_acknowledgement_says_who_and_why CHECK (
    num_nulls(acknowledged_at, acknowledger_id, acknowledger_name, note) IN (0, 4))
);
CREATE INDEX open_denials_by_age ON denials (tenant_id, kind, denied_at, denial_id) WHERE acknowledged_at IS NULL;
CREATE INDEX denials_by_time ON denials (tenant_id, denied_at DESC, denial_id DESC);
CREATE INDEX denials_by_run ON denials (tenant_id, run_id);

CREATE TABLE diagnostics (
  tenant_id      text NOT NULL,
  diagnostic_id  text NOT NULL,
  fingerprint    text NOT NULL,
  title          text NOT NULL,
  run_id         text,
  tool_name      text,
  call_id        text,
  captured_at    timestamptz NOT NULL,
  body           text NOT NULL,
  PRIMARY KEY (tenant_id, diagnostic_id)
);
CREATE INDEX diagnostics_by_fingerprint ON diagnostics (tenant_id, fingerprint, captured_at DESC, diagnostic_id DESC);
CREATE INDEX diagnostics_by_time ON diagnostics (tenant_id, captured_at DESC, diagnostic_id DESC);
CREATE INDEX diagnostics_by_run ON diagnostics (tenant_id, run_id) WHERE run_id IS NOT NULL;

CREATE TABLE abort_requests (
  tenant_id     text NOT NULL,
  run_id        text NOT NULL,
  thread_id     text NOT NULL,
  actor_kind    text NOT NULL,
  actor_id      text NOT NULL,
  actor_name    text NOT NULL,
  reason        text NOT NULL,
  command_id    text,
  requested_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  delivered_at  timestamptz,
  PRIMARY KEY (tenant_id, run_id)
);
CREATE INDEX undelivered_aborts ON abort_requests (tenant_id, run_id) WHERE delivered_at IS NULL;
