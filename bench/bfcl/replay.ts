/** Replays one case: its expected calls are one scripted model response, run by the real runtime. */
import { isDeepStrictEqual } from "node:util";
import * as Effect from "effect/Effect";
import * as Predicate from "effect/Predicate";
import * as Schema from "effect/Schema";
import * as Stream from "effect/Stream";
import * as Toolkit from "effect/unstable/ai/Toolkit";
import * as Agent from "#lib/agent/Agent.ts";
import type { RunEvent } from "#lib/contract/events.ts";
import * as AgentRuntime from "#lib/engine/AgentRuntime.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import type { Case } from "./cases.ts";
import { toolOf } from "./published-schema.ts";

/**
 * What became of one expected call. `changed` must never happen: the handler got something else. An optional
 * argument that is `null` reaches the handler as one that is absent (R41), which is what Python's `None` says there.
 */
export type CallReport =
  | { readonly _tag: "accepted"; readonly nullsAbsent: boolean }
  | { readonly _tag: "refused"; readonly reason: string }
  | { readonly _tag: "changed"; readonly reason: string };

const withoutNulls = (parameters: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== null));

const callIdOf = (index: number): string => `call_${index}`;

/** What the model is told about a refused call: the description inside the encoded error. */
const rejectionText = (result: unknown): string | undefined => {
  const reason = Predicate.hasProperty(result, "reason") ? result.reason : undefined;
  return Predicate.hasProperty(reason, "description") && typeof reason.description === "string"
    ? reason.description.replaceAll("\n", "; ")
    : undefined;
};

const reasonOf = (events: ReadonlyArray<RunEvent>, callId: string): string => {
  for (const event of events) {
    if (event._tag !== "ToolCallFailed" || event.callId !== callId) continue;
    return rejectionText(event.result) ?? event.failure?.message ?? "no reason given";
  }
  const end = events.find((event) => event._tag === "RunFailed");
  return end === undefined ? "The call has no event that says how it ended." : end.failure.message;
};

/** Runs the calls as one batch; one report per expected call, in order. */
export const replayCase = Effect.fnUntraced(function* (
  one: Case,
): Effect.fn.Return<ReadonlyArray<CallReport>> {
  const received = new Map<string, Array<unknown>>();
  const tools = one.functions.map(toolOf);
  const toolkit = Toolkit.make(...tools);
  const handlers = toolkit.toLayer(
    Object.fromEntries(
      tools.map(({ name }) => [
        name,
        (parameters: unknown, { toolCallId = "" }: { readonly toolCallId?: string | undefined }) =>
          Effect.sync(() => {
            received.set(toolCallId, [...(received.get(toolCallId) ?? []), parameters]);
            return "done";
          }),
      ]),
    ),
  );
  const agent = Agent.make("bfcl", {
    input: Schema.String,
    output: Schema.String,
    instructions: "Answer by calling tools.",
    toolkit,
    policy: { maxToolCalls: Math.max(1, one.calls.length), repeatedFailureLimit: 0 },
  });
  const script = toolCalls(
    one.calls.map(({ name, parameters }, index) => ({
      id: callIdOf(index),
      name,
      params: parameters,
    })),
  );
  const events = yield* Effect.gen(function* () {
    const handle = yield* AgentRuntime.start(agent, one.id);
    return yield* Stream.runCollect(handle.events);
  }).pipe(Effect.scoped, Effect.provide([handlers, ScriptedModel.layer([script, text("done")])]));
  return one.calls.map(({ parameters }, index): CallReport => {
    const got = received.get(callIdOf(index)) ?? [];
    if (got.length === 0) return { _tag: "refused", reason: reasonOf(events, callIdOf(index)) };
    if (got.length === 1 && isDeepStrictEqual(got[0], parameters))
      return { _tag: "accepted", nullsAbsent: false };
    if (got.length === 1 && isDeepStrictEqual(got[0], withoutNulls(parameters)))
      return { _tag: "accepted", nullsAbsent: true };
    return {
      _tag: "changed",
      reason: `expected ${JSON.stringify(parameters)}, the handler got ${JSON.stringify(got)}`,
    };
  });
});
