import { assert, describe, it } from "@effect/vitest";
import { Cause, Clock, Effect, Exit, Fiber, Schema, Stream } from "effect";
import { TestClock } from "effect/testing";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as fc from "fast-check";
import * as Agent from "#lib/agent/Agent.ts";
import * as AgentRuntime from "#lib/engine/AgentRuntime.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { seeded } from "#tests/support/seeded.ts";
import type { CallFact } from "#tests/scheduling/reference-schedule.ts";
import {
  type ExpectedRun,
  type PlannedCall,
  type PlannedRun,
  referenceRun,
} from "./reference-run.ts";
import { errorTagOf, resultsIn, terminalEvents } from "./run-agent.ts";

const parameters = Schema.Struct({ name: Schema.Int });
const Broken = Schema.Struct({ name: Schema.Int });
const Work = Tool.make("work", { parameters, success: Schema.String, failure: Broken });
const Barrier = Tool.make("barrier", { parameters, success: Schema.String, failure: Broken });
const Soft = Tool.make("soft", {
  parameters,
  success: Schema.String,
  failure: Broken,
  failureMode: "return",
});
const toolkit = Toolkit.make(Work, Barrier, Soft);
const agentWith = (toolConcurrency: number) =>
  Agent.make("random", {
    input: Schema.String,
    output: Schema.String,
    instructions: "Go.",
    toolkit,
    policy: { toolConcurrency, repeatedFailureLimit: 0, maxDurationMillis: 86_400_000 },
  });
const agents = [1, 2, 3, 4, 5].map(agentWith);

/** Latencies, closing times and the interruption have a bit of their own each, so that no two instants are equal. */
const call = fc.record({
  tool: fc.constantFrom("work" as const, "work" as const, "soft" as const, "barrier" as const),
  base: fc.integer({ min: 0, max: 4 }),
  closingBase: fc.integer({ min: 0, max: 3 }),
  outcome: fc.oneof(
    { weight: 8, arbitrary: fc.constant("ok" as const) },
    { weight: 2, arbitrary: fc.constant("fail" as const) },
    { weight: 1, arbitrary: fc.constant("die" as const) },
  ),
  arguments: fc.oneof(
    { weight: 40, arbitrary: fc.constant("valid" as const) },
    { weight: 3, arbitrary: fc.constant("invalid" as const) },
    { weight: 1, arbitrary: fc.constant("unknown-tool" as const) },
  ),
});
const plans = fc
  .record({
    batches: fc.array(fc.array(call, { minLength: 1, maxLength: 6 }), {
      minLength: 1,
      maxLength: 2,
    }),
    policy: fc.integer({ min: 1, max: 5 }),
    override: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
    interruptBase: fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined, freq: 3 }),
  })
  .map(({ batches, interruptBase, override, policy }) => {
    let index = 0;
    const plan: PlannedRun = {
      concurrency: Math.min(policy, override ?? policy),
      interruptAt: interruptBase === undefined ? undefined : interruptBase * 65_536 + 8_192,
      batches: batches.map((batch) =>
        batch.map(({ base, closingBase, ...rest }): PlannedCall => {
          const bit = 2 ** index;
          return {
            ...rest,
            name: index++,
            millis: base * 65_536 + bit,
            closingMillis: closingBase * 65_536 + 16_384 + bit,
          };
        }),
      ),
    };
    return { plan, policy, override };
  });

const script = (plan: PlannedRun) => [
  ...plan.batches.map((batch) =>
    toolCalls(
      batch.map((one) => ({
        id: `c${one.name}`,
        name: one.arguments === "unknown-tool" ? "nobody" : one.tool,
        params: { name: one.arguments === "invalid" ? "no number" : one.name },
      })),
    ),
  ),
  text("done"),
];

/** Lets everything that is due happen, until `isReached` and a little longer, so that what must not happen is seen. */
const settleUntil = Effect.fnUntraced(function* (isReached: () => boolean) {
  for (let turn = 0; turn < 2_000 && !isReached(); turn++) yield* Effect.yieldNow;
  for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow;
});

