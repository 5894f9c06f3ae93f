-- Events are written unsequenced, in the transaction of the facts they tell, and
-- get their place in the tenant's log afterwards, from one assigner at a time. A
-- number drawn inside the writing transaction would become visible out of order,
-- and a reader that has passed 7 would never see a late 6.
CREATE TABLE event_inbox (
  tenant_id  text NOT NULL,
  event_id   bigint GENERATED ALWAYS AS IDENTITY,
  agent_id   text NOT NULL,
  thread_id  text NOT NULL,
  run_id     text NOT NULL,
  kind       text NOT NULL,
  at         timestamptz NOT NULL,
  body       text NOT NULL,
  PRIMARY KEY (tenant_id, event_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TABLE events (
  tenant_id  text NOT NULL,
  sequence   bigint NOT NULL,
  agent_id   text NOT NULL,
  thread_id  text NOT NULL,
  run_id     text NOT NULL,
  kind       text NOT NULL,
  at         timestamptz NOT NULL,
  body       text NOT NULL,
  PRIMARY KEY (tenant_id, sequence)
);
CREATE INDEX events_by_run ON events (tenant_id, run_id, sequence);

CREATE TABLE event_tails (
  tenant_id       text PRIMARY KEY,
  first_sequence  bigint NOT NULL DEFAULT 1,
  last_sequence   bigint NOT NULL DEFAULT 0
);

-- Moves up to `p_limit` events from the inbox to the log. The row lock on the
-- tail admits one assigner per tenant; it is held to the end of the transaction,
-- so numbers become visible in their order.
CREATE FUNCTION assign_event_sequences(p_tenant text, p_limit integer)
RETURNS TABLE (assigned integer, last_sequence bigint)
LANGUAGE plpgsql AS $function$
DECLARE
  v_last bigint;
  v_count integer;
BEGIN
  INSERT INTO event_tails (tenant_id) VALUES (p_tenant) ON CONFLICT DO NOTHING;
  SELECT t.last_sequence INTO v_last FROM event_tails t WHERE t.tenant_id = p_tenant FOR UPDATE;
  WITH picked AS (
    SELECT i.event_id FROM event_inbox i
    WHERE i.tenant_id = p_tenant ORDER BY i.event_id LIMIT p_limit
  ), taken AS (
    DELETE FROM event_inbox i USING picked p
    WHERE i.tenant_id = p_tenant AND i.event_id = p.event_id
    RETURNING i.*
  )
  INSERT INTO events (tenant_id, sequence, agent_id, thread_id, run_id, kind, at, body)
  SELECT t.tenant_id, v_last + row_number() OVER (ORDER BY t.event_id),
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

-- For transactions of people and of the clock: one event, and a hint to whoever
-- assigns. Appends give no hint from SQL: a notifying transaction takes a lock of
-- the whole database cluster while it commits.
CREATE FUNCTION announce_event(
  p_tenant text, p_agent text, p_thread text, p_run text, p_kind text, p_body text)
RETURNS void
LANGUAGE sql AS $function$
  INSERT INTO event_inbox (tenant_id, agent_id, thread_id, run_id, kind, at, body)
  VALUES (p_tenant, p_agent, p_thread, p_run, p_kind, date_trunc('milliseconds', clock_timestamp()), p_body);
  SELECT pg_notify('effect_agent', 'inbox ' || p_tenant);
$function$;
