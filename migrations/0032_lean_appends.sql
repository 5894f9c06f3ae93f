-- The same promises with less work for each call: what an append changes is parsed once, the names of a turn's
-- tools come from the rows just written, events move to the log in one pass, and the rule about a call's state
-- is read by the planner as one function in place of eleven constants with every statement.

CREATE FUNCTION is_call_state(p_state text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $function$
BEGIN
  RETURN p_state IN (
    'queued', 'waiting', 'running', 'succeeded', 'failed', 'denied-by-person', 'denied-by-policy',
    'expired', 'aborted', 'unknown', 'not-executed');
END
$function$;

-- Every row has been held to the same words until now, so none is read again.
ALTER TABLE tool_calls
  DROP CONSTRAINT call_state_is_known,
  ADD CONSTRAINT call_state_is_known CHECK (is_call_state(state)) NOT VALID;

-- As in 0005. What an inbox holds is mostly fewer than `p_limit`: then nothing is joined and all of it goes.
-- An event that becomes visible while this runs is taken with the others or with the next ones: what is
-- deleted is what is inserted, in one statement.
CREATE OR REPLACE FUNCTION assign_event_sequences(p_tenant text, p_limit integer)
RETURNS TABLE (assigned integer, last_sequence bigint)
LANGUAGE plpgsql AS $function$
DECLARE
  v_last bigint;
  v_beyond bigint;
  v_count integer;
BEGIN
  INSERT INTO event_tails (tenant_id) VALUES (p_tenant) ON CONFLICT DO NOTHING;
  SELECT t.last_sequence INTO v_last FROM event_tails t WHERE t.tenant_id = p_tenant FOR UPDATE;
  SELECT i.event_id INTO v_beyond FROM event_inbox i
  WHERE i.tenant_id = p_tenant ORDER BY i.event_id OFFSET p_limit LIMIT 1;
  WITH taken AS (
    DELETE FROM event_inbox i
    WHERE i.tenant_id = p_tenant AND i.event_id < coalesce(v_beyond, 9223372036854775807)
    RETURNING i.event_id, i.agent_id, i.thread_id, i.run_id, i.kind, i.at, i.body
  )
  INSERT INTO events (tenant_id, sequence, agent_id, thread_id, run_id, kind, at, body)
  SELECT p_tenant, v_last + row_number() OVER (ORDER BY t.event_id),
    t.agent_id, t.thread_id, t.run_id, t.kind, t.at, t.body
  FROM taken t;
  GET DIAGNOSTICS v_count = ROW_COUNT;
  IF v_count > 0 THEN
    UPDATE event_tails t SET last_sequence = v_last + v_count WHERE t.tenant_id = p_tenant;
    PERFORM pg_notify('effect_agent', 'events ' || p_tenant);
  END IF;
  RETURN QUERY SELECT v_count, v_last + v_count;
END
$function$;

-- As in 0023.
CREATE OR REPLACE FUNCTION project_changes(
  p_tenant text, p_thread text, p_run text, p_agent text, p_at timestamptz, p_changes json)
RETURNS void
LANGUAGE plpgsql AS $function$
DECLARE
  -- Each part of the changes; null where there is none.
  v record;
BEGIN
  SELECT * INTO v FROM json_to_record(p_changes) AS c (
    progressed json, run json, turns json, calls json, call_changes json, people json, probes json,
    submission text);

  IF v.progressed IS NOT NULL THEN
    UPDATE submissions s SET lost_attempts = 0
    WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.lost_attempts <> 0;
  END IF;

  IF v.run IS NOT NULL THEN
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
    FROM json_to_record(v.run) AS c (
      state text, model_id text, definition_digest text, attempts integer, turns integer,
      tool_calls integer, input_tokens bigint, output_tokens bigint, failure_tag text,
      failure_message text, diagnostic_id text, finish_reason text, exhausted text,
      settled_sequence bigint, starts boolean)
    WHERE r.tenant_id = p_tenant AND r.run_id = p_run;
  END IF;

  IF v.turns IS NOT NULL THEN
    INSERT INTO turns (tenant_id, run_id, turn, thread_id, record_sequence, call_count, finish_reason,
      input_tokens, output_tokens, started_at, recorded_at)
    SELECT p_tenant, p_run, c.turn, p_thread, c.record_sequence, c.call_count, c.finish_reason,
      c.input_tokens, c.output_tokens, from_millis(c.started_ms), p_at
    FROM json_to_recordset(v.turns) AS c (
      turn integer, record_sequence bigint, call_count integer, finish_reason text,
      input_tokens bigint, output_tokens bigint, started_ms bigint);
  END IF;

  IF v.calls IS NOT NULL THEN
    WITH declared AS (
      INSERT INTO tool_calls (tenant_id, run_id, turn, call_id, call_index, thread_id, tool_name,
        execution_class, provider_executed, needs_approval, parameters_digest, tool_digest, failure_mode,
        declared_sequence, declared_at, parent_call_id)
      SELECT p_tenant, p_run, c.turn, c.call_id, c.call_index, p_thread, c.tool_name,
        c.execution_class, c.provider_executed, c.needs_approval, c.parameters_digest, c.tool_digest,
        c.failure_mode, c.declared_sequence, p_at, c.parent_call_id
      FROM json_to_recordset(v.calls) AS c (
        turn integer, call_id text, call_index integer, tool_name text, execution_class text,
        provider_executed boolean, needs_approval boolean, parameters_digest text, tool_digest text,
        failure_mode text, declared_sequence bigint, parent_call_id text)
      ON CONFLICT DO NOTHING
      RETURNING tool_name
    )
    INSERT INTO run_tools (tenant_id, tool_name, created_at, run_id)
    SELECT DISTINCT p_tenant, d.tool_name, r.created_at, p_run
    FROM declared d JOIN runs r ON r.tenant_id = p_tenant AND r.run_id = p_run
    ON CONFLICT DO NOTHING;
  END IF;

  IF v.call_changes IS NOT NULL THEN
    PERFORM project_call_changes(p_tenant, p_run, p_at, v.call_changes);
  END IF;

  IF v.people IS NOT NULL THEN
    PERFORM project_people(p_tenant, p_thread, p_run, p_agent, p_at, v.people);
  END IF;

  IF v.probes IS NOT NULL THEN
    INSERT INTO unknown_probes (tenant_id, probe_id, unknown_id, thread_id, run_id, turn, call_id, tool_name,
      asker_kind, asker_id, asker_name, asked_at, answered_at, finding, detail, result, result_is_failure,
      settles, record_sequence)
    SELECT p_tenant, c.probe_id, c.unknown_id, p_thread, p_run, c.turn, c.call_id, c.tool_name,
      c.asker_kind, c.asker_id, c.asker_name, from_millis(c.asked_ms), from_millis(c.answered_ms),
      c.finding, c.detail, c.result, c.result_is_failure, c.settles, c.record_sequence
    FROM json_to_recordset(v.probes) AS c (
      probe_id text, unknown_id text, turn integer, call_id text, tool_name text, asker_kind text,
      asker_id text, asker_name text, asked_ms bigint, answered_ms bigint, finding text, detail text,
      result text, result_is_failure boolean, settles boolean, record_sequence bigint)
    ON CONFLICT DO NOTHING;
  END IF;

  IF v.submission IS NOT NULL THEN
    PERFORM project_run_end(p_tenant, p_thread, p_run, p_agent, p_at, v.submission,
      v.run ->> 'state');
  END IF;
END
$function$;
