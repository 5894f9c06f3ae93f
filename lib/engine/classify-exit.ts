/**
 * How a handler ended, in the words of the failure table (F-01 to F-05). Pure:
 * the same exit gives the same outcome.
 */
import * as Cause from "effect/Cause";
import * as Exit from "effect/Exit";
import * as Result from "effect/Result";
import * as AiError from "effect/unstable/ai/AiError";
import type * as Tool from "effect/unstable/ai/Tool";
import { AgentToolResultEncodingError } from "#lib/agent-error.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { toJson } from "#lib/contract/json/to-json.ts";
import type { FailureSummary } from "#lib/contract/records.ts";
import { failureSummary } from "#lib/failure-diagnostic.ts";
import { readSelection, selects } from "#lib/exposure/select.ts";
import { findUnknownOutcome } from "#lib/unknown-outcome.ts";

/** What a handler ended with. */
export interface HandlerFinal {
  readonly result: unknown;
  readonly encodedResult: unknown;
  readonly isFailure: boolean;
}

export type CallOutcome =
  | {
      readonly _tag: "succeeded";
      readonly result: Json;
      readonly selection: ReadonlyArray<string> | undefined;
    }
  /** A declared failure of a `return`-mode tool: the model sees it (F-02). */
  | {
      readonly _tag: "returned";
      readonly result: Json;
      readonly failure: FailureSummary;
      /** Private evidence of an error that was captured for a program (CM-07). */
      readonly evidence?: Cause.Cause<unknown>;
    }
  /** The run fails with this very cause (F-01, F-04). */
  | {
      readonly _tag: "propagated";
      readonly cause: Cause.Cause<unknown>;
      readonly failure: FailureSummary;
    }
  /** The handler says it does not know whether its effect happened (DU-04). */
  | { readonly _tag: "unsure"; readonly detail: string }
  | {
      readonly _tag: "defect";
      readonly cause: Cause.Cause<unknown>;
      readonly failure: FailureSummary;
    }
  | { readonly _tag: "interrupted" };

/** The run fails with this error. */
export const propagate = (error: unknown): CallOutcome => ({
  _tag: "propagated",
  cause: Cause.fail(error),
  failure: failureSummary(error, "ToolFailure"),
});

/** Void encodes to `undefined`, which JSON has no word for: the model sees `null` (T-05). */
const encodedJson = (encoded: unknown) =>
  encoded === undefined ? Result.succeed(null) : toJson(encoded);

const encodingError = (
  tool: Tool.Any,
  callId: string,
  reason: AgentToolResultEncodingError["reason"],
  message: string,
) => new AgentToolResultEncodingError({ toolCallId: callId, toolName: tool.name, reason, message });

const classifyFinal = (
  tool: Tool.Any,
  tools: Readonly<Record<string, Tool.Any>>,
  callId: string,
  final: HandlerFinal,
): CallOutcome => {
  const encoded = encodedJson(final.encodedResult);
  if (Result.isFailure(encoded)) {
    return propagate(
      encodingError(
        tool,
        callId,
        "not-json",
        `The result of ${tool.name} is not JSON: ${encoded.failure.message}`,
      ),
    );
  }
  if (final.isFailure) {
    return {
      _tag: "returned",
      result: encoded.success,
      failure: failureSummary(final.result, "ToolFailure"),
    };
  }
  if (!selects(tool)) return { _tag: "succeeded", result: encoded.success, selection: undefined };
  const selection = readSelection({ toolCallId: callId, toolName: tool.name }, final.result, tools);
  return Result.isFailure(selection)
    ? propagate(selection.failure)
    : { _tag: "succeeded", result: encoded.success, selection: selection.success };
};

const isEncodingFailure = (error: unknown): error is AiError.AiError =>
  AiError.isAiError(error) && error.reason._tag === "ToolResultEncodingError";

/**
 * @param exit what the handler ended with, or why it has not
 */
export const classifyExit = (
  tool: Tool.Any,
  tools: Readonly<Record<string, Tool.Any>>,
  callId: string,
  exit: Exit.Exit<HandlerFinal, unknown>,
): CallOutcome => {
  if (Exit.isSuccess(exit)) return classifyFinal(tool, tools, callId, exit.value);
  const unsure = findUnknownOutcome(exit.cause);
  if (unsure !== undefined) return { _tag: "unsure", detail: unsure.message };
  const failure = exit.cause.reasons.find(Cause.isFailReason);
  if (failure !== undefined) {
    return isEncodingFailure(failure.error)
      ? propagate(
          encodingError(
            tool,
            callId,
            tool.failureMode === "return" ? "undeclared-failure" : "schema",
            `The result of ${tool.name} does not encode with its declared schema.`,
          ),
        )
      : {
          _tag: "propagated",
          cause: exit.cause,
          failure: failureSummary(failure.error, "ToolFailure"),
        };
  }
  const defect = exit.cause.reasons.find(Cause.isDieReason);
  if (defect !== undefined) {
    return {
      _tag: "defect",
      cause: exit.cause,
      failure: {
        errorTag: "Defect",
        message: `The handler of ${tool.name} failed in a way it does not declare.`,
      },
    };
  }
  return { _tag: "interrupted" };
};
