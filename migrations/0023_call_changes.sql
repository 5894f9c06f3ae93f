-- What nearly every append changes is the state of calls. All of an append's changes of calls are one
-- statement now, found by key; and an append that changes nothing else says so with `p_calls`, so that
-- nothing looks through its JSON for what is not there.
CREATE FUNCTION project_call_changes(p_tenant text, p_run text, p_at timestamptz, p_calls json)
RETURNS void
LANGUAGE plpgsql AS $function$
BEGIN
  UPDATE tool_calls t SET
    state = coalesce(c.state, t.state),
    failure_mode = coalesce(c.failure_mode, t.failure_mode),
    failure_handling = coalesce(c.failure_handling, t.failure_handling),
    failure_tag = coalesce(c.failure_tag, t.failure_tag),
    failure_message = coalesce(c.failure_message, t.failure_message),
    diagnostic_id = coalesce(c.diagnostic_id, t.diagnostic_id),
    is_failure = coalesce(c.is_failure, t.is_failure),
    original_bytes = coalesce(c.original_bytes, t.original_bytes),
    approval_request_id = coalesce(c.approval_request_id, t.approval_request_id),
    unknown_id = coalesce(c.unknown_id, t.unknown_id),
    denial_id = coalesce(c.denial_id, t.denial_id),
    idempotency_key = coalesce(c.idempotency_key, t.idempotency_key),
    attempt = coalesce(c.attempt, t.attempt),
    prepared_sequence = coalesce(c.prepared_sequence, t.prepared_sequence),
    settled_sequence = coalesce(c.settled_sequence, t.settled_sequence),
    requested_at = coalesce(from_millis(c.requested_ms), t.requested_at),
    decided_at = coalesce(from_millis(c.decided_ms), t.decided_at),
    started_at = coalesce(CASE WHEN c.prepared_sequence IS NOT NULL THEN p_at END,
      t.started_at, from_millis(c.started_ms)),
    ended_at = coalesce(from_millis(c.ended_ms), t.ended_at)
  FROM (
    SELECT * FROM json_to_recordset(p_calls) AS x (
      turn integer, call_id text, state text, failure_mode text, failure_handling text, failure_tag text,
      failure_message text, diagnostic_id text, is_failure boolean, original_bytes bigint,
      approval_request_id text, unknown_id text, denial_id text, idempotency_key text, attempt integer,
      prepared_sequence bigint, settled_sequence bigint, requested_ms bigint, decided_ms bigint,
      started_ms bigint, ended_ms bigint)
    -- Every turn is in this range; the planner takes it for a narrow one and so looks each call up by
    -- its key, however many the table has: of a function it would expect 100 rows and read the table.
    WHERE x.turn BETWEEN 0 AND 2147483647
  ) AS c
  WHERE t.tenant_id = p_tenant AND t.run_id = p_run AND t.turn = c.turn AND t.call_id = c.call_id;
END
$function$;

-- As in 0014, with the changes of calls in their own function: the append and the rebuild share it.
CREATE OR REPLACE FUNCTION project_changes(
  p_tenant text, p_thread text, p_run text, p_agent text, p_at timestamptz, p_changes json)
RETURNS void
LANGUAGE plpgsql AS $function$
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
      declared_sequence, declared_at, parent_call_id)
    SELECT p_tenant, p_run, c.turn, c.call_id, c.call_index, p_thread, c.tool_name,
      c.execution_class, c.provider_executed, c.needs_approval, c.parameters_digest, c.tool_digest,
      c.failure_mode, c.declared_sequence, p_at, c.parent_call_id
    FROM json_to_recordset(p_changes -> 'calls') AS c (
      turn integer, call_id text, call_index integer, tool_name text, execution_class text,
      provider_executed boolean, needs_approval boolean, parameters_digest text, tool_digest text,
      failure_mode text, declared_sequence bigint, parent_call_id text)
    ON CONFLICT DO NOTHING;
    INSERT INTO run_tools (tenant_id, tool_name, created_at, run_id)
    SELECT DISTINCT p_tenant, c.tool_name, r.created_at, p_run
    FROM json_to_recordset(p_changes -> 'calls') AS c (tool_name text)
    JOIN runs r ON r.tenant_id = p_tenant AND r.run_id = p_run
    ON CONFLICT DO NOTHING;
  END IF;

  IF p_changes -> 'call_changes' IS NOT NULL THEN
    PERFORM project_call_changes(p_tenant, p_run, p_at, p_changes -> 'call_changes');
  END IF;

  IF p_changes -> 'people' IS NOT NULL THEN
    PERFORM project_people(p_tenant, p_thread, p_run, p_agent, p_at, p_changes -> 'people');
  END IF;

  IF p_changes -> 'probes' IS NOT NULL THEN
    INSERT INTO unknown_probes (tenant_id, probe_id, unknown_id, thread_id, run_id, turn, call_id, tool_name,
      asker_kind, asker_id, asker_name, asked_at, answered_at, finding, detail, result, result_is_failure,
      settles, record_sequence)
    SELECT p_tenant, c.probe_id, c.unknown_id, p_thread, p_run, c.turn, c.call_id, c.tool_name,
      c.asker_kind, c.asker_id, c.asker_name, from_millis(c.asked_ms), from_millis(c.answered_ms),
      c.finding, c.detail, c.result, c.result_is_failure, c.settles, c.record_sequence
    FROM json_to_recordset(p_changes -> 'probes') AS c (
      probe_id text, unknown_id text, turn integer, call_id text, tool_name text, asker_kind text,
      asker_id text, asker_name text, asked_ms bigint, answered_ms bigint, finding text, detail text,
      result text, result_is_failure boolean, settles boolean, record_sequence bigint)
    ON CONFLICT DO NOTHING;
  END IF;

  IF p_changes ->> 'submission' IS NOT NULL THEN
    PERFORM project_run_end(p_tenant, p_thread, p_run, p_agent, p_at, p_changes ->> 'submission',
      p_changes -> 'run' ->> 'state');
  END IF;
