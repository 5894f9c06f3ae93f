-- What the console reads runs below the row policies too, as operators' commands do since 0016: a read that
-- forgot its tenant sees nothing of another one (PG-05). Below a policy PostgreSQL uses an index only for
-- operators that cannot leak what they compare, so all ordered walks keep theirs; the search of titles
-- (ILIKE) and the two stabs into spans (&&) would read their whole tables instead: 39 ms for 4, and 32 for
-- 5, at 60,000 rows.
--
-- These three look-ups run as their owner and ask for the transaction's tenant themselves. They give keys
-- only, so whatever is shown of a row is read below the policies again. Nobody may call them but the role.
-- Each is planned with the values that it is called with.
CREATE FUNCTION titles_like(p_pattern text) RETURNS TABLE (created_at timestamptz, run_id text)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 100 SET search_path = public, pg_temp AS $function$
BEGIN
  RETURN QUERY EXECUTE
    'SELECT t.created_at, t.run_id FROM run_titles t WHERE t.tenant_id = $1 AND t.title ILIKE $2'
    USING current_setting('effect_agent.tenant', true), p_pattern;
END
$function$;

CREATE FUNCTION approvals_open_near(p_from timestamptz, p_to timestamptz) RETURNS TABLE (request_id text)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 100 SET search_path = public, pg_temp AS $function$
BEGIN
  RETURN QUERY EXECUTE
    'SELECT a.request_id FROM approval_requests a WHERE a.tenant_id = $1
       AND tstzrange(least(a.requested_at, a.decided_at), a.decided_at, ''[]'') && tstzrange($2, $3, ''[]'')'
    USING current_setting('effect_agent.tenant', true), p_from, p_to;
END
$function$;

CREATE FUNCTION unknowns_open_near(p_from timestamptz, p_to timestamptz) RETURNS TABLE (unknown_id text)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 100 SET search_path = public, pg_temp AS $function$
BEGIN
  RETURN QUERY EXECUTE
    'SELECT u.unknown_id FROM unknown_outcomes u WHERE u.tenant_id = $1
       AND tstzrange(least(u.unknown_at, u.resolved_at), u.resolved_at, ''[]'') && tstzrange($2, $3, ''[]'')'
    USING current_setting('effect_agent.tenant', true), p_from, p_to;
END
$function$;

REVOKE ALL ON FUNCTION titles_like(text), approvals_open_near(timestamptz, timestamptz),
  unknowns_open_near(timestamptz, timestamptz) FROM PUBLIC;

CREATE OR REPLACE FUNCTION grant_tenant_role() RETURNS void
LANGUAGE plpgsql AS $function$
BEGIN
  GRANT USAGE ON SCHEMA public TO effect_agent_tenant;
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO effect_agent_tenant;
  REVOKE UPDATE, DELETE ON journal_records, audit_log, kept_results FROM effect_agent_tenant;
  GRANT EXECUTE ON FUNCTION titles_like(text), approvals_open_near(timestamptz, timestamptz),
    unknowns_open_near(timestamptz, timestamptz) TO effect_agent_tenant;
  ALTER DEFAULT PRIVILEGES IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO effect_agent_tenant;
END
$function$;

CREATE OR REPLACE FUNCTION tenant_role_state() RETURNS text
LANGUAGE plpgsql STABLE AS $function$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'effect_agent_tenant') THEN
    RETURN 'missing';
  ELSIF NOT pg_has_role('effect_agent_tenant', 'MEMBER') THEN
    RETURN 'not-ours';
  ELSIF NOT has_table_privilege('effect_agent_tenant', 'threads', 'UPDATE')
    OR NOT has_function_privilege('effect_agent_tenant', 'titles_like(text)', 'EXECUTE') THEN
    RETURN 'not-granted';
  END IF;
  RETURN 'bound';
END
$function$;

DO $block$
BEGIN
  IF tenant_role_state() = 'not-granted' THEN
    PERFORM grant_tenant_role();
  END IF;
END
$block$;
