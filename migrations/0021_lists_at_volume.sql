-- The lists beside the run list at a million runs (OP-05, OP-06, C099): each filter and each pair of filters
-- is an ordered walk of an index that carries both, for the page and for its capped count, and no count
-- reads a table or joins the runs.
--
-- What it costs: a decided approval has two entries where it had one (some 110 bytes more, written when
-- it is decided and when its decision is delivered; one run in ten has one), a denial one where it had two,
-- an audit row some 100 bytes more. Nothing that an append writes for every turn or call is touched.
CREATE INDEX decided_approvals_by_state ON approval_requests (tenant_id, state, decided_at DESC, request_id DESC)
  WHERE state <> 'pending';
CREATE INDEX decided_approvals_by_agent ON approval_requests (tenant_id, state, agent_id, decided_at DESC, request_id DESC)
  WHERE state <> 'pending';
DROP INDEX decided_approvals_by_time;

-- In the order of the queue: what never expires comes last.
DROP INDEX pending_approvals_by_deadline;
CREATE INDEX pending_approvals_by_deadline
  ON approval_requests (tenant_id, coalesce(expires_at, 'infinity'::timestamptz), request_id)
  WHERE state = 'pending';

-- Open denials have their index (open_denials_by_age); a denial stands in one of the two.
CREATE INDEX answered_denials_by_time ON denials (tenant_id, kind, denied_at DESC, denial_id DESC)
  WHERE acknowledged_at IS NOT NULL;
DROP INDEX denials_by_time;

-- Pairs are told apart inside the index; the table is read for the rows of the page alone.
CREATE INDEX audit_by_verb ON audit_log (tenant_id, verb, sequence DESC) INCLUDE (accepted, actor_id);
DROP INDEX audit_by_actor;
CREATE INDEX audit_by_actor ON audit_log (tenant_id, actor_id, sequence DESC) INCLUDE (accepted, verb);
CREATE INDEX refused_acts ON audit_log (tenant_id, sequence DESC) INCLUDE (verb, actor_id) WHERE NOT accepted;
