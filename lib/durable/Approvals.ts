/**
 * Requests that people answer. A request comes into being and
 * is delivered by journal records; in between, this port is the only place where
 * it changes: decided once, extended, or expired by the store's clock. A run hears
 * of a decision through `SubmissionLedger.claim`, once.
 */
import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type * as Option from "effect/Option";
import type {
  ApprovalRefusal,
  ApprovalToJudge,
  ApprovalVerdict,
} from "#lib/approval/judge-approval.ts";
import type { ApprovalAlreadyDecided, InvalidInput, NotFound } from "#lib/contract/errors.ts";
import type {
  AgentId,
  ApprovalRequestId,
  Digest,
  RunId,
  TenantId,
  ThreadId,
  ToolCallId,
} from "#lib/contract/ids.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { Actor } from "#lib/contract/records.ts";
import type { StoreError } from "./StoreError.ts";

/** A request as it stands, its `now` by the store's clock. */
export interface StoredApproval extends ApprovalToJudge {
  readonly requestId: ApprovalRequestId;
  readonly runId: RunId;
  readonly threadId: ThreadId;
  readonly agentId: AgentId;
  readonly turn: number;
  readonly callId: ToolCallId;
  readonly toolName: string;
  readonly summary: string;
  readonly parametersDigest: Digest;
}

export interface ApprovalAnswer {
  readonly tenantId: TenantId;
  readonly requestId: ApprovalRequestId;
  readonly actor: Actor;
  readonly decision: "approved" | "denied";
  /** Of what the person saw; another one is refused. */
  readonly parametersDigest: Digest;
  readonly reason: string;
  /** Other arguments for the model, checked by the tool's own decoder; with a denial only. */
  readonly suggestion?: Json;
  /** Kept with the decision; null where no command made it. */
  readonly commandId: string | null;
}

export class Approvals extends Context.Service<
  Approvals,
  {
    readonly find: (request: {
      readonly tenantId: TenantId;
      readonly requestId: ApprovalRequestId;
    }) => Effect.Effect<Option.Option<StoredApproval>, StoreError>;
    /** Every request of a run in the order of its turns and calls, at most 1,000. */
    readonly ofRun: (request: {
      readonly tenantId: TenantId;
      readonly runId: RunId;
    }) => Effect.Effect<ReadonlyArray<StoredApproval>, StoreError>;
    /**
     * Judges the answer by `judgeApproval` and stores what it means, in the caller's
     * transaction where there is one: a vote, or the decision and its event. Of two
     * who answer at once one is first, and the other hears who.
     *
     * @returns the request as it was before, and what the answer meant
     */
    readonly decide: (
      answer: ApprovalAnswer,
    ) => Effect.Effect<
      { readonly before: StoredApproval; readonly verdict: ApprovalVerdict },
      ApprovalRefusal | NotFound | StoreError
    >;
    /** Moves the expiry of a pending request to `seconds` from the store's now; never to an earlier time. */
    readonly extend: (request: {
      readonly tenantId: TenantId;
      readonly requestId: ApprovalRequestId;
      readonly actor: Actor;
      readonly seconds: number;
    }) => Effect.Effect<
      { readonly before: StoredApproval; readonly expiresAt: number },
      ApprovalAlreadyDecided | InvalidInput | NotFound | StoreError
    >;
    /**
     * Expires what has passed by the store's clock, at most `limit` (1 to 1,000), with
     * an event and an audit row each.
     *
     * @returns the threads to wake
     */
    readonly expire: (
      limit: number,
    ) => Effect.Effect<
      ReadonlyArray<{ readonly tenantId: TenantId; readonly threadId: ThreadId }>,
      StoreError
    >;
  }
>()("effect-agent/durable/Approvals") {}
