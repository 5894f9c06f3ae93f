-- Durable admission in one statement (DU-11). Answers the receipt, or the digest
-- that the key was used with before.
CREATE FUNCTION submission_admit(
  p_tenant text, p_agent text, p_thread text, p_kind text, p_id text, p_name text,
  p_key text, p_payload_digest text, p_input text, p_title text,
  p_unknown_policy text)
RETURNS TABLE (
  admitted boolean, submission_id text, run_id text, thread_id text, queue_sequence integer,
  payload_digest text)
LANGUAGE plpgsql AS $function$
DECLARE
  v_submission text := 'sub_' || replace(gen_random_uuid()::text, '-', '');
  v_run text := 'run_' || replace(gen_random_uuid()::text, '-', '');
  v_thread text := coalesce(p_thread, 'thr_' || replace(gen_random_uuid()::text, '-', ''));
  v_queue integer;
  v_at timestamptz;
BEGIN
  INSERT INTO idempotency_keys AS k (tenant_id, thread_scope, principal_kind, principal_id, key,
    payload_digest, submission_id, run_id, thread_id, queue_sequence)
  VALUES (p_tenant, coalesce(p_thread, ''), p_kind, p_id, p_key, p_payload_digest, v_submission, v_run,
    v_thread, 0)
  ON CONFLICT DO NOTHING;

  IF NOT FOUND THEN
    RETURN QUERY SELECT false, k.submission_id, k.run_id, k.thread_id, k.queue_sequence, k.payload_digest
    FROM idempotency_keys k
    WHERE k.tenant_id = p_tenant AND k.thread_scope = coalesce(p_thread, '') AND k.principal_kind = p_kind
      AND k.principal_id = p_id AND k.key = p_key;
    RETURN;
  END IF;

  INSERT INTO threads AS t (tenant_id, thread_id, agent_id, last_queue_sequence)
  VALUES (p_tenant, v_thread, p_agent, 1)
  ON CONFLICT ON CONSTRAINT threads_pkey DO UPDATE SET last_queue_sequence = t.last_queue_sequence + 1
  RETURNING t.last_queue_sequence INTO v_queue;
  v_at := date_trunc('milliseconds', clock_timestamp());

  UPDATE idempotency_keys k SET queue_sequence = v_queue
  WHERE k.tenant_id = p_tenant AND k.thread_scope = coalesce(p_thread, '') AND k.principal_kind = p_kind
    AND k.principal_id = p_id AND k.key = p_key;

  INSERT INTO submissions (tenant_id, submission_id, thread_id, run_id, agent_id, queue_sequence, title,
    input, requester_kind, requester_id, requester_name, unknown_policy, due_at, created_at, state_since)
  VALUES (p_tenant, v_submission, v_thread, v_run, p_agent, v_queue, p_title, p_input, p_kind, p_id,
    p_name, p_unknown_policy, v_at, v_at, v_at);

  INSERT INTO runs (tenant_id, run_id, thread_id, submission_id, agent_id, title, requester_id,
    requester_name, created_at)
  VALUES (p_tenant, v_run, v_thread, v_submission, p_agent, p_title, p_id, p_name, v_at);

  INSERT INTO event_inbox (tenant_id, agent_id, thread_id, run_id, kind, at, body)
  VALUES (p_tenant, p_agent, v_thread, v_run, 'RunQueued', v_at,
    json_build_object('_tag', 'RunQueued', 'submissionId', v_submission, 'title', p_title)::text);

  RETURN QUERY SELECT true, v_submission, v_run, v_thread, v_queue, p_payload_digest;
END
$function$;

-- Whether a submission could go on now, leaving its place in the queue aside.
--
-- A wait for approvals is over when nothing of the run is pending any more: a
-- terminal denial, too, ends the run only once the rest of its batch is decided
-- (A-06). A wait for unknowns is over when every one of them is resolved (DU-07).
CREATE FUNCTION submission_can_go_on(s submissions) RETURNS boolean
LANGUAGE sql STABLE AS $function$
  SELECT CASE s.state
    WHEN 'ready' THEN s.due_at <= clock_timestamp()
    WHEN 'running' THEN true
    WHEN 'waiting' THEN EXISTS (
      SELECT FROM approval_requests a
      WHERE a.tenant_id = s.tenant_id AND a.run_id = s.run_id
        AND a.decided_at IS NOT NULL AND a.delivered_at IS NULL AND a.state <> 'withdrawn')
      AND NOT EXISTS (
        SELECT FROM approval_requests p
        WHERE p.tenant_id = s.tenant_id AND p.run_id = s.run_id AND p.state = 'pending')
    WHEN 'unknown' THEN EXISTS (
      SELECT FROM unknown_outcomes u
      WHERE u.tenant_id = s.tenant_id AND u.run_id = s.run_id
        AND u.state = 'resolved' AND u.delivered_at IS NULL AND NOT u.after_settlement)
      AND NOT EXISTS (
        SELECT FROM unknown_outcomes u
        WHERE u.tenant_id = s.tenant_id AND u.run_id = s.run_id AND u.state = 'open' AND NOT u.after_settlement)
    ELSE false
  END
