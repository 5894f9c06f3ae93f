-- A proof pack holds refused acts too, and those name no run: they are found by what they were about.
-- Targets are ids; the cut only keeps an index entry from being too long.
CREATE INDEX audit_by_target ON audit_log (tenant_id, left(target, 200), sequence) WHERE run_id IS NULL;
