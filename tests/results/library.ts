/** An agent whose tool gives a large log, and a model that pages through it. */
import { Effect, Layer, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import type { ReadOn } from "#lib/contract/json/bounded-result.ts";
import { TruncatedResult } from "#lib/contract/json/bounded-result.ts";
import {
  type RecordedRequest,
  text,
  toolCalls,
  type TurnScript,
} from "#lib/testing/ScriptedModel.ts";
import * as ToolResults from "#lib/tool-results.ts";
import { resultsIn } from "#tests/engine/run-agent.ts";

/** 156 KB of JSON text with all that makes cutting hard. */
export const log156 = Array.from(
  { length: 1_900 },
  (_, line) => `${line}: "größe" ß€👍 \\ \u0000 ${"x".repeat(line % 90)}`,
).join("\n");

export const ReadLog = Tool.make("read_log", { success: Schema.Any });
export const Gate = Tool.make("gate", { success: Schema.String, needsApproval: true });
export const own = Toolkit.make(ReadLog, Gate);

export const makeReader = (
  result: unknown,
  options: { readonly reads?: boolean; readonly policy?: Agent.RunPolicyOptions } = {},
) => {
  const reading = ToolResults.make();
  const definition = {
    input: Schema.String,
    output: Schema.String,
    instructions: "Read the log.",
    policy: { maxTurns: 100, maxToolCalls: 100, repeatedFailureLimit: 0, ...options.policy },
  };
  const handlers = Layer.merge(
    own.toLayer({ read_log: () => Effect.succeed(result), gate: () => Effect.succeed("open") }),
    reading.handlers,
  );
  return {
    agent: Agent.make("reader", {
      ...definition,
      toolkit: Toolkit.make(ReadLog, Gate, reading.tool),
    }),
    handlers,
    plain: Agent.make("plain", { ...definition, toolkit: own }),
  };
};

/** What the last result of a request is. */
export const lastResult = (request: RecordedRequest | undefined): unknown =>
  resultsIn(request).at(-1)?.[1];

const decodeEnvelope = Schema.decodeUnknownSync(TruncatedResult);
export const envelopeIn = (request: RecordedRequest | undefined) =>
  decodeEnvelope(lastResult(request));

export const readOnIn = (request: RecordedRequest | undefined): ReadOn => {
  const { readOn } = envelopeIn(request);
  if (readOn === undefined) throw new Error("The envelope does not say how to read on.");
  return readOn;
};

export const readCall = (params: unknown, id = "r"): ReturnType<typeof toolCalls> =>
  toolCalls([{ id, name: "read_tool_result", params }]);

const decodePage = Schema.decodeUnknownSync(ToolResults.ResultPage);

/** Reads on from the envelope of the call before it to the end, then answers; notes what it has read. */
export const pagingModel = (read: Array<string>, length?: number): ReadonlyArray<TurnScript> => {
  let resultId = "";
  const next = (request: RecordedRequest): ReturnType<typeof toolCalls> => {
    if (resultId === "") {
      const envelope = envelopeIn(request);
      read.push(envelope.head);
      resultId = envelope.readOn?.parameters.resultId ?? "none";
      return call(envelope.readOn?.parameters.offset ?? 0);
    }
    const page = decodePage(lastResult(request));
    read.push(page.text);
    return page.nextOffset === null ? text("read") : call(page.nextOffset);
  };
  const call = (offset: number) =>
    readCall({ resultId, offset, length: length ?? null }, `r${read.length}`);
  return Array.from({ length: 60 }, () => next);
};
