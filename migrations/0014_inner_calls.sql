-- Calls that a tool's handler makes are rows like the model's own, under an id that only
-- the runtime makes; `call_index` is then the number within the outer call, from 0.
ALTER TABLE tool_calls ADD COLUMN parent_call_id text;

-- As in 0013, with the outer call of an inner one.
CREATE OR REPLACE FUNCTION project_changes(
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
