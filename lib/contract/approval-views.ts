/** What the API shows of approvals: the queue's rows and the page of one request. */
import * as Schema from "effect/Schema";
import { ApprovalBasis, ApprovalRequestContent, BasisChange } from "./approval.ts";
import {
  AgentId,
  ApprovalRequestId,
  EpochMillis,
  OperatorId,
  RunId,
  Sequence,
  ThreadId,
  ToolCallId,
} from "./ids.ts";
import { Actor } from "./records.ts";
import { ApprovalState, CallState, ExecutionClass, Risk } from "./status.ts";

export const ApprovalListItem = Schema.Struct({
  requestId: ApprovalRequestId,
  runId: RunId,
  agentId: AgentId,
  threadId: ThreadId,
  runTitle: Schema.String,
  turn: Schema.Int,
  callId: ToolCallId,
  toolName: Schema.String,
  summary: Schema.String,
  risk: Risk,
  state: ApprovalState,
  requester: Schema.String,
  /** Calls of the same batch that wait for a decision, this one included. */
  batchPending: Schema.Int,
  requestedAt: EpochMillis,
  expiresAt: Schema.NullOr(EpochMillis),
  decidedAt: Schema.NullOr(EpochMillis),
  decidedBy: Schema.NullOr(Schema.String),
});
export type ApprovalListItem = typeof ApprovalListItem.Type;

/** Somebody who has the request open, and until when that is believed without hearing from them. */
export const ApprovalLooker = Schema.Struct({
  operatorId: OperatorId,
  name: Schema.String,
  until: EpochMillis,
});
export type ApprovalLooker = typeof ApprovalLooker.Type;

/** One person's approval of a request that needs several. */
export const ApproverView = Schema.Struct({
  operatorId: OperatorId,
  name: Schema.String,
  reason: Schema.String,
  at: EpochMillis,
});
export type ApproverView = typeof ApproverView.Type;

export const ApprovalDetail = Schema.Struct({
  ...ApprovalListItem.fields,
  content: ApprovalRequestContent,
  reason: Schema.NullOr(Schema.String),
  /** Arguments that a denial suggested to the model. */
  suggestion: Schema.NullOr(Schema.Json),
  decision: Schema.NullOr(Actor),
  /** People who have approved so far, earliest first, where more than one must; and how many still must. */
  approvers: Schema.Array(ApproverView),
  approversMissing: Schema.Int,
  /** Others who read the request at this moment. */
  lookers: Schema.Array(ApprovalLooker),
  /** What the call would be judged by now; sent back with an approval. */
  basis: ApprovalBasis,
  /** What of it is not as it was when the call was asked for. */
  changedSinceAsked: Schema.Array(BasisChange),
  /** Delivery tracker: decided, recorded, delivered to the worker, effect result. */
  delivery: Schema.Struct({
    decidedAt: Schema.NullOr(EpochMillis),
    recordedAt: Schema.NullOr(EpochMillis),
    deliveredAt: Schema.NullOr(EpochMillis),
    effectAt: Schema.NullOr(EpochMillis),
    effect: Schema.NullOr(CallState),
  }),
  /** The whole batch in declaration order, with what each call waits for. */
  batch: Schema.Array(
    Schema.Struct({
      index: Schema.Int,
      callId: ToolCallId,
      toolName: Schema.String,
      state: CallState,
      needsApproval: Schema.Boolean,
      requestId: Schema.NullOr(ApprovalRequestId),
      summary: Schema.String,
      executionClass: ExecutionClass,
    }),
  ),
  /** Words of the receipt: a short fingerprint of tool, contract version and exact arguments. */
  fingerprint: Schema.String,
  /** What ran, compared with what was approved; null until the effect is known. */
  receipt: Schema.NullOr(Schema.Literals(["ran-as-approved", "refused-changed"])),
  /** The event of the decision, where the log has it: what people saw is one event earlier. */
  moment: Schema.optionalKey(Sequence),
  mayDecide: Schema.Struct({ allowed: Schema.Boolean, why: Schema.String }),
  serverTime: EpochMillis,
});
export type ApprovalDetail = typeof ApprovalDetail.Type;
