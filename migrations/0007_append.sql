CREATE FUNCTION from_millis(p_millis bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $function$
  SELECT timestamptz 'epoch' + p_millis * interval '1 millisecond'
$function$;

-- Applies what `server/postgres/project-records.ts` computed from a batch of
-- records. `p_at` is the database's time of the append; a rebuild gives the
-- recorded one and gets the same rows.
CREATE FUNCTION project_changes(
  p_tenant text, p_thread text, p_run text, p_agent text, p_at timestamptz, p_changes json)
RETURNS void
LANGUAGE plpgsql AS $function$
DECLARE
  v_call record;
BEGIN
  IF p_changes -> 'progressed' IS NOT NULL THEN
    UPDATE submissions s SET lost_attempts = 0
    WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.lost_attempts <> 0;
  END IF;

  IF p_changes -> 'run' IS NOT NULL THEN
    UPDATE runs r SET
      state = coalesce(c.state, r.state),
      model_id = coalesce(c.model_id, r.model_id),
      definition_digest = coalesce(c.definition_digest, r.definition_digest),
      attempts = r.attempts + coalesce(c.attempts, 0),
      turns = r.turns + coalesce(c.turns, 0),
      tool_calls = r.tool_calls + coalesce(c.tool_calls, 0),
      input_tokens = r.input_tokens + coalesce(c.input_tokens, 0),
      output_tokens = r.output_tokens + coalesce(c.output_tokens, 0),
      failure_tag = coalesce(c.failure_tag, r.failure_tag),
      failure_message = coalesce(c.failure_message, r.failure_message),
      diagnostic_id = coalesce(c.diagnostic_id, r.diagnostic_id),
      finish_reason = coalesce(c.finish_reason, r.finish_reason),
      exhausted = coalesce(c.exhausted, r.exhausted),
      settled_sequence = coalesce(c.settled_sequence, r.settled_sequence),
      started_at = CASE WHEN c.starts THEN coalesce(r.started_at, p_at) ELSE r.started_at END,
      settled_at = CASE WHEN c.settled_sequence IS NOT NULL THEN p_at ELSE r.settled_at END
    FROM json_to_record(p_changes -> 'run') AS c (
      state text, model_id text, definition_digest text, attempts integer, turns integer,
      tool_calls integer, input_tokens bigint, output_tokens bigint, failure_tag text,
      failure_message text, diagnostic_id text, finish_reason text, exhausted text,
      settled_sequence bigint, starts boolean)
    WHERE r.tenant_id = p_tenant AND r.run_id = p_run;
  END IF;

  IF p_changes -> 'turns' IS NOT NULL THEN
    INSERT INTO turns (tenant_id, run_id, turn, thread_id, record_sequence, call_count, finish_reason,
      input_tokens, output_tokens, started_at, recorded_at)
    SELECT p_tenant, p_run, c.turn, p_thread, c.record_sequence, c.call_count, c.finish_reason,
      c.input_tokens, c.output_tokens, from_millis(c.started_ms), p_at
    FROM json_to_recordset(p_changes -> 'turns') AS c (
      turn integer, record_sequence bigint, call_count integer, finish_reason text,
      input_tokens bigint, output_tokens bigint, started_ms bigint);
  END IF;

  IF p_changes -> 'calls' IS NOT NULL THEN
    INSERT INTO tool_calls (tenant_id, run_id, turn, call_id, call_index, thread_id, tool_name,
      execution_class, provider_executed, needs_approval, parameters_digest, tool_digest, failure_mode,
      declared_sequence, declared_at)
    SELECT p_tenant, p_run, c.turn, c.call_id, c.call_index, p_thread, c.tool_name,
      c.execution_class, c.provider_executed, c.needs_approval, c.parameters_digest, c.tool_digest,
      c.failure_mode, c.declared_sequence, p_at
    FROM json_to_recordset(p_changes -> 'calls') AS c (
      turn integer, call_id text, call_index integer, tool_name text, execution_class text,
      provider_executed boolean, needs_approval boolean, parameters_digest text, tool_digest text,
      failure_mode text, declared_sequence bigint)
    ON CONFLICT DO NOTHING;
    INSERT INTO run_tools (tenant_id, tool_name, created_at, run_id)
    SELECT DISTINCT p_tenant, c.tool_name, r.created_at, p_run
    FROM json_to_recordset(p_changes -> 'calls') AS c (tool_name text)
    JOIN runs r ON r.tenant_id = p_tenant AND r.run_id = p_run
    ON CONFLICT DO NOTHING;
  END IF;

  IF p_changes -> 'call_changes' IS NOT NULL THEN
    -- Row by row, so that each call is found by its key however many the run has.
    FOR v_call IN SELECT * FROM json_to_recordset(p_changes -> 'call_changes') AS x (
      turn integer, call_id text, state text, failure_mode text, failure_handling text, failure_tag text,
      failure_message text, diagnostic_id text, is_failure boolean, original_bytes bigint,
      approval_request_id text, unknown_id text, denial_id text, idempotency_key text, attempt integer,
      prepared_sequence bigint, settled_sequence bigint, requested_ms bigint, decided_ms bigint,
      started_ms bigint, ended_ms bigint)
    LOOP
      UPDATE tool_calls t SET
        state = coalesce(v_call.state, t.state),
        failure_mode = coalesce(v_call.failure_mode, t.failure_mode),
        failure_handling = coalesce(v_call.failure_handling, t.failure_handling),
        failure_tag = coalesce(v_call.failure_tag, t.failure_tag),
        failure_message = coalesce(v_call.failure_message, t.failure_message),
        diagnostic_id = coalesce(v_call.diagnostic_id, t.diagnostic_id),
        is_failure = coalesce(v_call.is_failure, t.is_failure),
        original_bytes = coalesce(v_call.original_bytes, t.original_bytes),
        approval_request_id = coalesce(v_call.approval_request_id, t.approval_request_id),
        unknown_id = coalesce(v_call.unknown_id, t.unknown_id),
        denial_id = coalesce(v_call.denial_id, t.denial_id),
        idempotency_key = coalesce(v_call.idempotency_key, t.idempotency_key),
        attempt = coalesce(v_call.attempt, t.attempt),
        prepared_sequence = coalesce(v_call.prepared_sequence, t.prepared_sequence),
        settled_sequence = coalesce(v_call.settled_sequence, t.settled_sequence),
        requested_at = coalesce(from_millis(v_call.requested_ms), t.requested_at),
        decided_at = coalesce(from_millis(v_call.decided_ms), t.decided_at),
        started_at = coalesce(CASE WHEN v_call.prepared_sequence IS NOT NULL THEN p_at END,
          t.started_at, from_millis(v_call.started_ms)),
        ended_at = coalesce(from_millis(v_call.ended_ms), t.ended_at)
      WHERE t.tenant_id = p_tenant AND t.run_id = p_run AND t.turn = v_call.turn AND t.call_id = v_call.call_id;
    END LOOP;
  END IF;

  IF p_changes -> 'people' IS NOT NULL THEN
    PERFORM project_people(p_tenant, p_thread, p_run, p_agent, p_at, p_changes -> 'people');
  END IF;

  IF p_changes ->> 'submission' IS NOT NULL THEN
    PERFORM project_run_end(p_tenant, p_thread, p_run, p_agent, p_at, p_changes ->> 'submission',
      p_changes -> 'run' ->> 'state');
  END IF;
END
$function$;

-- The part of the projections that people act on: approvals, unknowns, denials, aborts.
CREATE FUNCTION project_people(
  p_tenant text, p_thread text, p_run text, p_agent text, p_at timestamptz, p_changes json)
RETURNS void
LANGUAGE plpgsql AS $function$
BEGIN
  INSERT INTO approval_requests (tenant_id, request_id, thread_id, run_id, agent_id, turn, call_id,
    tool_name, summary, risk, denial_rule, requester, approvers_required, self_approval,
    parameters_digest, content, requested_sequence, requested_at, expires_at)
  SELECT p_tenant, c.request_id, p_thread, p_run, p_agent, c.turn, c.call_id,
    c.tool_name, c.summary, c.risk, c.denial_rule, c.requester, c.approvers_required, c.self_approval,
    c.parameters_digest, c.content, c.requested_sequence, from_millis(c.requested_ms),
    from_millis(c.expires_ms)
  FROM json_to_recordset(coalesce(p_changes -> 'approvals', '[]')) AS c (
    request_id text, turn integer, call_id text, tool_name text, summary text, risk text,
    denial_rule text, requester text, approvers_required integer, self_approval boolean,
    parameters_digest text, content text, requested_sequence bigint, requested_ms bigint,
    expires_ms bigint)
  ON CONFLICT DO NOTHING;

  -- A person's row is decided already; a rule's decision comes with the record that carries it.
  UPDATE approval_requests a SET
    delivered_at = coalesce(a.delivered_at, p_at),
    state = CASE WHEN a.state = 'pending' THEN c.decision ELSE a.state END,
    decider_kind = coalesce(a.decider_kind, c.actor_kind),
    decider_id = coalesce(a.decider_id, c.actor_id),
    decider_name = coalesce(a.decider_name, c.actor_name),
    decision_reason = coalesce(a.decision_reason, c.reason),
    decided_at = coalesce(a.decided_at, from_millis(c.decided_ms))
  FROM json_to_recordset(coalesce(p_changes -> 'decisions', '[]')) AS c (
    request_id text, decision text, actor_kind text, actor_id text, actor_name text, reason text,
    decided_ms bigint)
  WHERE a.tenant_id = p_tenant AND a.request_id = c.request_id;

  INSERT INTO unknown_outcomes AS u (tenant_id, unknown_id, thread_id, run_id, agent_id, turn, call_id,
    tool_name, reason, detail, after_settlement, execution_class, parameters_digest, idempotency_key,
    attempt, declared_sequence, unknown_sequence, prepared_at, unknown_at)
  SELECT p_tenant, c.unknown_id, p_thread, p_run, p_agent, c.turn, c.call_id,
    c.tool_name, c.reason, c.detail, c.after_settlement, t.execution_class, t.parameters_digest,
    t.idempotency_key, t.attempt, t.declared_sequence, c.unknown_sequence, t.started_at, p_at
  FROM json_to_recordset(coalesce(p_changes -> 'unknowns', '[]')) AS c (
    unknown_id text, turn integer, call_id text, tool_name text, reason text, detail text,
    after_settlement boolean, unknown_sequence bigint)
  LEFT JOIN tool_calls t
    ON t.tenant_id = p_tenant AND t.run_id = p_run AND t.turn = c.turn AND t.call_id = c.call_id
  -- A retry that a person allowed can end in doubt again: the same call, open once more.
  ON CONFLICT (tenant_id, unknown_id) DO UPDATE SET
    reason = excluded.reason, detail = excluded.detail, after_settlement = excluded.after_settlement,
    attempt = excluded.attempt, unknown_sequence = excluded.unknown_sequence,
    prepared_at = excluded.prepared_at, unknown_at = excluded.unknown_at,
    occurrences = u.occurrences + 1, state = 'open', resolution = NULL, result = NULL,
    result_is_failure = NULL, resolver_kind = NULL, resolver_id = NULL, resolver_name = NULL,
    resolution_reason = NULL, evidence = NULL, resolution_command_id = NULL, resolved_at = NULL,
    delivered_at = NULL;

  UPDATE unknown_outcomes u SET
    delivered_at = coalesce(u.delivered_at, p_at),
    state = 'resolved',
    resolution = coalesce(u.resolution, c.resolution),
    result = coalesce(u.result, CASE WHEN u.resolution IS NULL THEN c.result END),
    result_is_failure = coalesce(u.result_is_failure, c.result_is_failure),
    resolver_kind = coalesce(u.resolver_kind, c.actor_kind),
    resolver_id = coalesce(u.resolver_id, c.actor_id),
    resolver_name = coalesce(u.resolver_name, c.actor_name),
    resolution_reason = coalesce(u.resolution_reason, c.reason),
    evidence = coalesce(u.evidence, c.evidence),
    resolved_at = coalesce(u.resolved_at, from_millis(c.resolved_ms))
  FROM json_to_recordset(coalesce(p_changes -> 'resolutions', '[]')) AS c (
    unknown_id text, resolution text, result text, result_is_failure boolean, actor_kind text,
    actor_id text, actor_name text, reason text, evidence text, resolved_ms bigint)
  WHERE u.tenant_id = p_tenant AND u.unknown_id = c.unknown_id;

  -- A reconciler that later proves what happened closes the open doubt.
  UPDATE unknown_outcomes u SET
    delivered_at = p_at, state = 'resolved', resolution = 'completed-with-result', result = c.result,
    result_is_failure = c.result_is_failure, resolver_kind = 'policy', resolver_id = 'reconciler',
    resolver_name = 'reconciler', resolution_reason = 'The reconciler proved the outcome.',
    evidence = 'reconciler', resolved_at = p_at
  FROM json_to_recordset(coalesce(p_changes -> 'reconciled', '[]')) AS c (
    turn integer, call_id text, result text, result_is_failure boolean)
  WHERE u.tenant_id = p_tenant AND u.run_id = p_run AND u.turn = c.turn AND u.call_id = c.call_id
    AND u.state = 'open';

  INSERT INTO denials (tenant_id, denial_id, kind, thread_id, run_id, agent_id, turn, call_id, tool_name,
    reason, diagnostic_id, denied_sequence, denied_at)
  SELECT p_tenant, c.denial_id, c.kind, p_thread, p_run, p_agent, c.turn, c.call_id, c.tool_name,
    c.reason, c.diagnostic_id, c.denied_sequence, p_at
  FROM json_to_recordset(coalesce(p_changes -> 'denials', '[]')) AS c (
    denial_id text, kind text, turn integer, call_id text, tool_name text, reason text,
    diagnostic_id text, denied_sequence bigint)
  ON CONFLICT DO NOTHING;

  INSERT INTO abort_requests AS b (tenant_id, run_id, thread_id, actor_kind, actor_id, actor_name, reason,
    requested_at, delivered_at)
  SELECT p_tenant, p_run, p_thread, c.actor_kind, c.actor_id, c.actor_name, c.reason,
    from_millis(c.requested_ms), p_at
  FROM json_to_recordset(coalesce(p_changes -> 'aborts', '[]')) AS c (
    actor_kind text, actor_id text, actor_name text, reason text, requested_ms bigint)
  ON CONFLICT (tenant_id, run_id) DO UPDATE SET delivered_at = coalesce(b.delivered_at, excluded.delivered_at);
END
$function$;

-- The attempt let go (`waiting`, `unknown`) or the run is over (`settled`).
CREATE FUNCTION project_run_end(
  p_tenant text, p_thread text, p_run text, p_agent text, p_at timestamptz, p_submission text, p_outcome text)
RETURNS void
LANGUAGE plpgsql AS $function$
BEGIN
  UPDATE submissions s SET
    state = p_submission,
    state_since = p_at,
    settled_at = CASE WHEN p_submission = 'settled' THEN p_at END
  WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.state <> 'settled';

  IF p_submission <> 'settled' THEN
    RETURN;
  END IF;

  UPDATE tool_calls t SET
    state = CASE WHEN p_outcome = 'aborted' OR t.state = 'running' THEN 'aborted' ELSE 'not-executed' END,
    ended_at = p_at
  WHERE t.tenant_id = p_tenant AND t.run_id = p_run AND t.state IN ('queued', 'waiting', 'running');

  -- Also where a person has resolved it and no record says so: the run ended without hearing it.
  UPDATE unknown_outcomes u SET after_settlement = true
  WHERE u.tenant_id = p_tenant AND u.run_id = p_run AND NOT u.after_settlement
    AND (u.state = 'open' OR u.delivered_at IS NULL);

  WITH withdrawn AS (
    UPDATE approval_requests a SET
      state = 'withdrawn', decided_at = p_at, decider_kind = 'system', decider_id = 'system',
      decider_name = 'system', decision_reason = 'The run ended before anyone decided.'
    WHERE a.tenant_id = p_tenant AND a.run_id = p_run AND a.state = 'pending'
    RETURNING a.request_id, a.turn, a.call_id, a.tool_name, a.decision_reason
  )
  INSERT INTO event_inbox (tenant_id, agent_id, thread_id, run_id, kind, at, body)
  SELECT p_tenant, p_agent, p_thread, p_run, 'ApprovalDecided', p_at,
    json_build_object('_tag', 'ApprovalDecided', 'turn', w.turn, 'callId', w.call_id,
      'toolName', w.tool_name, 'requestId', w.request_id, 'decision', 'withdrawn',
      'actor', json_build_object('kind', 'system', 'id', 'system', 'name', 'system'),
      'reason', w.decision_reason)::text
  FROM withdrawn w
  ORDER BY w.turn, w.call_id;
END
$function$;

-- One append in one statement (PG-02). Answers: `appended`, `replayed`, `fenced`,
-- `tail-conflict`, `batch-conflict`, `no-thread`, `abort-pending`. Nothing is written unless the
-- answer is `appended`.
--
-- Lock order of every writer of the runtime: thread, submission, run, the rest of
-- the run's rows, audit tail.
CREATE FUNCTION journal_append(
  p_tenant text, p_thread text, p_run text, p_agent text, p_epoch bigint,
  p_expected_sequence bigint, p_expected_digest text, p_batch text,
  p_kinds text[], p_bodies text[], p_digests text[],
  p_changes json,
  p_event_kinds text[], p_event_millis bigint[], p_event_bodies text[],
  p_diagnostics json)
RETURNS TABLE (
  answer text, tail_sequence bigint, tail_digest text, recorded_at timestamptz, current_epoch bigint)
LANGUAGE plpgsql AS $function$
DECLARE
  v_count integer := cardinality(p_kinds);
  v_digest text := CASE WHEN v_count = 0 THEN p_expected_digest ELSE p_digests[v_count] END;
  v_at timestamptz;
  v_thread threads%ROWTYPE;
  v_first bigint;
  v_same boolean;
BEGIN
  -- An abort that commits after the writer's last look must not vanish behind a
  -- settlement: the run's row is locked as `abort-run` locks it, then looked at.
  IF 'RunSettled' = ANY (p_kinds) AND p_changes -> 'run' ->> 'state' <> 'aborted'
    AND NOT 'AbortRequested' = ANY (p_kinds) THEN
    PERFORM FROM threads t
    WHERE t.tenant_id = p_tenant AND t.thread_id = p_thread AND t.epoch = p_epoch
      AND t.tail_sequence = p_expected_sequence AND t.tail_digest = p_expected_digest FOR UPDATE;
    IF FOUND THEN
      PERFORM FROM runs r WHERE r.tenant_id = p_tenant AND r.run_id = p_run FOR UPDATE;
      IF EXISTS (
        SELECT FROM abort_requests b
        WHERE b.tenant_id = p_tenant AND b.run_id = p_run AND b.delivered_at IS NULL) THEN
        RETURN QUERY SELECT 'abort-pending', p_expected_sequence, p_expected_digest, NULL::timestamptz, p_epoch;
        RETURN;
      END IF;
    END IF;
  END IF;

  UPDATE threads t SET
    tail_sequence = p_expected_sequence + v_count, tail_digest = v_digest, last_batch_id = p_batch
  WHERE t.tenant_id = p_tenant AND t.thread_id = p_thread AND t.epoch = p_epoch
    AND t.tail_sequence = p_expected_sequence AND t.tail_digest = p_expected_digest
    AND t.last_batch_id IS DISTINCT FROM p_batch
    AND NOT EXISTS (
      SELECT FROM journal_records b
      WHERE b.tenant_id = p_tenant AND b.thread_id = p_thread AND b.batch_id = p_batch AND b.batch_place = 1);

  IF NOT FOUND THEN
    -- The UPDATE may have waited for the first try of this very batch: look afresh.
    SELECT b.sequence INTO v_first FROM journal_records b
    WHERE b.tenant_id = p_tenant AND b.thread_id = p_thread AND b.batch_id = p_batch AND b.batch_place = 1;
    SELECT * INTO v_thread FROM threads t WHERE t.tenant_id = p_tenant AND t.thread_id = p_thread;
    IF v_first IS NOT NULL THEN
      SELECT array_agg(b.body ORDER BY b.sequence) = p_bodies INTO v_same FROM journal_records b
      WHERE b.tenant_id = p_tenant AND b.thread_id = p_thread AND b.batch_id = p_batch
        AND b.sequence BETWEEN v_first AND v_first + v_count;
      IF NOT v_same THEN
        RETURN QUERY SELECT 'batch-conflict', v_thread.tail_sequence, v_thread.tail_digest, NULL::timestamptz, v_thread.epoch;
        RETURN;
      END IF;
      RETURN QUERY SELECT 'replayed', b.sequence, b.digest, b.recorded_at, v_thread.epoch
      FROM journal_records b
      WHERE b.tenant_id = p_tenant AND b.thread_id = p_thread AND b.sequence = v_first + v_count - 1;
      RETURN;
    END IF;
    IF v_thread.thread_id IS NULL THEN
      RETURN QUERY SELECT 'no-thread', 0::bigint, repeat('0', 64), NULL::timestamptz, 0::bigint;
    ELSIF v_thread.epoch <> p_epoch THEN
      RETURN QUERY SELECT 'fenced', v_thread.tail_sequence, v_thread.tail_digest, NULL::timestamptz, v_thread.epoch;
    ELSIF v_thread.last_batch_id = p_batch THEN
      -- A batch of events only leaves no record; the thread remembers its last one.
      RETURN QUERY SELECT CASE WHEN v_count = 0 THEN 'replayed' ELSE 'batch-conflict' END,
        v_thread.tail_sequence, v_thread.tail_digest, date_trunc('milliseconds', clock_timestamp()), v_thread.epoch;
    ELSE
      RETURN QUERY SELECT 'tail-conflict', v_thread.tail_sequence, v_thread.tail_digest, NULL::timestamptz, v_thread.epoch;
    END IF;
    RETURN;
  END IF;

  v_at := date_trunc('milliseconds', clock_timestamp());

  IF v_count > 0 THEN
    INSERT INTO journal_records (tenant_id, thread_id, sequence, run_id, epoch, kind, body, digest,
      previous_digest, batch_id, batch_place, recorded_at)
    SELECT p_tenant, p_thread, p_expected_sequence + n.place, p_run, p_epoch, n.kind, n.body, n.digest,
      coalesce(p_digests[n.place - 1], p_expected_digest), p_batch, n.place, v_at
    FROM unnest(p_kinds, p_bodies, p_digests) WITH ORDINALITY AS n (kind, body, digest, place);
  END IF;

  IF cardinality(p_event_kinds) > 0 THEN
    INSERT INTO event_inbox (tenant_id, agent_id, thread_id, run_id, kind, at, body)
    SELECT p_tenant, p_agent, p_thread, p_run, n.kind, coalesce(from_millis(n.millis), v_at), n.body
    FROM unnest(p_event_kinds, p_event_millis, p_event_bodies) WITH ORDINALITY AS n (kind, millis, body, place)
    ORDER BY n.place;
  END IF;

  IF p_changes IS NOT NULL THEN
    PERFORM project_changes(p_tenant, p_thread, p_run, p_agent, v_at, p_changes);
  END IF;

  IF p_diagnostics IS NOT NULL THEN
    INSERT INTO diagnostics (tenant_id, diagnostic_id, fingerprint, title, run_id, tool_name, call_id,
      captured_at, body)
    SELECT p_tenant, c.diagnostic_id, c.fingerprint, c.title, p_run, c.tool_name, c.call_id, v_at, c.body
    FROM json_to_recordset(p_diagnostics) AS c (
      diagnostic_id text, fingerprint text, title text, tool_name text, call_id text, body text)
    ON CONFLICT DO NOTHING;
  END IF;

  RETURN QUERY SELECT 'appended', p_expected_sequence + v_count, v_digest, v_at, p_epoch;
END
$function$;
