import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import type * as Tool from "effect/unstable/ai/Tool";
import { AgentToolResultEncodingError, ModelProtocolError } from "#lib/agent-error.ts";
import { toJson } from "#lib/contract/json/to-json.ts";
import { type CallOutcome, propagate } from "./classify-exit.ts";

/**
 * The declared failure of an `error`-mode tool as a program gets it: captured in
 * its own encoding in place of ending the run (CM-07). What is no declared failure
 * stays what it is: an encoding failure still ends the run (F-04), a defect stays a
 * defect (F-03).
 */
export const captureFailure = (
  tool: Tool.Any,
  callId: string,
  outcome: CallOutcome,
): Effect.Effect<CallOutcome> => {
  if (outcome._tag !== "propagated") return Effect.succeed(outcome);
  const error = outcome.cause.reasons.find(Cause.isFailReason)?.error;
  if (error instanceof AgentToolResultEncodingError || error instanceof ModelProtocolError)
    return Effect.succeed(outcome);
  // Services that a failure's codec may need are in the run's context, which `Tool.Any` does not show.
  const schema = tool.failureSchema as unknown as Schema.ConstraintCodec<unknown, unknown>;
  return Effect.map(Effect.result(Schema.encodeUnknownEffect(schema)(error)), (encoded) => {
    const json = Result.flatMap(encoded, toJson);
    return Result.isSuccess(json)
      ? {
          _tag: "returned",
          result: json.success,
          failure: outcome.failure,
          evidence: outcome.cause,
        }
      : propagate(
          new AgentToolResultEncodingError({
            toolCallId: callId,
            toolName: tool.name,
            reason: "undeclared-failure",
            message: `A failure of ${tool.name} does not encode with its declared schema.`,
          }),
        );
  });
};
