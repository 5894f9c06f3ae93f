/**
 * Stage 2 (B-02): every name, then every parameter object, then the budgets, for
 * the whole batch and before anything of it starts. One refused call refuses
 * them all; the exception is a call of a native `return`-mode tool with invalid
 * parameters, which keeps its slot as a recorded rejection (F-06).
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import * as Tool from "effect/unstable/ai/Tool";
import { requiresHandler } from "#lib/agent/inspect-tools.ts";
import { AgentToolCallRejected } from "#lib/agent-error.ts";
import type { ToolCallId } from "#lib/contract/ids.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { ModelCodec } from "./ModelCodec.ts";
import type { RawCall } from "./model-response.ts";
import { decodeArguments, type DecodedArguments, rejectionResult } from "./ToolArguments.ts";

interface CheckedCallBase {
  readonly callId: ToolCallId;
  readonly index: number;
  readonly toolName: string;
  readonly tool: Tool.Any;
}

/** A call after preflight; only `executable` ones go on to approval. */
export type CheckedCall =
  | (CheckedCallBase & { readonly _tag: "executable"; readonly arguments: DecodedArguments })
  | (CheckedCallBase & {
      readonly _tag: "rejected";
      readonly parameters: Json;
      readonly encodedError: Json;
    })
  | (CheckedCallBase & { readonly _tag: "provider"; readonly parameters: Json });

export type ExecutableCall = Extract<CheckedCall, { readonly _tag: "executable" }>;

const checked: unique symbol = Symbol("CheckedBatch");

/** A batch that passed preflight; only this file can make one. */
export interface CheckedBatch {
  readonly [checked]: true;
  readonly calls: ReadonlyArray<CheckedCall>;
}

const rejected = (call: RawCall, reason: AgentToolCallRejected["reason"], message: string) =>
  new AgentToolCallRejected({ toolCallId: call.callId, toolName: call.toolName, reason, message });

/**
 * @param tools the registered toolkit
 * @param exposed the names that this response's request offered
 */
export const preflight = Effect.fnUntraced(function* (
  calls: ReadonlyArray<RawCall>,
  tools: Readonly<Record<string, Tool.Any>>,
  exposed: ReadonlyArray<string>,
  codec: ModelCodec["Service"],
): Effect.fn.Return<CheckedBatch, AgentToolCallRejected> {
  const offered = new Set(exposed);
  const named: Array<{ readonly call: RawCall; readonly tool: Tool.Any }> = [];
  for (const call of calls) {
    const tool = Object.hasOwn(tools, call.toolName) ? tools[call.toolName] : undefined;
    if (tool === undefined) {
      return yield* rejected(
        call,
        "unknown-tool",
        `The model called ${JSON.stringify(call.toolName.slice(0, 128))}, which is no tool of this agent. Nothing of its batch was started.`,
      );
    }
    if (!offered.has(call.toolName)) {
      return yield* rejected(
        call,
        "unexposed-tool",
        `The model called ${call.toolName}, which this request did not offer. Nothing of its batch was started.`,
      );
    }
    named.push({ call, tool });
  }
  const batch: Array<CheckedCall> = [];
  for (const [index, { call, tool }] of named.entries())
    batch.push(yield* check(call, tool, index, codec));
  return { [checked]: true, calls: batch };
});

const check = Effect.fnUntraced(function* (
  call: RawCall,
  tool: Tool.Any,
  index: number,
  codec: ModelCodec["Service"],
): Effect.fn.Return<CheckedCall, AgentToolCallRejected> {
  // completeResponse has checked the id's form (T-17), so the brand holds.
  const base = { callId: call.callId as ToolCallId, index, toolName: call.toolName, tool };
  const decoded = yield* decodeArguments(tool, call, codec);
  if (call.providerExecuted || !requiresHandler(tool)) {
    if (Result.isSuccess(decoded))
      return { _tag: "provider", parameters: decoded.success.parameters, ...base };
    return yield* rejected(
      call,
      "provider-parameters",
      `The provider executed ${call.toolName} with parameters that its schema refuses: ${decoded.failure.description}`,
    );
  }
  if (Result.isSuccess(decoded)) return { _tag: "executable", arguments: decoded.success, ...base };
  const { description, malformed, parameters } = decoded.failure;
  if (malformed) {
    return yield* rejected(
      call,
      "malformed-arguments",
      `The arguments of ${call.toolName} (call ${call.callId}) are not JSON: ${description}`,
    );
  }
  if (tool.failureMode !== "return") {
    return yield* rejected(
      call,
      "parameters",
      `The arguments of ${call.toolName} (call ${call.callId}) are invalid: ${description}`,
    );
  }
  return {
    _tag: "rejected",
    parameters,
    encodedError: yield* rejectionResult(tool, description),
    ...base,
  };
});
