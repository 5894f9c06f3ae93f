-- What a run of calls that change something appends over and over: the success of one call, the promise
-- before the next, or both. Their few columns are parameters here and each table is written by one
-- statement, so that nothing is parsed, joined or materialized on the way.
--
-- Answers the time of the append; null when the thread is not where the writer left it, and then nothing
-- is written and `journal_append`, asked for the same, says what is the matter. Its projection of these two
-- changes is that of `project_call_changes`, by which a rebuild makes the same rows from the records.
CREATE FUNCTION journal_append_calls(
  p_tenant text, p_thread text, p_run text, p_agent text, p_epoch bigint,
  p_expected_sequence bigint, p_expected_digest text, p_batch text, p_turn integer, p_progressed boolean,
  -- A call that succeeded; nulls for none.
  p_settled_call text, p_settled_body text, p_settled_digest text, p_settled_event text,
  p_failure_mode text, p_original_bytes bigint, p_started_ms bigint, p_ended_ms bigint,
  -- The next one, of the same turn; nulls for none.
  p_prepared_call text, p_prepared_body text, p_prepared_digest text, p_prepared_event text,
  p_idempotency_key text, p_attempt integer)
RETURNS timestamptz
LANGUAGE plpgsql AS $function$
DECLARE
  v_last bigint := p_expected_sequence + num_nonnulls(p_settled_call, p_prepared_call);
  v_at timestamptz;
BEGIN
  -- A batch that was written before has moved the tail; one that names a batch of before at a later
  -- tail is refused by `one_batch_per_id`.
  UPDATE threads t SET
    tail_sequence = v_last, tail_digest = coalesce(p_prepared_digest, p_settled_digest), last_batch_id = p_batch
  WHERE t.tenant_id = p_tenant AND t.thread_id = p_thread AND t.epoch = p_epoch
    AND t.tail_sequence = p_expected_sequence AND t.tail_digest = p_expected_digest
    AND t.last_batch_id IS DISTINCT FROM p_batch
  RETURNING date_trunc('milliseconds', clock_timestamp()) INTO v_at;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;

  INSERT INTO journal_records (tenant_id, thread_id, sequence, run_id, epoch, kind, body, digest,
    previous_digest, batch_id, batch_place, recorded_at)
  SELECT p_tenant, p_thread, n.sequence, p_run, p_epoch, n.kind, n.body, n.digest, n.previous, p_batch,
    n.sequence - p_expected_sequence, v_at
  FROM (VALUES
    (p_expected_sequence + 1, 'ToolCallSettled', p_settled_body, p_settled_digest, p_expected_digest),
    (v_last, 'ToolCallPrepared', p_prepared_body, p_prepared_digest,
      coalesce(p_settled_digest, p_expected_digest))) AS n (sequence, kind, body, digest, previous)
  WHERE n.body IS NOT NULL;

  INSERT INTO event_inbox (tenant_id, agent_id, thread_id, run_id, kind, at, body)
  SELECT p_tenant, p_agent, p_thread, p_run, n.kind, v_at, n.body
  FROM (VALUES (1, 'ToolCallSucceeded', p_settled_event), (2, 'ToolCallStarted', p_prepared_event))
    AS n (place, kind, body)
  WHERE n.body IS NOT NULL ORDER BY n.place;

  IF p_progressed THEN
    UPDATE submissions s SET lost_attempts = 0
    WHERE s.tenant_id = p_tenant AND s.run_id = p_run AND s.lost_attempts <> 0;
  END IF;

  UPDATE tool_calls t SET
    state = CASE WHEN t.call_id = p_settled_call THEN 'succeeded' ELSE 'running' END,
    failure_mode = CASE WHEN t.call_id = p_settled_call
      THEN coalesce(p_failure_mode, t.failure_mode) ELSE t.failure_mode END,
    is_failure = t.is_failure AND t.call_id IS DISTINCT FROM p_settled_call,
    original_bytes = CASE WHEN t.call_id = p_settled_call THEN p_original_bytes ELSE t.original_bytes END,
    settled_sequence = CASE WHEN t.call_id = p_settled_call
      THEN p_expected_sequence + 1 ELSE t.settled_sequence END,
    ended_at = CASE WHEN t.call_id = p_settled_call
      THEN timestamptz 'epoch' + p_ended_ms * interval '1 millisecond' ELSE t.ended_at END,
    idempotency_key = CASE WHEN t.call_id = p_prepared_call THEN p_idempotency_key ELSE t.idempotency_key END,
    attempt = CASE WHEN t.call_id = p_prepared_call THEN p_attempt ELSE t.attempt END,
    prepared_sequence = CASE WHEN t.call_id = p_prepared_call THEN v_last ELSE t.prepared_sequence END,
    started_at = CASE WHEN t.call_id = p_prepared_call THEN v_at
      ELSE coalesce(t.started_at, timestamptz 'epoch' + p_started_ms * interval '1 millisecond') END
  WHERE t.tenant_id = p_tenant AND t.run_id = p_run AND t.turn = p_turn
    AND t.call_id = ANY (ARRAY[p_settled_call, p_prepared_call]);

  RETURN v_at;
END
$function$;
