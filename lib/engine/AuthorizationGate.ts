/**
 * Stage 4: code's answer (Z-03). Every executable call is checked in declaration
 * order, after approval and before any handler of the batch, and only this file
 * makes the `AuthorizedBatch` that the scheduler takes.
 */
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import { AgentToolAuthorizationDenied } from "#lib/agent-error.ts";
import { authorizeBatch } from "#lib/authorization/authorize-batch.ts";
import { buildAuthorizationRequest } from "#lib/authorization/build-request.ts";
import type { DiagnosticToStore } from "#lib/durable/Journal.ts";
import type { RecordOf } from "#lib/contract/records.ts";
import { denialIdOf } from "#lib/durable/derived-ids.ts";
import { failureSummary } from "#lib/failure-diagnostic.ts";
import type { ReadyCall } from "./run-handler.ts";
import { diagnose } from "./diagnose.ts";
import type { RunContext } from "./RunContext.ts";

const authorized: unique symbol = Symbol("AuthorizedBatch");

/** Calls that may start; nothing else can be scheduled. */
export interface AuthorizedBatch {
  readonly [authorized]: true;
  readonly calls: ReadonlyArray<ReadyCall>;
}

export type AuthorizationOutcome =
  | { readonly _tag: "authorized"; readonly batch: AuthorizedBatch }
  | {
      readonly _tag: "refused";
      readonly record: RecordOf<"AuthorizationDenied"> | RecordOf<"AuthorizationCheckFailed">;
      readonly diagnostics: ReadonlyArray<DiagnosticToStore>;
      /** The failure as it was, for an ephemeral caller's error channel (Z-08). */
      readonly cause: Cause.Cause<unknown>;
    }
  /** The policy broke: neither a denial nor a check error (Z-06). */
  | { readonly _tag: "defect"; readonly cause: Cause.Cause<unknown>; readonly callId: string };

const positionOf = (context: RunContext, turn: number, call: ReadyCall) => ({
  tenantId: context.tenantId,
  runId: context.runId,
  turn,
  callId: call.evidence.declared.callId,
});

const requestFor = (context: RunContext, turn: number, call: ReadyCall) => {
  const { declared } = call.evidence;
  return buildAuthorizationRequest(
    { threadId: context.threadId, runId: context.runId, turnId: `turn-${turn}`, turnNumber: turn },
    {
      input: context.input,
      call: {
        toolCallId: declared.callId,
        toolName: declared.toolName,
        parameters: call.effective,
        executionClass: declared.executionClass,
      },
      ...(declared.parentCallId === undefined
        ? {}
        : {
            programmatic: {
              parentToolCallId: declared.parentCallId,
              sequenceIndex: declared.index,
            },
          }),
    },
  );
};

/** Asks about each call in turn; interruption passes through untouched (Z-06). */
export const authorizeCalls = Effect.fnUntraced(function* (
  context: RunContext,
  turn: number,
  calls: ReadonlyArray<ReadyCall>,
): Effect.fn.Return<AuthorizationOutcome> {
  // Without a policy every call is allowed (Z-09); no question is made for nobody.
  const asked = context.authorization === undefined ? [] : calls;
  for (const call of asked) {
    const exit = yield* Effect.exit(
      authorizeBatch(context.authorization, [requestFor(context, turn, call)]),
    );
    if (Exit.isSuccess(exit)) continue;
    const failure = exit.cause.reasons.find(Cause.isFailReason);
    if (failure === undefined) {
      if (Cause.hasDies(exit.cause))
        return { _tag: "defect", cause: exit.cause, callId: call.evidence.declared.callId };
      return yield* Effect.failCause(exit.cause as Cause.Cause<never>); // interruption alone
    }
    return failure.error instanceof AgentToolAuthorizationDenied
      ? denied(context, turn, call, failure.error)
      : checkFailed(context, turn, call, exit.cause, failure.error);
  }
  return { _tag: "authorized", batch: { [authorized]: true, calls } };
});

const checkFailed = (
  context: RunContext,
  turn: number,
  call: ReadyCall,
  cause: Cause.Cause<unknown>,
  error: unknown,
): AuthorizationOutcome => {
  const position = positionOf(context, turn, call);
  const { declared } = call.evidence;
  const diagnostic = diagnose(position, "authorization-check", declared.toolName, cause);
  return {
    _tag: "refused",
    cause,
    diagnostics: [diagnostic],
    record: {
      _tag: "AuthorizationCheckFailed",
      runId: context.runId,
      turn,
      callId: declared.callId,
      toolName: declared.toolName,
      denialId: denialIdOf(position, "check-error"),
      message: failureSummary(error, "AgentToolAuthorizationCheckError").message.slice(0, 2_000),
      diagnosticId: diagnostic.diagnosticId,
    },
  };
};

const denied = (
  context: RunContext,
  turn: number,
  call: ReadyCall,
  error: AgentToolAuthorizationDenied,
): AuthorizationOutcome => {
  const position = positionOf(context, turn, call);
  const { declared } = call.evidence;
  const diagnostic =
    error.cause === undefined
      ? undefined
      : diagnose(
          position,
          "authorization-denial",
          declared.toolName,
          error.cause,
          // A policy's private cause is often a plain object; the reason is what the model is told too.
          `Denied: ${error.message}`,
        );
  return {
    _tag: "refused",
    cause: Cause.fail(error),
    diagnostics: diagnostic === undefined ? [] : [diagnostic],
    record: {
      _tag: "AuthorizationDenied",
      runId: context.runId,
      turn,
      callId: declared.callId,
      toolName: declared.toolName,
      denialId: denialIdOf(position, "denial"),
      reason: error.message,
      ...(diagnostic === undefined ? {} : { diagnosticId: diagnostic.diagnosticId }),
    },
  };
};
