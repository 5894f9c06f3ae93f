/**
 * A small agent to run for real in memory: the real runtime, the real toolkit,
 * a scripted model, and handlers that write down what they did.
 */
import { Effect, Exit, Layer, Schema, Stream } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import type { RunEvent } from "#lib/contract/events.ts";
import { ToolExecutionClass } from "#lib/durable-step.ts";
import * as AgentRuntime from "#lib/engine/AgentRuntime.ts";
import type { RunOptions } from "#lib/run-options.ts";
import {
  type RecordedRequest,
  ScriptedModel,
  type TurnScript,
  toolResultsOf,
} from "#lib/testing/ScriptedModel.ts";
import type { ApprovalRuleOptions } from "#lib/tool-approval.ts";
import { approvalRule } from "#lib/tool-approval.ts";

export class RefundRefused extends Schema.TaggedError<RefundRefused>()("RefundRefused", {
  message: Schema.String,
}) {}

export const Lookup = Tool.make("lookup", {
  parameters: Schema.Struct({ orderId: Schema.NonEmptyString }),
  success: Schema.String,
  failure: RefundRefused,
  failureMode: "return",
}).annotate(ToolExecutionClass, "readonly");

export const Refund = Tool.make("refund", {
  parameters: Schema.Struct({ orderId: Schema.String, amount: Schema.FiniteFromString }),
  success: Schema.String,
  failure: RefundRefused,
  needsApproval: true,
});

export type RefundParameters = Tool.Parameters<typeof Refund>;

/** What a test may decide about the desk. */
export interface Desk<E = never, R = never> {
  readonly turns: ReadonlyArray<TurnScript>;
  readonly rule?: ApprovalRuleOptions<RefundParameters>;
  readonly needsApproval?: Tool.NeedsApproval<typeof Refund.parametersSchema>;
  readonly refund?: (parameters: RefundParameters) => Effect.Effect<string, RefundRefused>;
  readonly lookup?: (orderId: string) => Effect.Effect<string, RefundRefused>;
  readonly options?: RunOptions<E, R>;
  readonly policy?: Agent.AgentOptions<typeof Schema.String, typeof Schema.String, {}>["policy"];
}

/** What a run left behind. */
export interface DeskRun {
  readonly exit: Exit.Exit<string, unknown>;
  readonly events: ReadonlyArray<RunEvent>;
  readonly requests: ReadonlyArray<RecordedRequest>;
  /** `lookup W1` and `refund W1 120`, when a handler starts. */
  readonly handled: ReadonlyArray<string>;
}

/** Runs the desk once; every failure of the run is in `exit`. */
export const runDesk = <E = never, R = never>(desk: Desk<E, R>): Effect.Effect<DeskRun, never, R> =>
  Effect.gen(function* () {
    const handled: Array<string> = [];
    const gated =
      desk.needsApproval === undefined ? Refund : Refund.setNeedsApproval(desk.needsApproval);
    const toolkit = Toolkit.make(Lookup, approvalRule(gated, desk.rule ?? {}));
    const agent = Agent.make("desk", {
      input: Schema.String,
      output: Schema.String,
      instructions: "Help the customer.",
      toolkit,
      policy: { maxToolCalls: 1_000, ...desk.policy },
    });
    const handlers = toolkit.toLayer({
      lookup: ({ orderId }) =>
        Effect.suspend(() => {
          handled.push(`lookup ${orderId}`);
          return desk.lookup?.(orderId) ?? Effect.succeed(`order ${orderId}`);
        }),
      refund: (parameters) =>
        Effect.suspend(() => {
          handled.push(`refund ${parameters.orderId} ${parameters.amount}`);
          return desk.refund?.(parameters) ?? Effect.succeed("refunded");
        }),
    });
    return yield* Effect.gen(function* () {
      const run = yield* AgentRuntime.start(agent, "Where is my money?", desk.options ?? {});
      const [events, exit] = yield* Effect.all(
        [Stream.runCollect(run.events), Effect.exit(run.await)],
        {
          concurrency: 2,
        },
      );
      const requests = yield* (yield* ScriptedModel).requests;
      return { exit: Exit.map(exit, ({ output }) => output), events, requests, handled };
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(handlers, ScriptedModel.layer(desk.turns))));
  });

/** The events of one kind. */
export const eventsOf = <Tag extends RunEvent["_tag"]>(
  run: Pick<DeskRun, "events">,
  tag: Tag,
): ReadonlyArray<Extract<RunEvent, { readonly _tag: Tag }>> =>
  run.events.filter(
    (event): event is Extract<RunEvent, { readonly _tag: Tag }> => event._tag === tag,
  );

/** What the model reads of its calls in one request: id, failure flag and result. */
export const readResults = (request: RecordedRequest | undefined) =>
  request === undefined
    ? []
    : toolResultsOf(request.prompt).map(({ id, isFailure, result }) => ({ id, isFailure, result }));

/** The typed error a run failed with. */
export const errorOf = (run: DeskRun): unknown => {
  if (Exit.isSuccess(run.exit)) return undefined;
  const fail = run.exit.cause.reasons.find((reason) => reason._tag === "Fail");
  return fail?._tag === "Fail" ? fail.error : undefined;
};

/** Lets every fiber go on until it waits for time. */
export const settle = Effect.forEach(Array.from({ length: 200 }), () => Effect.yieldNow, {
  discard: true,
});