$function$;

-- Whether an abort asks this submission to go on now, whatever its place (DU-12).
-- One that was there when the submission was given back waits for the delay like the rest.
CREATE FUNCTION submission_is_to_abort(s submissions) RETURNS boolean
LANGUAGE sql STABLE AS $function$
  SELECT s.state <> 'settled' AND EXISTS (
    SELECT FROM abort_requests b
    WHERE b.tenant_id = s.tenant_id AND b.run_id = s.run_id
      AND CASE WHEN s.state = 'ready'
        THEN s.due_at <= clock_timestamp() OR (b.delivered_at IS NULL
          AND (s.postponed_reason IS NULL OR b.requested_at >= date_trunc('milliseconds', s.state_since)))
        ELSE b.delivered_at IS NULL END)
$function$;

-- FIFO per thread (DU-15): an earlier submission holds the queue until it is
-- settled, unless it is parked on an unknown.
CREATE FUNCTION submission_is_at_head(s submissions) RETURNS boolean
LANGUAGE sql STABLE AS $function$
  SELECT NOT EXISTS (
    SELECT FROM submissions e
    WHERE e.tenant_id = s.tenant_id AND e.thread_id = s.thread_id
      AND e.queue_sequence < s.queue_sequence AND e.state <> 'settled'
      AND NOT (e.state = 'unknown' AND e.unknown_policy = 'park'))
$function$;

-- Claims what the thread should do next and becomes its owner (PG-03). The row
-- lock on the thread makes racing claims take turns; the later one gets the
-- higher epoch. An aborted submission leaves the queue out of turn (DU-12).
CREATE FUNCTION submission_claim(p_tenant text, p_thread text, p_worker text)
RETURNS TABLE (
  submission_id text, run_id text, agent_id text, epoch bigint, tail_sequence bigint, tail_digest text,
  input text, requester_kind text, requester_id text, requester_name text, lost_attempts integer,
  queue_sequence integer)
LANGUAGE plpgsql AS $function$
DECLARE
  v_thread threads%ROWTYPE;
  v_submission submissions%ROWTYPE;
  v_lost boolean;
BEGIN
  SELECT * INTO v_thread FROM threads t
  WHERE t.tenant_id = p_tenant AND t.thread_id = p_thread FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;

  SELECT s.* INTO v_submission FROM submissions s
  WHERE s.tenant_id = p_tenant AND s.thread_id = p_thread AND s.state <> 'settled'
    AND (s.state = 'running' OR submission_is_to_abort(s)
      OR (submission_can_go_on(s) AND submission_is_at_head(s)))
  ORDER BY s.state = 'running' DESC, submission_is_to_abort(s) DESC, s.queue_sequence
  LIMIT 1;
  IF NOT FOUND THEN
    RETURN;
  END IF;

  -- Still running: the claim before ended with its process. One that was given back has been counted by that.
  v_lost := v_submission.state = 'running';

  UPDATE threads t SET epoch = t.epoch + 1, worker_id = p_worker, claimed_at = clock_timestamp()
  WHERE t.tenant_id = p_tenant AND t.thread_id = p_thread;

  UPDATE submissions s SET
    state = 'running', state_since = clock_timestamp(), claims = s.claims + 1, postponed_reason = NULL,
    due_at = clock_timestamp() + interval '20 seconds',
    lost_attempts = s.lost_attempts + v_lost::integer
  WHERE s.tenant_id = p_tenant AND s.submission_id = v_submission.submission_id;

  IF v_submission.state = 'running' AND v_thread.worker_id IS DISTINCT FROM p_worker THEN
    UPDATE workers w SET last_takeover_at = clock_timestamp() WHERE w.worker_id = p_worker;
  END IF;

  RETURN QUERY SELECT v_submission.submission_id, v_submission.run_id, v_submission.agent_id,
    v_thread.epoch + 1, v_thread.tail_sequence, v_thread.tail_digest, v_submission.input,
    v_submission.requester_kind, v_submission.requester_id, v_submission.requester_name,
    v_submission.lost_attempts + v_lost::integer, v_submission.queue_sequence;
END
$function$;

-- Puts a submission off that could be claimed but not read: the claim was rolled
-- back, so without this it would be due again at once, for ever. Every time in a
-- row doubles the delay, up to 5 minutes. Whoever owned the thread is fenced, as
-- the claim would have done; `p_epoch` is the epoch that the claim would have had.
CREATE FUNCTION submission_put_off(
  p_tenant text, p_thread text, p_submission text, p_epoch bigint, p_reason text)
