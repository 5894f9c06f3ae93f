import { Effect } from "effect";
import type { ApprovalRequestContent } from "#lib/contract/approval.ts";
import {
  AgentId,
  ApprovalRequestId,
  Digest,
  RunId,
  ThreadId,
  ToolCallId,
} from "#lib/contract/ids.ts";
import type { Actor } from "#lib/contract/records.ts";

/** A request that says nothing special. */
export const aRequest = (
  callId: string,
  more: Partial<ApprovalRequestContent> = {},
): ApprovalRequestContent => ({
  requestId: ApprovalRequestId.make(`req-${callId}`),
  agentId: AgentId.make("desk"),
  threadId: ThreadId.make("t-1"),
  runId: RunId.make("r-1"),
  turnId: "r-1.1",
  turnNumber: 1,
  callId: ToolCallId.make(callId),
  toolName: "refund",
  parameters: {},
  effectiveParameters: {},
  parametersDigest: Digest.make("a".repeat(64)),
  targets: [],
  preview: {},
  previewSource: "structure",
  summary: "Run refund",
  risk: "medium",
  denial: "recoverable",
  requestedAt: 0,
  expiresAt: "never",
  approversRequired: 1,
  selfApproval: true,
  ...more,
});

export const person = (id: string): Actor => ({ kind: "operator", id, name: id });

/** Lets every fiber go on until it waits for time. */
export const settle = Effect.forEach(Array.from({ length: 60 }), () => Effect.yieldNow, {
  discard: true,
});
