/** One durable run with one outer call, taken up by process after process. */
import { Effect } from "effect";
import type { ExecutionClass } from "#lib/durable-step.ts";
import type { RunContext } from "#lib/engine/RunContext.ts";
import { ScriptedModel } from "#lib/testing/ScriptedModel.ts";
import {
  type Behaviour,
  call,
  makeDesk,
  makeHandlers,
  outerOnce,
  type Program,
} from "#tests/broker/desk.ts";
import {
  attempt,
  type CrashPoint,
  makeStore,
  openUnknowns,
  type Store,
} from "#tests/engine/durable-harness.ts";
import { resultsIn } from "#tests/engine/run-agent.ts";

/** A run whose one outer call is of this class; `next` is one attempt of it, as a new process. */
export const durableRun = (outerClass: ExecutionClass, program: Program, behave?: Behaviour) => {
  const desk = makeDesk({ outerClass });
  const handlers = makeHandlers(desk, program, behave);
  const store = makeStore();
  return {
    store,
    log: handlers.log,
    identities: handlers.identities,
    next: (more: { readonly crash?: CrashPoint; readonly context?: Partial<RunContext> } = {}) =>
      Effect.map(attempt(store, desk.agent, handlers.layer, more), (end) =>
        end._tag === "settled" ? `${end.settled.outcome} ${end.settled.finishReason}` : end._tag,
      ),
  };
};

export const told = Effect.map(
  Effect.flatMap(ScriptedModel, (model) => model.requests),
  (requests) => resultsIn(requests[1])[0]?.[1],
);
export const withModel = <A, E, R>(effect: Effect.Effect<A, E, R | ScriptedModel>) =>
  Effect.provide(effect, ScriptedModel.layer(outerOnce));

/** Loses its process in the named call, the first time only. */
export const losesOnce = (lost: string): Behaviour => {
  let times = 0;
  return (id, process) =>
    id === lost && times++ === 0 && process !== undefined
      ? process.lose
      : Effect.succeed(`did ${id}`);
};

export const unknownTools = (store: Store) => openUnknowns(store).map(({ toolName }) => toolName);
export const sendTwice: Program = (broker) =>
  Effect.gen(function* () {
    const one = yield* broker.invoke(call("send", "a"));
    const two = yield* broker.invoke(call("send", "b"));
    return `${String(one)}, ${String(two)}`;
  });
