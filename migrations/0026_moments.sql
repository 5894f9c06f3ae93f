-- The queues as they were after an event (CONSOLE, "see what they saw"): what was open at a time is a stab
-- into spans, which no ordered index answers. What was asked and decided is then put in the log's own order
-- by the events about people, which are few; other events are in none of these indexes.
--
-- Written once when a call is asked about or doubted and when that ends: one run in ten, none of the rows
-- that an append writes for every turn or call. A clock that was ahead gives no span that ends before it begins.
CREATE INDEX approvals_by_span ON approval_requests
  USING gist (tstzrange(least(requested_at, decided_at), decided_at, '[]'));
CREATE INDEX unknowns_by_span ON unknown_outcomes
  USING gist (tstzrange(least(unknown_at, resolved_at), resolved_at, '[]'));
CREATE INDEX events_about_people ON events (tenant_id, run_id, sequence)
  WHERE kind IN ('ApprovalRequested', 'ApprovalDecided', 'ApprovalCounted', 'ApprovalExtended', 'ApprovalLookedAt',
    'ToolCallUnknown', 'UnknownProbed', 'UnknownResolved', 'AbortRequested', 'DenialAcknowledged');
