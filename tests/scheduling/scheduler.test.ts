import { assert, describe, it } from "@effect/vitest";
import { Cause, Deferred, Effect, Exit, Fiber, Metric, Option, Ref } from "effect";
import { TestClock } from "effect/testing";
import { runScheduled } from "#lib/scheduling/Scheduler.ts";

/** Runs named calls of given milliseconds and writes down what happens. */
const observed = (log: Array<string>, millis: Record<string, number>) => (call: string) =>
  Effect.sync(() => log.push(`+${call}`)).pipe(
    Effect.andThen(Effect.sleep(millis[call] ?? 1)),
    Effect.tap(() => Effect.sync(() => log.push(`-${call}`))),
    Effect.as(call.toUpperCase()),
    Effect.onInterrupt(() => Effect.sync(() => log.push(`!${call}`))),
  );

const settle = Effect.forEach(Array.from({ length: 40 }), () => Effect.yieldNow, { discard: true });
/** Moves virtual time in small steps, so that every wake-up is seen at its own time. */
const pass = (millis: number) =>
  Effect.forEach(
    Array.from({ length: millis }),
    () => Effect.andThen(TestClock.adjust(1), settle),
    { discard: true },
  );

const noBarrier = () => false;

describe("runScheduled", () => {
  it.effect("[B-05] results come in declaration order although calls end in reverse", () =>
    Effect.gen(function* () {
      const log: Array<string> = [];
      const fiber = yield* Effect.forkChild(
        runScheduled({
          calls: ["a", "b", "c"],
          concurrency: 3,
          isBarrier: noBarrier,
          run: observed(log, { a: 9, b: 6, c: 3 }),
        }),
      );
      yield* pass(10);
      assert.deepStrictEqual(yield* Fiber.join(fiber), ["A", "B", "C"]);
      assert.deepStrictEqual(log.slice(3), ["-c", "-b", "-a"]);
    }),
  );

  it.effect("[S-02][R27] a barrier overlaps nothing, and its neighbours overlap on each side", () =>
    Effect.gen(function* () {
      const log: Array<string> = [];
      const fiber = yield* Effect.forkChild(
        runScheduled({
          calls: ["r1", "r2", "M", "r3", "r4"],
          concurrency: 4,
          isBarrier: (call) => call === "M",
          run: observed(log, { r1: 2, r2: 4, M: 3, r3: 2, r4: 1 }),
        }),
      );
      yield* pass(12);
      assert.deepStrictEqual(yield* Fiber.join(fiber), ["R1", "R2", "M", "R3", "R4"]);
      assert.deepStrictEqual(log, [
        "+r1",
        "+r2",
        "-r1",
        "-r2",
        "+M",
        "-M",
        "+r3",
        "+r4",
        "-r4",
        "-r3",
      ]);
    }),
  );

  it.effect("[B-03][R22] 200 calls at concurrency 3 never have more than three open", () =>
    Effect.gen(function* () {
      let open = 0;
      let most = 0;
      const run = (call: number) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            open += 1;
            most = Math.max(most, open);
          }),
          () => Effect.as(Effect.yieldNow, call),
          () => Effect.sync(() => (open -= 1)),
        );
      const calls = Array.from({ length: 200 }, (_, index) => index);
      const results = yield* runScheduled({ calls, concurrency: 3, isBarrier: noBarrier, run });
      assert.deepStrictEqual(results, calls);
      assert.strictEqual(most, 3);
      assert.strictEqual(open, 0);
    }),
  );

  it.effect("[B-04] 1,000 calls behind two blocked handlers own no more fibers than 10 do", () =>
    Effect.gen(function* () {
      const fibersWhileBlocked = Effect.fnUntraced(function* (queued: number) {
        let live = 0;
        const counting: Metric.FiberRuntimeMetricsService = {
          recordFiberStart: () => void (live += 1),
          recordFiberEnd: () => void (live -= 1),
        };
        const gate = yield* Deferred.make<void>();
        const started = yield* Ref.make(0);
        const fiber = yield* Effect.forkChild(
          runScheduled({
            calls: Array.from({ length: queued + 2 }, (_, index) => index),
            concurrency: 2,
            isBarrier: noBarrier,
            run: () =>
              Effect.andThen(
                Ref.update(started, (n) => n + 1),
                Deferred.await(gate),
              ),
          }),
        ).pipe(Effect.provideService(Metric.FiberRuntimeMetrics, counting));
        yield* settle;
        assert.strictEqual(yield* Ref.get(started), 2);
        const whileBlocked = live;
        yield* Deferred.succeed(gate, undefined);
        yield* Fiber.join(fiber);
        assert.strictEqual(yield* Ref.get(started), queued + 2);
        assert.strictEqual(live, 0);
        return whileBlocked;
      });
      const few = yield* fibersWhileBlocked(10);
      const many = yield* fibersWhileBlocked(1000);
      assert.strictEqual(many, few);
      assert.isAtMost(many, 5);
    }),
  );

  it.effect(
    "[B-08][R25] a failure interrupts the running siblings, waits for their finalizers and starts no other",
    () =>
      Effect.gen(function* () {
        const log: Array<string> = [];
        const run = (call: string) =>
          call === "bad"
            ? Effect.andThen(Effect.sleep(3), Effect.fail({ _tag: "PaymentRefused" as const }))
            : observed(log, { slow: 100 })(call).pipe(
                Effect.ensuring(
                  Effect.andThen(
                    Effect.sleep(5),
                    Effect.sync(() => log.push(`closed ${call}`)),
                  ),
                ),
              );
        const fiber = yield* Effect.forkChild(
          Effect.exit(
            runScheduled({
              calls: ["slow", "bad", "never"],
              concurrency: 2,
              isBarrier: noBarrier,
              run,
            }),
          ),
        );
        yield* pass(5);
        assert.deepStrictEqual(log, ["+slow", "!slow"]);
        assert.isUndefined(fiber.pollUnsafe());
        yield* pass(5);
        const exit = yield* Fiber.join(fiber);
        assert.deepStrictEqual(log, ["+slow", "!slow", "closed slow"]);
        assert.isTrue(Exit.isFailure(exit));
        if (Exit.isFailure(exit)) {
          assert.deepStrictEqual(Option.getOrThrow(Cause.findErrorOption(exit.cause)), {
            _tag: "PaymentRefused",
          });
        }
      }),
  );

  it.effect(
    "[F-03] a defect stays a defect and a call's own interruption stays an interruption",
    () =>
      Effect.gen(function* () {
        const batch = (bad: Effect.Effect<string>) =>
          Effect.exit(
            runScheduled({
              calls: ["x", "y"],
              concurrency: 2,
              isBarrier: noBarrier,
              run: (call) => (call === "y" ? bad : Effect.never),
            }),
          );
        const died = yield* batch(Effect.die("broken"));
        const interrupted = yield* batch(Effect.interrupt);
        assert.isTrue(
          Exit.isFailure(died) && Cause.hasDies(died.cause) && !Cause.hasFails(died.cause),
        );
        assert.isTrue(Exit.isFailure(interrupted) && Cause.hasInterruptsOnly(interrupted.cause));
      }),
  );

  it.effect(
    "[B-08] a batch ends with the cause of its first failure, however its siblings close",
    () =>
      Effect.gen(function* () {
        const exit = yield* Effect.exit(
          runScheduled({
            calls: ["closes badly", "bad", "fails while it closes"],
            concurrency: 3,
            isBarrier: noBarrier,
            run: (call) =>
              call === "bad"
                ? Effect.andThen(Effect.yieldNow, Effect.fail("refused"))
                : Effect.onInterrupt(Effect.never, () =>
                    call === "closes badly" ? Effect.die("closing") : Effect.fail("late"),
                  ),
          }),
        );
        assert.deepStrictEqual(
          Exit.isFailure(exit) ? exit.cause.reasons.map((reason) => reason._tag) : "ended well",
          ["Fail"],
        );
        assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) === "refused");
      }),
  );

  for (const concurrency of [1, 3]) {
    it.effect(
      `[B-07] interrupting the batch runs every finalizer and starts nothing more (concurrency ${concurrency})`,
      () =>
        Effect.gen(function* () {
          const log: Array<string> = [];
          const fiber = yield* Effect.forkChild(
            runScheduled({
              calls: ["a", "b", "c", "d", "e"],
              concurrency,
              isBarrier: noBarrier,
              run: observed(log, { a: 50, b: 50, c: 50, d: 50, e: 50 }),
            }),
          );
          yield* pass(2);
          yield* Fiber.interrupt(fiber);
          const started = log.filter((line) => line.startsWith("+")).length;
          assert.strictEqual(started, concurrency);
          assert.strictEqual(log.filter((line) => line.startsWith("!")).length, concurrency);
          assert.isFalse(log.some((line) => line.startsWith("-")));
        }),
    );

    it.effect(
      `[B-07] what a call leaves running or acquired ends with that call (concurrency ${concurrency})`,
      () =>
        Effect.gen(function* () {
          const log: Array<string> = [];
          const run = Effect.fnUntraced(function* (call: string) {
            yield* Effect.acquireRelease(Effect.void, () =>
              Effect.sync(() => log.push(`release ${call}`)),
            );
            yield* Effect.forkChild(
              Effect.onInterrupt(Effect.never, () =>
                Effect.sync(() => log.push(`orphan of ${call}`)),
              ),
            );
            yield* Effect.yieldNow;
            return call;
          });
          yield* runScheduled({
            calls: ["a", "b"],
            concurrency,
            isBarrier: () => true,
            run: (call) =>
              Effect.tap(run(call), () => Effect.sync(() => log.push(`result ${call}`))),
          });
          const firstOfB = log.indexOf("result b");
          assert.isTrue(
            log.indexOf("release a") < firstOfB && log.indexOf("orphan of a") < firstOfB,
            log.join(", "),
          );
          assert.strictEqual(log.length, 6);
        }),
    );
  }

  it.effect(
    "[S-05] a resumed batch runs only what has no result, behind the same barriers, and gives all results in order",
    () =>
      Effect.gen(function* () {
        const log: Array<string> = [];
        const recorded: Record<string, string> = { r1: "kept r1", M: "kept M" };
        const fiber = yield* Effect.forkChild(
          runScheduled({
            calls: ["r1", "r2", "M", "r3", "N", "r4"],
            concurrency: 4,
            isBarrier: (call) => call === "M" || call === "N",
            recorded: (call) => Option.fromNullishOr(recorded[call]),
            run: observed(log, { r2: 3, r3: 1, N: 2, r4: 1 }),
          }),
        );
        yield* pass(10);
        assert.deepStrictEqual(yield* Fiber.join(fiber), [
          "kept r1",
          "R2",
          "kept M",
          "R3",
          "N",
          "R4",
        ]);
        assert.deepStrictEqual(log, ["+r2", "-r2", "+r3", "-r3", "+N", "-N", "+r4", "-r4"]);
      }),
  );

  it.effect("[R23] one call that hangs holds one slot and the other 49 finish", () =>
    Effect.gen(function* () {
      const done = yield* Ref.make(0);
      const fiber = yield* Effect.forkChild(
        runScheduled({
          calls: Array.from({ length: 50 }, (_, index) => index),
          concurrency: 4,
          isBarrier: noBarrier,
          run: (call) =>
            call === 0
              ? Effect.never
              : Effect.andThen(
                  Effect.yieldNow,
                  Ref.update(done, (n) => n + 1),
                ),
        }),
      );
      yield* Effect.forEach(Array.from({ length: 20 }), () => settle);
      assert.strictEqual(yield* Ref.get(done), 49);
      assert.isUndefined(fiber.pollUnsafe());
      yield* Fiber.interrupt(fiber);
    }),
  );
});
