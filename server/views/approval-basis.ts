/** What a pending call would be judged by at this moment, for its page and for the decision itself. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { approvalRuleWords } from "#lib/approval/approval-basis.ts";
import type { ApprovalBasis, ApprovalRequestContent } from "#lib/contract/approval.ts";
import type { TenantId } from "#lib/contract/ids.ts";
import type { StoredApproval } from "#lib/durable/Approvals.ts";
import { decodeRows } from "./snapshot.ts";
import { type StandingRequest, ToolSchemas } from "#server/operator/ToolSchemas.ts";

export interface BasisRequest extends StandingRequest {
  readonly toolCalls: number;
  readonly expiresAt: number | null;
}

export const readBasis = Effect.fnUntraced(function* (request: BasisRequest) {
  const schemas = yield* ToolSchemas;
  const { maxToolCalls, ...standing } = yield* schemas.standingOf(request);
  return {
    ...standing,
    callsLeft: Math.max(0, maxToolCalls - request.toolCalls),
    expiresAt: request.expiresAt,
  } satisfies ApprovalBasis;
});

const Facts = Schema.Struct({
  toolCalls: Schema.Int,
  /** Canonical text of the run's input. */
  input: Schema.fromJsonString(Schema.Json),
});

/** The same for a stored request that waits, in the caller's transaction. */
export const readPendingBasis = Effect.fnUntraced(function* (
  tenantId: TenantId,
  row: Pick<StoredApproval, "agentId" | "toolName" | "threadId" | "runId" | "turn" | "expiresAt">,
) {
  const sql = yield* SqlClient;
  const [facts] = yield* decodeRows(Facts)(sql`
    SELECT r.tool_calls AS "toolCalls", s.input FROM runs r JOIN submissions s
      ON s.tenant_id = r.tenant_id AND s.submission_id = r.submission_id
    WHERE r.tenant_id = ${tenantId} AND r.run_id = ${row.runId}`);
  return yield* readBasis({
    ...row,
    toolCalls: facts?.toolCalls ?? 0,
    input: facts?.input ?? null,
  });
});

/** The basis as it was when the call was asked for, as far as it was recorded; what was not is as now. */
export const basisWhenAsked = (
  now: ApprovalBasis,
  asked: {
    readonly content: ApprovalRequestContent;
    readonly toolDigest: ApprovalBasis["toolDigest"];
    readonly definitionDigest: ApprovalBasis["definitionDigest"];
  },
): ApprovalBasis => ({
  ...now,
  toolDigest: asked.toolDigest,
  definitionDigest: asked.definitionDigest,
  approvalRule: approvalRuleWords(asked.content),
  // It was declared by a model that was offered the tool.
  visibility: "visible",
  expiresAt: asked.content.expiresAt === "never" ? null : asked.content.expiresAt,
});