RETURNS void
LANGUAGE sql AS $function$
  WITH fenced AS (
    UPDATE threads t SET epoch = p_epoch
    WHERE t.tenant_id = p_tenant AND t.thread_id = p_thread AND t.epoch = p_epoch - 1
    RETURNING t.tenant_id
  )
  UPDATE submissions s SET
    state = 'ready', state_since = clock_timestamp(), postponed_reason = p_reason,
    due_at = clock_timestamp() + CASE WHEN s.state = 'ready' AND s.postponed_reason IS NOT NULL
      THEN least(greatest(2 * (s.due_at - s.state_since), interval '1 second'), interval '5 minutes')
      ELSE interval '1 second' END,
    -- Nothing of it ran now; what was running before was lost.
    lost_attempts = s.lost_attempts + (s.state = 'running')::integer
  FROM fenced f
  WHERE s.tenant_id = f.tenant_id AND s.submission_id = p_submission AND s.state <> 'settled'
$function$;

-- Threads that somebody should look at now, of every tenant (the sweeper's scan).
-- Each branch starts from a partial index that holds only what may be due.
--
-- A running submission is due at once when its worker is gone. When its worker
-- lives it may still be driven by nobody: the answer to the claim was lost, the
-- attempt was interrupted by a move, the store failed when it was postponed. So
-- it is due every 20 seconds; whoever drives it takes that for one more look.
CREATE FUNCTION due_threads(p_limit integer, p_silent interval)
RETURNS TABLE (tenant_id text, thread_id text)
LANGUAGE sql VOLATILE AS $function$
  WITH unattended AS (
    UPDATE submissions s SET due_at = now() + interval '20 seconds'
    FROM (
      SELECT r.tenant_id, r.submission_id FROM submissions r
      WHERE r.state = 'running' AND r.due_at <= now()
      ORDER BY r.due_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ) AS passed
    WHERE s.tenant_id = passed.tenant_id AND s.submission_id = passed.submission_id
    RETURNING s
  ), candidates AS (
    SELECT u.s FROM unattended u
    UNION ALL
    (SELECT s FROM submissions s
      -- Heads only, before the limit: a long queue behind one person must not hide other threads.
      WHERE s.state = 'ready' AND s.due_at <= now() AND submission_is_at_head(s)
      ORDER BY s.due_at LIMIT p_limit)
    UNION ALL
    SELECT s FROM submissions s
    JOIN approval_requests a ON a.tenant_id = s.tenant_id AND a.run_id = s.run_id
    WHERE s.state = 'waiting' AND a.decided_at IS NOT NULL AND a.delivered_at IS NULL AND a.state <> 'withdrawn'
    UNION ALL
    SELECT s FROM submissions s
    JOIN unknown_outcomes u ON u.tenant_id = s.tenant_id AND u.run_id = s.run_id
    WHERE s.state = 'unknown' AND u.state = 'resolved' AND u.delivered_at IS NULL AND NOT u.after_settlement
    UNION ALL
    SELECT s FROM submissions s
    JOIN threads t ON t.tenant_id = s.tenant_id AND t.thread_id = s.thread_id
    LEFT JOIN workers w ON w.worker_id = t.worker_id
    WHERE s.state = 'running'
      AND (w.worker_id IS NULL OR w.stopped_at IS NOT NULL OR w.heartbeat_at < now() - p_silent)
  ), aborted AS (
    SELECT s FROM submissions s
    JOIN abort_requests b ON b.tenant_id = s.tenant_id AND b.run_id = s.run_id
    WHERE b.delivered_at IS NULL AND submission_is_to_abort(s)
    UNION ALL
    SELECT c.s FROM candidates c WHERE submission_is_to_abort(c.s)
  ), due AS (
    SELECT (c.s).tenant_id, (c.s).thread_id, (c.s).state, (c.s).state_since FROM candidates c
    WHERE (c.s).state = 'running' OR (submission_can_go_on(c.s) AND submission_is_at_head(c.s))
    UNION ALL
    SELECT (a.s).tenant_id, (a.s).thread_id, (a.s).state, (a.s).state_since FROM aborted a
  )
  SELECT d.tenant_id, d.thread_id FROM due d
  -- A thread whose owner lives is driven already; what is due there waits for it.
  WHERE d.state = 'running' OR NOT EXISTS (
    SELECT FROM submissions r
    WHERE r.tenant_id = d.tenant_id AND r.thread_id = d.thread_id AND r.state = 'running')
  GROUP BY d.tenant_id, d.thread_id
  ORDER BY min(d.state_since), d.tenant_id, d.thread_id
  LIMIT p_limit
$function$;
