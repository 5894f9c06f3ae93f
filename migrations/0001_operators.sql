-- Who may use an installation, and how they prove it. Secrets are never stored:
-- links, tokens and sign-ins are kept as SHA-256 digests, passwords as a hash
-- with its parameters.
CREATE TABLE tenants (
  tenant_id   text PRIMARY KEY,
  name        text NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE operators (
  tenant_id      text NOT NULL REFERENCES tenants (tenant_id),
  operator_id    text NOT NULL,
  name           text NOT NULL,
  email          text NOT NULL,
  role           text NOT NULL,
  password_hash  text,
  created_at     timestamptz NOT NULL DEFAULT now(),
  disabled_at    timestamptz,
  PRIMARY KEY (tenant_id, operator_id),
  CONSTRAINT role_is_known CHECK (role IN ('viewer', 'decider', 'operator', 'admin'))
);
CREATE UNIQUE INDEX one_operator_per_email ON operators (tenant_id, lower(email));
-- Signing in names no tenant, only an e-mail address.
CREATE INDEX operators_by_email ON operators (lower(email));

CREATE TABLE sign_in_links (
  tenant_id    text NOT NULL,
  link_digest  text NOT NULL,
  operator_id  text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz NOT NULL,
  used_at      timestamptz,
  PRIMARY KEY (tenant_id, link_digest),
  FOREIGN KEY (tenant_id, operator_id) REFERENCES operators (tenant_id, operator_id)
);
CREATE UNIQUE INDEX one_link_per_digest ON sign_in_links (link_digest);

CREATE TABLE sign_in_sessions (
  tenant_id       text NOT NULL,
  session_digest  text NOT NULL,
  operator_id     text NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  seen_at         timestamptz NOT NULL DEFAULT now(),
  expires_at      timestamptz NOT NULL,
  ended_at        timestamptz,
  PRIMARY KEY (tenant_id, session_digest),
  FOREIGN KEY (tenant_id, operator_id) REFERENCES operators (tenant_id, operator_id)
);
CREATE UNIQUE INDEX one_sign_in_session_per_digest ON sign_in_sessions (session_digest);
CREATE INDEX sign_in_sessions_by_operator ON sign_in_sessions (tenant_id, operator_id);

CREATE TABLE bearer_tokens (
  tenant_id     text NOT NULL,
  token_id      text NOT NULL,
  token_digest  text NOT NULL,
  operator_id   text NOT NULL,
  name          text NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  used_at       timestamptz,
  expires_at    timestamptz,
  revoked_at    timestamptz,
  PRIMARY KEY (tenant_id, token_id),
  FOREIGN KEY (tenant_id, operator_id) REFERENCES operators (tenant_id, operator_id)
);
CREATE UNIQUE INDEX one_bearer_token_per_digest ON bearer_tokens (token_digest);

-- Failed sign-ins per address and per account, for the attempt limit. No tenant:
-- the attempt names none that could be trusted.
CREATE TABLE sign_in_attempts (
  subject_digest  text NOT NULL,
  attempted_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX sign_in_attempts_by_subject ON sign_in_attempts (subject_digest, attempted_at);

-- One row per command that acted: the same id with the same payload answers as it
-- did the first time, with another payload it is refused (OP-09).
CREATE TABLE operator_commands (
  tenant_id       text NOT NULL,
  command_id      text NOT NULL,
  operator_id     text NOT NULL,
  verb            text NOT NULL,
  target          text NOT NULL,
  payload_digest  text NOT NULL,
  answer          text NOT NULL,
  answered_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, command_id)
);
