/** Tools of every execution class, whose calls can take their process with them. */
import { Effect, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { CurrentToolCall } from "#lib/current-tool-call.ts";
import { ToolExecutionClass } from "#lib/durable-step.ts";
import type { RunContext } from "#lib/engine/RunContext.ts";
import { ScriptedModel, type TurnScript } from "#lib/testing/ScriptedModel.ts";
import { unknownOutcome } from "#lib/unknown-outcome.ts";
import {
  attempt,
  type CrashPoint,
  type Process,
  type Store,
} from "#tests/engine/durable-harness.ts";

export const options = { success: Schema.String } as const;

export const Look = Tool.make("look", options).annotate(ToolExecutionClass, "readonly");

export const Put = Tool.make("put", options).annotate(ToolExecutionClass, "idempotent");

export const Send = Tool.make("send", options);

export const Ask = Tool.make("ask", { ...options, needsApproval: true });

export const Break = Tool.make("break", { failure: Schema.String });

export const toolkit = Toolkit.make(Look, Put, Send, Ask, Break);

export const makeAgent = (
  toolConcurrency = 2,
  more: Toolkit.Toolkit<typeof toolkit.tools> = toolkit,
) =>
  Agent.make("keeper", {
    input: Schema.String,
    output: Schema.String,
    instructions: "Go.",
    toolkit: more,
    policy: { toolConcurrency, maxToolCalls: 100 },
  });

export const call = (id: string, name: string) => ({ id, name });

/** Handlers that note their calls and end as the test says for each call id. */
export const makeKeeper = (
  behaviour: Readonly<Record<string, "lose" | "unsure" | "never-sure" | "wait">> = {},
) => {
  const log: Array<string> = [];
  const keys: Array<string> = [];
  const layer = (process: Process) => {
    const handle = Effect.gen(function* () {
      const { callId, idempotencyKey } = (yield* CurrentToolCall) ?? {
        callId: "?",
        idempotencyKey: "?",
      };
      log.push(callId);
      keys.push(idempotencyKey);
      const isFirst = log.filter((entry) => entry === callId).length === 1;
      if (isFirst && behaviour[callId] === "lose") {
        // Its siblings get as far as they can first.
        for (let turn = 0; turn < 50; turn++) yield* Effect.yieldNow;
        return yield* process.lose;
      }
      if ((isFirst && behaviour[callId] === "unsure") || behaviour[callId] === "never-sure")
        return yield* unknownOutcome("The request was sent; no answer came.");
      if (isFirst && behaviour[callId] === "wait") return yield* Effect.never;
      return `did ${callId}`;
    });
    return toolkit.toLayer({
      look: () => handle,
      put: () => handle,
      send: () => handle,
      ask: () => handle,
      break: () => Effect.fail("broken"),
    });
  };
  return { layer, log, keys };
};

export type Keeper = ReturnType<typeof makeKeeper>;

export const next = (
  store: Store,
  keeper: Keeper,
  more: {
    readonly crash?: CrashPoint;
    readonly context?: Partial<RunContext>;
    readonly concurrency?: number;
  } = {},
) => attempt(store, makeAgent(more.concurrency), keeper.layer, more);

export const withModel =
  (...script: ReadonlyArray<TurnScript>) =>
  <A, E>(effect: Effect.Effect<A, E, ScriptedModel | Effect.Services<ReturnType<typeof next>>>) =>
    Effect.provide(effect, ScriptedModel.layer(script));

export const requests = Effect.flatMap(ScriptedModel, (model) => model.requests);

export const outcomeOf = (end: Effect.Success<ReturnType<typeof next>>) =>
  end._tag === "settled" ? end.settled.outcome : end._tag;

export const idsOf = (records: ReadonlyArray<{ readonly callId: string }>) =>
  records.map(({ callId }) => callId);
