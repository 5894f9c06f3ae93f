import { assert, describe, it } from "@effect/vitest";
import { Cause, Clock, Effect, Exit, Fiber } from "effect";
import { TestClock } from "effect/testing";
import * as fc from "fast-check";
import { runScheduled } from "#lib/scheduling/Scheduler.ts";
import { type CallFact, type ModelCall, referenceSchedule } from "./reference-schedule.ts";

/**
 * Every call has its own bit in its latency, so that no two chains of calls end
 * at the same instant and the model needs no rule for ties.
 */
const latency = (index: number, base: number) => base * 65_536 + 2 ** index;
const closing = (index: number, base: number) => base * 65_536 + 16_384 + 2 ** index;

const batches = fc
  .array(
    fc.record({
      base: fc.integer({ min: 0, max: 5 }),
      closingBase: fc.integer({ min: 0, max: 3 }),
      outcome: fc.oneof(
        { weight: 8, arbitrary: fc.constant("ok" as const) },
        fc.constantFrom("fail" as const, "die" as const),
      ),
      barrier: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
    }),
    { maxLength: 12 },
  )
  .map((calls) =>
    calls.map((call, index): ModelCall => ({
      name: index,
      millis: latency(index, call.base),
      outcome: call.outcome,
      barrier: call.barrier,
      closingMillis: closing(index, call.closingBase),
    })),
  );

const settle = Effect.forEach(Array.from({ length: 60 }), () => Effect.yieldNow, { discard: true });

const byTimeThenName = (facts: ReadonlyArray<CallFact>) =>
  facts.toSorted((a, b) => a.at - b.at || a.name - b.name);

/** Runs a batch on virtual time, stopping the clock at every instant the model names. */
const execute = Effect.fnUntraced(function* (
  calls: ReadonlyArray<ModelCall>,
  concurrency: number,
  instants: ReadonlyArray<number>,
) {
  const facts: Array<CallFact> = [];
  const note = (name: number, what: CallFact["what"]) =>
    Effect.map(Clock.currentTimeMillis, (at) => void facts.push({ at, name, what }));
  const run = (call: ModelCall) =>
    note(call.name, "start").pipe(
      Effect.andThen(Effect.sleep(call.millis)),
      Effect.andThen(note(call.name, call.outcome)),
      Effect.andThen(
        call.outcome === "ok"
          ? Effect.succeed(call.name)
          : call.outcome === "fail"
            ? Effect.fail(call.name)
            : Effect.die(call.name),
      ),
      Effect.onInterrupt(() =>
        Effect.andThen(Effect.sleep(call.closingMillis), note(call.name, "closed")),
      ),
    );
  const fiber = yield* Effect.forkChild(
    Effect.flatMap(
      Effect.exit(runScheduled({ calls, concurrency, isBarrier: (call) => call.barrier, run })),
      (exit) => Effect.map(Clock.currentTimeMillis, (endsAt) => ({ exit, endsAt })),
    ),
  );
  yield* settle;
  for (const instant of [...instants].toSorted((a, b) => a - b)) {
    yield* TestClock.setTime(instant);
    yield* settle;
  }
  const ended = fiber.pollUnsafe();
  yield* Fiber.interrupt(fiber).pipe(Effect.forkChild);
  return { facts, ended };
});

const outcomeOf = (exit: Exit.Exit<ReadonlyArray<number>, number>) =>
  Exit.isSuccess(exit)
    ? "ok"
    : Cause.hasDies(exit.cause)
      ? "die"
      : Cause.hasFails(exit.cause)
        ? "fail"
        : "interrupted";

describe("runScheduled against the reference model", () => {
  it("[B-03][B-05][B-07][B-08][S-02] random batches start, end, fail and close exactly when the model says", async () => {
    await fc.assert(
      fc.asyncProperty(batches, fc.integer({ min: 1, max: 5 }), async (calls, concurrency) => {
        const expected = referenceSchedule(calls, concurrency);
        const program = execute(
          calls,
          concurrency,
          expected.facts.map((fact) => fact.at),
        );
        const { facts, ended } = await Effect.runPromise(
          Effect.provide(program, TestClock.layer()),
        );
        assert.deepStrictEqual(byTimeThenName(facts), byTimeThenName(expected.facts));
        assert.isTrue(
          ended !== undefined && Exit.isSuccess(ended),
          "the batch has not ended when the model's has",
        );
        if (ended === undefined || !Exit.isSuccess(ended)) return;
        assert.strictEqual(ended.value.endsAt, expected.endsAt);
        assert.strictEqual(outcomeOf(ended.value.exit), expected.outcome);
        if (Exit.isSuccess(ended.value.exit)) {
          assert.deepStrictEqual(
            ended.value.exit.value,
            calls.map((call) => call.name),
          );
        }
      }),
      { numRuns: 200 },
    );
  });
});
