-- What operators' commands write runs as a role that owns nothing, so that the
-- policies of 0009 hold for it: a command that forgot its tenant, or named another
-- one's rows, changes nothing (PG-05). That role can add to the journal and to the
-- audit log, and change neither.
--
-- A role belongs to the whole server, and making one needs CREATEROLE. Where this
-- database's owner may not, an administrator makes it once:
--   CREATE ROLE effect_agent_tenant NOLOGIN; GRANT effect_agent_tenant TO the_owner;
-- and the next start grants what it needs. Until then commands run as the owner.
CREATE FUNCTION grant_tenant_role() RETURNS void
LANGUAGE plpgsql AS $function$
BEGIN
  GRANT USAGE ON SCHEMA public TO effect_agent_tenant;
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO effect_agent_tenant;
  REVOKE UPDATE, DELETE ON journal_records, audit_log FROM effect_agent_tenant;
  ALTER DEFAULT PRIVILEGES IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO effect_agent_tenant;
END
$function$;

-- Whether the role is there, is ours to take, and has been granted the tables.
CREATE FUNCTION tenant_role_state() RETURNS text
LANGUAGE plpgsql STABLE AS $function$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'effect_agent_tenant') THEN
    RETURN 'missing';
  ELSIF NOT pg_has_role('effect_agent_tenant', 'MEMBER') THEN
    RETURN 'not-ours';
  ELSIF NOT has_table_privilege('effect_agent_tenant', 'threads', 'UPDATE') THEN
    RETURN 'not-granted';
  END IF;
  RETURN 'bound';
END
$function$;

-- From here to the end of the transaction: this tenant, and no owner's rights where
-- the role can be had.
CREATE FUNCTION act_for_tenant(p_tenant text) RETURNS void
LANGUAGE plpgsql AS $function$
BEGIN
  PERFORM set_config('effect_agent.tenant', p_tenant, true);
  IF tenant_role_state() = 'bound' THEN
    PERFORM set_config('role', 'effect_agent_tenant', true);
  END IF;
END
$function$;

DO $block$
BEGIN
  IF tenant_role_state() = 'missing' THEN
    CREATE ROLE effect_agent_tenant NOLOGIN;
    GRANT effect_agent_tenant TO CURRENT_USER;
  END IF;
EXCEPTION WHEN insufficient_privilege OR duplicate_object OR unique_violation THEN
  RAISE NOTICE 'The role effect_agent_tenant was not made here; the server says at its start what is missing.';
END
$block$;

DO $block$
BEGIN
  IF tenant_role_state() = 'not-granted' THEN
    PERFORM grant_tenant_role();
  END IF;
END
$block$;
