/** One ephemeral run of a scripted model, watched from its first event to its exit. */
import { Cause, Effect, Exit, Fiber, type Layer, Stream } from "effect";
import { TestClock } from "effect/testing";
import type { Tool } from "effect/unstable/ai";
import type * as Agent from "#lib/agent/Agent.ts";
import type { EventOf, RunEvent } from "#lib/contract/events.ts";
import * as AgentRuntime from "#lib/engine/AgentRuntime.ts";
import type { RunOptions } from "#lib/run-options.ts";
import {
  ScriptedModel,
  type ScriptedModelOptions,
  toolResultsOf,
  type TurnScript,
} from "#lib/testing/ScriptedModel.ts";
import type { RecordedRequest } from "#lib/testing/ScriptedModel.ts";

export interface WatchedRun {
  readonly events: ReadonlyArray<RunEvent>;
  readonly exit: Exit.Exit<AgentRuntime.RunResult<unknown>, unknown>;
  /** What the run failed with; undefined when it completed. */
  readonly error: unknown;
  readonly requests: ReadonlyArray<RecordedRequest>;
}

export const errorTagOf = (run: WatchedRun): string | undefined => {
  const { error } = run;
  if (typeof error !== "object" || error === null || !("_tag" in error)) return undefined;
  return String(error._tag);
};

/** Runs `agent` on "go" and collects everything an outsider can see. */
export const watch = <Tools extends Record<string, Tool.Any>, E = never>(
  agent: Agent.Definition<Agent.DataSchema, Agent.DataSchema, Tools>,
  handlers: Layer.Layer<Tool.HandlersFor<Tools>>,
  script: ReadonlyArray<TurnScript>,
  options: { readonly run?: RunOptions<E>; readonly model?: ScriptedModelOptions } = {},
) =>
  Effect.gen(function* () {
    const handle = yield* AgentRuntime.start(agent, "go", options.run ?? {});
    const events = yield* Stream.runCollect(handle.events);
    const exit = yield* Effect.exit(handle.await);
    const requests = yield* Effect.flatMap(ScriptedModel, (model) => model.requests);
    const watched: WatchedRun = {
      events,
      exit,
      error: Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined,
      requests,
    };
    return watched;
  }).pipe(Effect.scoped, Effect.provide([handlers, ScriptedModel.layer(script, options.model)]));

/** Lets virtual time pass in small steps until the effect is done. */
export const inVirtualTime = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  stepMillis = 10,
  steps = 400,
) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect);
    for (let step = 0; step < steps && fiber.pollUnsafe() === undefined; step++) {
      yield* TestClock.adjust(stepMillis);
      // Whatever the passed time woke goes on until it waits again.
      for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow;
    }
    return yield* Fiber.join(fiber);
  });

export const eventsOfKind = <Tag extends RunEvent["_tag"]>(
  events: ReadonlyArray<RunEvent>,
  tag: Tag,
): ReadonlyArray<EventOf<Tag>> =>
  events.filter((event): event is EventOf<Tag> => event._tag === tag);

const terminal: ReadonlySet<RunEvent["_tag"]> = new Set([
  "RunCompleted",
  "RunFailed",
  "RunAborted",
  "RunInterrupted",
  "RunSuspended",
]);

export const terminalEvents = (events: ReadonlyArray<RunEvent>): ReadonlyArray<RunEvent> =>
  events.filter((event) => terminal.has(event._tag));

/** Ids and results of the tool results a request carries, in the order the model reads them. */
export const resultsIn = (
  request: RecordedRequest | undefined,
): ReadonlyArray<readonly [string, unknown, boolean]> =>
  request === undefined
    ? []
    : toolResultsOf(request.prompt).map((part) => [part.id, part.result, part.isFailure] as const);
