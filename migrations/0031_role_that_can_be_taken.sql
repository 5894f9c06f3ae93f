-- As in 0029. Since PostgreSQL 16 whoever makes a role is its member without the right to take it, until it is
-- granted: such an owner was told to be bound, and every command and read then failed at taking the role.
CREATE OR REPLACE FUNCTION tenant_role_state() RETURNS text
LANGUAGE plpgsql STABLE AS $function$
DECLARE
  v_right text := CASE WHEN current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER' END;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'effect_agent_tenant') THEN
    RETURN 'missing';
  ELSIF NOT pg_has_role('effect_agent_tenant', v_right) THEN
    RETURN 'not-ours';
  ELSIF NOT has_table_privilege('effect_agent_tenant', 'threads', 'UPDATE')
    OR NOT has_function_privilege('effect_agent_tenant', 'titles_like(text)', 'EXECUTE') THEN
    RETURN 'not-granted';
  END IF;
  RETURN 'bound';
END
$function$;
