/**
 * Who answers approval requests while a run waits in memory. Durable runs do not
 * wait in memory: their requests are rows that the console answers (`A-08`).
 */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import type { ApprovalPolicyError } from "#lib/agent-error.ts";
import type { ApprovalRequestContent } from "#lib/contract/approval.ts";
import type { Actor } from "#lib/contract/records.ts";

/**
 * An answer to one request (`A-06`). `unresolved` = nobody could decide. Every
 * approver is named, so that a tool can ask for more than one.
 */
export type ApprovalDecision =
  | {
      readonly _tag: "approved";
      readonly approvers: readonly [Actor, ...ReadonlyArray<Actor>];
      readonly reason?: string;
    }
  | { readonly _tag: "denied"; readonly actor: Actor; readonly reason: string }
  | { readonly _tag: "unresolved" };

/** Answers a batch. */
export interface ApprovalResolverShape {
  /**
   * Gets every request of one batch at once (`A-11`) and answers each, in the same
   * order. Fails only when it cannot decide for reasons of its own; the requests
   * then stay unresolved (`A-10`).
   */
  readonly resolve: (
    requests: ReadonlyArray<ApprovalRequestContent>,
  ) => Effect.Effect<ReadonlyArray<ApprovalDecision>, ApprovalPolicyError>;
}

/** Answers approval requests of ephemeral runs; by default nobody does (`A-06`). */
export const ApprovalResolver = Context.Reference<ApprovalResolverShape>(
  "effect-agent/approval/ApprovalResolver",
  {
    defaultValue: () => ({
      resolve: (requests) => Effect.succeed(requests.map(() => ({ _tag: "unresolved" as const }))),
    }),
  },
);
