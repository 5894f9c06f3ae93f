-- As in 0007, and a person's answer to an effect in doubt is never overtaken by a rule's.
-- `abort-pending` is what a release from before understands: something waits to be recorded first.
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
