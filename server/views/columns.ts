/** Pieces of SQL that many views share. Only constants of this repository go in: they are not escaped. */

/** A timestamp as whole milliseconds since the epoch; null stays null. */
export const millis = (column: string): string =>
  `trunc(extract(epoch FROM ${column}) * 1000)::float8`;

/** Every column of a run that its list row shows, of `runs AS r`. */
export const runListColumns = `
  r.run_id AS "runId", r.thread_id AS "threadId", r.submission_id AS "submissionId",
  r.agent_id AS "agentId", r.state, r.title, r.failure_tag AS "failureTag",
  r.requester_name AS requester, r.turns, r.tool_calls AS "toolCalls",
  (SELECT count(*)::int4 FROM approval_requests a
    WHERE a.tenant_id = r.tenant_id AND a.run_id = r.run_id AND a.state = 'pending') AS "pendingApprovals",
  (SELECT count(*)::int4 FROM unknown_outcomes u
    WHERE u.tenant_id = r.tenant_id AND u.run_id = r.run_id AND u.state = 'open') AS "openUnknowns",
  r.input_tokens::float8 AS "inputTokens", r.output_tokens::float8 AS "outputTokens",
  ${millis("r.created_at")} AS "createdAt", ${millis("r.started_at")} AS "startedAt",
  ${millis("r.settled_at")} AS "settledAt"`;
