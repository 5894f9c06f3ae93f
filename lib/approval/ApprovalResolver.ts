/**
 * Who answers approval requests of an ephemeral run.
 */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import type { ApprovalPolicyError } from "#lib/agent-error.ts";

/** An answer to one request (`A-06`); `unresolved` = nobody could decide. */
export type ApprovalDecision =
  | { readonly _tag: "approved"; readonly resolver?: string; readonly reason?: string }
  | { readonly _tag: "denied"; readonly resolver?: string; readonly reason?: string }
  | { readonly _tag: "unresolved" };

/** The requests of one batch, all at once (`A-11`). */
export interface ApprovalResolverShape {
  readonly resolve: (
    requests: ReadonlyArray<{
      readonly requestId: string;
      readonly toolName: string;
      readonly callId: string;
    }>,
  ) => Effect.Effect<ReadonlyArray<ApprovalDecision>, ApprovalPolicyError>;
}

/** Decides the approval requests of ephemeral runs; by default nobody does (`A-06`). */
export const ApprovalResolver = Context.Reference<ApprovalResolverShape>(
  "effect-agent/approval/ApprovalResolver",
  {
    defaultValue: () => ({
      resolve: (requests) => Effect.succeed(requests.map(() => ({ _tag: "unresolved" as const }))),
    }),
  },
);