END
$function$;

-- As in 0020. `p_calls` and `p_progressed` stand for a `p_changes` that holds nothing else.
CREATE FUNCTION journal_append(
  p_tenant text, p_thread text, p_run text, p_agent text, p_epoch bigint,
  p_expected_sequence bigint, p_expected_digest text, p_batch text,
  p_kinds text[], p_bodies text[], p_digests text[],
  p_calls json, p_progressed boolean, p_changes json,
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
  -- Changes of calls alone settle no run and resolve no doubt.
  IF p_changes IS NOT NULL THEN
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

    -- A rule's word on an effect in doubt never takes the place of one that a person gave
    -- while the rule's probe was asked: the row is locked as `resolve-unknown` locks it.
    IF 'UnknownResolved' = ANY (p_kinds) THEN
      PERFORM FROM threads t
      WHERE t.tenant_id = p_tenant AND t.thread_id = p_thread AND t.epoch = p_epoch
        AND t.tail_sequence = p_expected_sequence AND t.tail_digest = p_expected_digest FOR UPDATE;
      IF FOUND THEN
        PERFORM FROM unknown_outcomes u
        WHERE u.tenant_id = p_tenant AND u.unknown_id IN (
          SELECT c.unknown_id FROM json_to_recordset(p_changes -> 'people' -> 'resolutions') AS c (unknown_id text))
        ORDER BY u.unknown_id FOR UPDATE;
        IF EXISTS (
          SELECT FROM json_to_recordset(p_changes -> 'people' -> 'resolutions') AS c (
            unknown_id text, actor_kind text, actor_id text)
          JOIN unknown_outcomes u ON u.tenant_id = p_tenant AND u.unknown_id = c.unknown_id
          WHERE c.actor_kind = 'policy' AND u.state = 'resolved' AND u.delivered_at IS NULL
            AND NOT u.after_settlement AND u.resolver_id <> c.actor_id) THEN
          RETURN QUERY SELECT 'abort-pending', p_expected_sequence, p_expected_digest, NULL::timestamptz, p_epoch;
          RETURN;
        END IF;
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

  IF p_calls IS NOT NULL THEN
    IF p_progressed THEN
      UPDATE submissions s SET lost_attempts = 0
      WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.lost_attempts <> 0;
    END IF;
    PERFORM project_call_changes(p_tenant, p_run, v_at, p_calls);
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

  answer := 'appended';
  tail_sequence := p_expected_sequence + v_count;
  tail_digest := v_digest;
  recorded_at := v_at;
  current_epoch := p_epoch;
  RETURN NEXT;
END
$function$;

-- For a host of the release before, while both run on one database.
CREATE OR REPLACE FUNCTION journal_append(
  p_tenant text, p_thread text, p_run text, p_agent text, p_epoch bigint,
  p_expected_sequence bigint, p_expected_digest text, p_batch text,
  p_kinds text[], p_bodies text[], p_digests text[],
  p_changes json,
  p_event_kinds text[], p_event_millis bigint[], p_event_bodies text[],
  p_diagnostics json)
RETURNS TABLE (
  answer text, tail_sequence bigint, tail_digest text, recorded_at timestamptz, current_epoch bigint)
LANGUAGE plpgsql AS $function$
BEGIN
  RETURN QUERY SELECT a.answer, a.tail_sequence, a.tail_digest, a.recorded_at, a.current_epoch
  FROM journal_append(p_tenant, p_thread, p_run, p_agent, p_epoch, p_expected_sequence, p_expected_digest,
    p_batch, p_kinds, p_bodies, p_digests, NULL::json, NULL::boolean, p_changes, p_event_kinds,
    p_event_millis, p_event_bodies, p_diagnostics) AS a;
END
$function$;
