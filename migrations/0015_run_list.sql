-- The run list at a million runs (OP-07): each filter and each pair of filters is one ordered walk of an
-- index that carries both, so that a page and its count cost the same at the start, in the middle and at
-- the end. `server/views/run-walks.ts` says which walk answers which filters.
--
-- Every state change of a run writes an entry into each index of `runs`, so two indexes make room for
-- three: the agent's carries the state, and the failure's the state as well. A filter by agent alone is
-- a merge of the seven states.
CREATE INDEX runs_by_agent_and_state ON runs (tenant_id, agent_id, state, created_at DESC, run_id DESC);
DROP INDEX runs_by_agent;
CREATE INDEX runs_by_failure_and_state ON runs (tenant_id, failure_tag, state, created_at DESC, run_id DESC)
  WHERE failure_tag IS NOT NULL;
CREATE INDEX runs_by_failure_and_agent ON runs (tenant_id, failure_tag, agent_id, created_at DESC, run_id DESC)
  WHERE failure_tag IS NOT NULL;
DROP INDEX runs_by_failure;

-- What the tool filter is paired with stands beside the tool. The agent never changes; the outcome and
-- the failure come with the settlement, so an open run costs nothing here while it works. Open runs are
-- few: with one of their states the tool is looked up run by run.
ALTER TABLE run_tools ADD COLUMN agent_id text, ADD COLUMN outcome text, ADD COLUMN failure_tag text;
UPDATE run_tools t SET agent_id = r.agent_id,
  outcome = CASE WHEN r.settled_at IS NOT NULL THEN r.state END,
  failure_tag = CASE WHEN r.settled_at IS NOT NULL THEN r.failure_tag END
FROM runs r WHERE r.tenant_id = t.tenant_id AND r.run_id = t.run_id;
CREATE INDEX run_tools_by_agent ON run_tools (tenant_id, tool_name, agent_id, created_at DESC, run_id DESC);
CREATE INDEX run_tools_by_outcome ON run_tools (tenant_id, tool_name, outcome, created_at DESC, run_id DESC)
  WHERE outcome IS NOT NULL;
CREATE INDEX run_tools_by_failure ON run_tools (tenant_id, tool_name, failure_tag, created_at DESC, run_id DESC)
  WHERE failure_tag IS NOT NULL;
-- The settlement finds the tools of its run.
CREATE INDEX run_tools_by_run ON run_tools (tenant_id, run_id);

-- Titles, written once when a run is admitted: an index of them on `runs` itself would be written again
-- at every change of state.
CREATE TABLE run_titles (
  tenant_id   text NOT NULL,
  run_id      text NOT NULL,
  created_at  timestamptz NOT NULL,
  title       text NOT NULL,
  PRIMARY KEY (tenant_id, run_id)
);
INSERT INTO run_titles (tenant_id, run_id, created_at, title)
SELECT tenant_id, run_id, created_at, title FROM runs;

ALTER TABLE run_titles ENABLE ROW LEVEL SECURITY;
CREATE POLICY rows_of_one_tenant ON run_titles
  USING (tenant_id = current_setting('effect_agent.tenant', true))
  WITH CHECK (tenant_id = current_setting('effect_agent.tenant', true));

-- `pg_trgm` comes with PostgreSQL, but a database may lack it or refuse it: then the console looks
-- through the newest runs and says so. Whoever installs it later makes the index with the same statement.
DO $block$
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE INDEX run_titles_by_trigram ON run_titles USING gin (title gin_trgm_ops);
EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported OR undefined_object THEN
  RAISE NOTICE 'pg_trgm is not available: titles are searched in the newest runs only';
END
$block$;

CREATE FUNCTION write_run_title() RETURNS trigger
LANGUAGE plpgsql AS $function$
BEGIN
  INSERT INTO run_titles (tenant_id, run_id, created_at, title)
  VALUES (NEW.tenant_id, NEW.run_id, NEW.created_at, NEW.title);
  RETURN NULL;
END
$function$;
CREATE TRIGGER title_of_an_admitted_run AFTER INSERT ON runs
  FOR EACH ROW EXECUTE FUNCTION write_run_title();

-- One append can declare the first call of a tool and settle the run: then the run is settled already.
CREATE FUNCTION write_run_tool_facts() RETURNS trigger
LANGUAGE plpgsql AS $function$
BEGIN
  SELECT r.agent_id, CASE WHEN r.settled_at IS NOT NULL THEN r.state END,
    CASE WHEN r.settled_at IS NOT NULL THEN r.failure_tag END
  INTO NEW.agent_id, NEW.outcome, NEW.failure_tag
  FROM runs r WHERE r.tenant_id = NEW.tenant_id AND r.run_id = NEW.run_id;
  RETURN NEW;
END
$function$;
CREATE TRIGGER facts_of_a_run_tool BEFORE INSERT ON run_tools
  FOR EACH ROW EXECUTE FUNCTION write_run_tool_facts();

CREATE FUNCTION write_run_tool_outcome() RETURNS trigger
LANGUAGE plpgsql AS $function$
BEGIN
  UPDATE run_tools t SET outcome = NEW.state, failure_tag = NEW.failure_tag
  WHERE t.tenant_id = NEW.tenant_id AND t.run_id = NEW.run_id;
  RETURN NULL;
END
$function$;
CREATE TRIGGER outcome_of_a_settled_run AFTER UPDATE ON runs
  FOR EACH ROW WHEN (OLD.settled_at IS NULL AND NEW.settled_at IS NOT NULL)
  EXECUTE FUNCTION write_run_tool_outcome();