/** Runs a plan on virtual time, stopping the clock at every instant that the reference names. */
const execute = Effect.fnUntraced(function* (
  plan: PlannedRun,
  policy: number,
  override: number | undefined,
  expected: ExpectedRun,
) {
  const facts: Array<CallFact> = [];
  const calls = plan.batches.flat();
  const note = (name: number, what: CallFact["what"]) =>
    Effect.map(Clock.currentTimeMillis, (at) => void facts.push({ at, name, what }));
  const handle = Effect.fnUntraced(function* ({ name }: { readonly name: number }) {
    const planned = calls[name];
    if (planned === undefined) return yield* Effect.die(new Error(`nobody called ${name}`));
    yield* note(name, "start");
    return yield* Effect.sleep(planned.millis).pipe(
      Effect.andThen(note(name, planned.outcome)),
      Effect.andThen(
        planned.outcome === "ok"
          ? Effect.succeed(`r${name}`)
          : planned.outcome === "fail"
            ? Effect.fail({ name })
            : Effect.die(new Error(`d${name}`)),
      ),
      Effect.onInterrupt(() =>
        Effect.andThen(Effect.sleep(planned.closingMillis), note(name, "closed")),
      ),
    );
  });
  const agent = agents[policy - 1] ?? agentWith(policy);
  return yield* Effect.gen(function* () {
    const handleOfRun = yield* AgentRuntime.start(agent, "go", {
      scheduling: {
        override:
          override === undefined
            ? { mode: "concurrent", max: 256 }
            : override === 1
              ? { mode: "sequential" }
              : { mode: "concurrent", max: override },
        toolRequiresSequential: (name) => name === "barrier",
      },
    });
    const events = yield* Effect.forkChild(Stream.runCollect(handleOfRun.events));
    const ending = yield* Effect.forkChild(
      Effect.flatMap(Effect.exit(handleOfRun.await), (exit) =>
        Effect.map(Clock.currentTimeMillis, (endsAt) => ({ exit, endsAt })),
      ),
    );
    const instants = new Set([...expected.facts.map(({ at }) => at), expected.endsAt]);
    const interruptAt = expected.interrupts ? plan.interruptAt : undefined;
    if (interruptAt !== undefined) instants.add(interruptAt);
    const dueBy = (instant: number) => expected.facts.filter(({ at }) => at <= instant).length;
    for (const instant of [0, ...instants].toSorted((left, right) => left - right)) {
      yield* TestClock.setTime(instant);
      yield* settleUntil(() => facts.length >= dueBy(instant));
      if (instant === interruptAt) yield* Effect.forkChild(handleOfRun.interrupt);
    }
    yield* settleUntil(() => ending.pollUnsafe() !== undefined);
    const ended = ending.pollUnsafe();
    assert.isDefined(ended, "the run has not ended when the reference's has");
    const { endsAt, exit } = yield* Fiber.join(ending);
    const { requests } = yield* ScriptedModel;
    return { facts, endsAt, exit, events: yield* Fiber.join(events), requests: yield* requests };
  }).pipe(
    Effect.scoped,
    Effect.provide([
      toolkit.toLayer({ work: handle, barrier: handle, soft: handle }),
      ScriptedModel.layer(script(plan), { chunkSize: 64 }),
    ]),
    Effect.provide(TestClock.layer()),
  );
});

const outcomeOf = (exit: Exit.Exit<unknown, unknown>): ExpectedRun["outcome"] => {
  if (Exit.isSuccess(exit)) return "completed";
  if (Cause.hasInterruptsOnly(exit.cause)) return "interrupted";
  if (Cause.hasDies(exit.cause)) return "defect";
  const error = Cause.squash(exit.cause);
  const run = { events: [], exit: Exit.void as never, error, requests: [] };
  return errorTagOf(run) === "AgentToolCallRejected" ? "refused" : "failed";
};

const byTimeThenName = (facts: ReadonlyArray<CallFact>) =>
  facts.toSorted((left, right) => left.at - right.at || left.name - right.name);

describe("whole runs against the reference model", () => {
  it(
    "[B-01][B-02][B-03][B-05][B-06][B-07][B-08][F-01][F-02][F-06][S-01][S-02][RT-02] random batches, latencies, failures, barriers, interruptions and limits do exactly what the rules say",
    { timeout: 120_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(plans, async ({ override, plan, policy }) => {
          const expected = referenceRun(plan);
          const run = await Effect.runPromise(execute(plan, policy, override, expected));
          assert.deepStrictEqual(byTimeThenName(run.facts), byTimeThenName(expected.facts));
          assert.strictEqual(outcomeOf(run.exit), expected.outcome);
          assert.strictEqual(run.endsAt, expected.endsAt);
          if (expected.outcome === "failed" && Exit.isFailure(run.exit))
            assert.deepStrictEqual(Cause.squash(run.exit.cause), { name: expected.endedBy });
          // The model reads every result of a complete batch, in declaration order, and of no other batch.
          assert.deepStrictEqual(
            run.requests.slice(1).map((request) => {
              const shown = resultsIn(request).map(([id, result, isFailure]) => ({
                name: Number(id.slice(1)),
                kind: !isFailure
                  ? "ok"
                  : typeof result === "object" && result !== null && "reason" in result
                    ? "rejected"
                    : "fail",
              }));
              return shown;
            }),
            expected.requests.map((_, turn) => expected.requests.slice(0, turn + 1).flat()),
          );
          const settled = run.events.flatMap((event) =>
            event._tag === "ToolCallSucceeded" || event._tag === "ToolCallFailed"
              ? [Number(event.callId.slice(1))]
              : [],
          );
          assert.deepStrictEqual(settled, [...expected.settled]);
          assert.strictEqual(terminalEvents(run.events).length, 1);
          assert.strictEqual(run.events.at(-1), terminalEvents(run.events)[0]);
        }),
        {
          ...seeded("whole runs and the reference model", Number(process.env["FC_RUNS"] ?? 2_000)),
          // A counterexample that is slow to shrink is told as it is then, before the test's own time is over.
          interruptAfterTimeLimit: 100_000,
          markInterruptAsFailure: true,
        },
      );
    },
  );
});
