/** One outer tool whose program a test writes, and the tools it may call; what really happened is in `log`. */
import { Effect, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { CurrentToolCall, type ToolCallIdentity } from "#lib/current-tool-call.ts";
import { type ExecutionClass, ToolExecutionClass } from "#lib/durable-step.ts";
import type { RunPolicyOptions } from "#lib/agent/policy.ts";
import { text, toolCalls, type TurnScript } from "#lib/testing/ScriptedModel.ts";
import { ProgrammaticTools, type ProgrammaticToolsOptions, ToolBroker } from "#lib/tool-broker.ts";
import type { Process } from "#tests/engine/durable-harness.ts";
import { eventsOfKind, resultsIn, watch } from "#tests/engine/run-agent.ts";

export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  message: Schema.String,
}) {}

const parameters = Schema.Struct({ id: Schema.NonEmptyString });
const base = { parameters, success: Schema.String, failure: Refused } as const;

export const Look = Tool.make("look", base).annotate(ToolExecutionClass, "readonly");
export const Put = Tool.make("put", base).annotate(ToolExecutionClass, "idempotent");
export const Send = Tool.make("send", base);
export const Soft = Tool.make("soft", { ...base, failureMode: "return" });
export const Note = Tool.make("note", { parameters });
export const Gated = Tool.make("gated", { ...base, needsApproval: true });
export const Ruled = Tool.make("ruled", { ...base, needsApproval: () => false });
export const Count = Tool.make("count", {
  parameters: Schema.Struct({ from: Schema.FiniteFromString, by: Schema.optionalKey(Schema.Int) }),
  success: Schema.FiniteFromString,
});
export const Broken = Tool.make("broken", { parameters, success: Schema.Any });
export const Alien = Tool.make("alien", base);

const inner = [Look, Put, Send, Soft, Note, Gated, Ruled, Count, Broken] as const;
const names = inner.map((tool) => tool.name);

/** What the program of the outer tool does; its value becomes the outer call's result as text. */
export type Program = (
  broker: Effect.Success<typeof ToolBroker>,
) => Effect.Effect<unknown, unknown>;

export const makeDesk = (
  options: {
    readonly outerClass?: ExecutionClass;
    readonly allow?: ProgrammaticToolsOptions;
    readonly policy?: RunPolicyOptions;
  } = {},
) => {
  const Outer = Tool.make("outer", { success: Schema.String, failure: Schema.Unknown })
    .annotate(ToolExecutionClass, options.outerClass ?? "uncertain")
    .annotate(ProgrammaticTools, options.allow ?? { toolNames: names });
  const toolkit = Toolkit.make(Outer, Alien, ...inner);
  const agent = Agent.make("desk", {
    input: Schema.String,
    output: Schema.String,
    instructions: "Go.",
    toolkit,
    policy: { repeatedFailureLimit: 0, maxToolCalls: 100, ...options.policy },
  });
  return { agent, toolkit };
};

/** How a handler behaves, by the id it is called with; everything else succeeds. */
export type Behaviour = (
  id: string,
  process: Process | undefined,
) => Effect.Effect<string, Refused>;

export const makeHandlers = (
  desk: ReturnType<typeof makeDesk>,
  program: Program,
  behave: Behaviour = (id) => Effect.succeed(`did ${id}`),
) => {
  const log: Array<string> = [];
  const identities: Array<ToolCallIdentity> = [];
  const layer = (process?: Process) => {
    const act =
      (tool: string) =>
      ({ id }: { readonly id: string }) =>
        Effect.gen(function* () {
          const call = yield* CurrentToolCall;
          if (call !== undefined) identities.push(call);
          log.push(`${tool} ${id}`);
          return yield* behave(id, process);
        });
    return desk.toolkit.toLayer({
      outer: () =>
        Effect.gen(function* () {
          log.push("outer");
          const value = yield* program(yield* ToolBroker);
          return typeof value === "string" ? value : JSON.stringify(value);
        }),
      alien: act("alien"),
      look: act("look"),
      put: act("put"),
      send: act("send"),
      soft: act("soft"),
      note: (params) => Effect.asVoid(Effect.orDie(act("note")(params))),
      gated: act("gated"),
      ruled: act("ruled"),
      count: ({ by = 1, from }) => Effect.succeed(from + by),
      broken: () => Effect.succeed(10n),
    });
  };
  return { layer, log, identities };
};

/** The model calls the outer tool once, and answers. */
export const outerOnce: ReadonlyArray<TurnScript> = [
  toolCalls([{ id: "o", name: "outer" }]),
  text("done"),
];

export const call = (toolName: string, id: string) => ({ toolName, encodedArguments: { id } });

/** Runs the program as the one outer call of a run; `told` is what the model reads of it. */
export const runProgram = (
  program: Program,
  options: {
    readonly desk?: Parameters<typeof makeDesk>[0];
    readonly behave?: Parameters<typeof makeHandlers>[2];
    readonly run?: Parameters<typeof watch>[3];
  } = {},
) =>
  Effect.gen(function* () {
    const desk = makeDesk(options.desk);
    const handlers = makeHandlers(desk, program, options.behave);
    const run = yield* watch(desk.agent, handlers.layer(), outerOnce, options.run);
    return {
      ...run,
      ...handlers,
      told: resultsIn(run.requests[1])[0]?.[1],
      starts: eventsOfKind(run.events, "ToolCallStarted"),
      declared: eventsOfKind(run.events, "ToolCallDeclared"),
      failed: eventsOfKind(run.events, "ToolCallFailed"),
    };
  });

/** The failure of an inner call as a value, as a program would catch it. */
export const caught = <A>(
  effect: Effect.Effect<A, { readonly _tag: string; readonly message: string }>,
) =>
  Effect.match(effect, {
    onSuccess: (value): unknown => value,
    onFailure: (error) => ({ ...error, _tag: error._tag, message: error.message }) as unknown,
  });
