-- A request, doubt, denial or diagnostic is asked for by an id of its own, which is a digest and leads to no
-- run. Of those of a run that was put away this says which run it was, so that they answer as the run does.
CREATE TABLE archived_items (
  tenant_id  text NOT NULL,
  item_id    text NOT NULL,
  run_id     text NOT NULL,
  PRIMARY KEY (tenant_id, item_id)
);
CREATE INDEX archived_items_by_run ON archived_items (tenant_id, run_id);

-- Of runs that went before: what the audit, which stays, still tells of.
INSERT INTO archived_items (tenant_id, item_id, run_id)
  SELECT DISTINCT ON (l.tenant_id, l.target) l.tenant_id, l.target, l.run_id
  FROM archived_runs r JOIN audit_log l ON l.tenant_id = r.tenant_id AND l.run_id = r.run_id
  WHERE l.target ~ '^(apr|unk|den|dia)_[0-9a-f]{32}$'
  ORDER BY l.tenant_id, l.target, l.sequence;

ALTER TABLE archived_items ENABLE ROW LEVEL SECURITY;
CREATE POLICY rows_of_one_tenant ON archived_items
  USING (tenant_id = current_setting('effect_agent.tenant', true))
  WITH CHECK (tenant_id = current_setting('effect_agent.tenant', true));
