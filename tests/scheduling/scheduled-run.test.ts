import { assert, describe, it } from "@effect/vitest";
import { Cause, Effect, Exit, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { RunToolScheduling, toRunSchedulingHook } from "#lib/run-options.ts";
import { text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import {
  errorOf,
  eventsOf,
  RefundRefused,
  readResults,
  runDesk,
  settle,
} from "#tests/testing/run-desk.ts";

const lookups = (count: number) =>
  toolCalls(
    Array.from({ length: count }, (_, index) => ({
      id: `c${index + 1}`,
      name: "lookup",
      params: { orderId: `W${index + 1}` },
    })),
  );
const mixed = toolCalls([
  { id: "c1", name: "lookup", params: { orderId: "W1" } },
  { id: "c2", name: "lookup", params: { orderId: "W2" } },
  { id: "c3", name: "refund", params: { orderId: "W3", amount: "1" } },
  { id: "c4", name: "lookup", params: { orderId: "W4" } },
  { id: "c5", name: "lookup", params: { orderId: "W5" } },
]);
const onlyRefunds = (toolName: string) => toolName === "refund";

/** Notes when a call starts and ends. */
const tracked = (log: Array<string>) => (name: string, millis: number) =>
  Effect.sync(() => log.push(`+${name}`)).pipe(
    Effect.andThen(Effect.sleep(millis)),
    Effect.andThen(Effect.sync(() => log.push(`-${name}`))),
    Effect.as("ok"),
  );

const pass = (millis: number) =>
  Effect.forEach(
    Array.from({ length: millis }),
    () => Effect.andThen(TestClock.adjust(1), settle),
    { discard: true },
  );

describe("a scheduled run", () => {
  it.effect(
    "[B-05][R20] three calls that end 3, 1, 2 are seen live in that order and read by the model in 1, 2, 3",
    () =>
      Effect.gen(function* () {
        const millis: Record<string, number> = { W1: 4, W2: 6, W3: 2 };
        const fiber = yield* Effect.forkChild(
          runDesk({
            turns: [lookups(3), text("done")],
            lookup: (orderId) => Effect.as(Effect.sleep(millis[orderId] ?? 1), orderId),
          }),
        );
        yield* settle;
        yield* pass(8);
        const run = yield* Fiber.join(fiber);
        assert.deepStrictEqual(
          eventsOf(run, "ToolCallSucceeded").map(({ callId }) => String(callId)),
          ["c3", "c1", "c2"],
        );
        assert.deepStrictEqual(
          readResults(run.requests[1]).map(({ id }) => id),
          ["c1", "c2", "c3"],
        );
      }),
  );

  it.effect(
    "[S-01][B-03] 200 calls under a policy of 4 never have more than 4 open, whatever the run asks for",
    () =>
      Effect.gen(function* () {
        const most = Effect.fnUntraced(function* (
          override: Parameters<typeof toRunSchedulingHook>[0],
        ) {
          let open = 0;
          let seen = 0;
          const run = yield* runDesk({
            turns: [lookups(200), text("done")],
            policy: { toolConcurrency: 4 },
            options: { scheduling: toRunSchedulingHook(override) },
            lookup: () =>
              Effect.sync(() => (seen = Math.max(seen, (open += 1)))).pipe(
                Effect.andThen(Effect.yieldNow),
                Effect.andThen(Effect.sync(() => (open -= 1))),
                Effect.as("ok"),
              ),
          });
          assert.deepStrictEqual(run.exit, Exit.succeed("done"));
          assert.strictEqual(run.handled.length, 200);
          return seen;
        });
        assert.strictEqual(yield* most({ mode: "concurrent", max: 16 }), 4);
        assert.strictEqual(yield* most({ mode: "concurrent", max: 2 }), 2);
        assert.strictEqual(yield* most({ mode: "sequential" }), 1);
      }),
  );

  it.effect(
    "[S-01] a run that asks for no whole number fails typed before the model is asked",
    () =>
      Effect.gen(function* () {
        const run = yield* runDesk({
          turns: [],
          options: { scheduling: toRunSchedulingHook({ mode: "concurrent", max: 0 }) },
        });
        assert.deepInclude(errorOf(run) as object, {
          _tag: "SchedulingOverrideInvalid",
          seen: "0",
          limit: 4,
        });
        assert.deepStrictEqual(run.requests, []);
      }),
  );

  for (const from of ["option", "service"] as const) {
    it.effect(
      `[S-02][S-04] a barrier given by ${from} runs alone and its neighbours overlap on each side`,
      () =>
        Effect.gen(function* () {
          const log: Array<string> = [];
          const track = tracked(log);
          const desk = runDesk({
            turns: [mixed, text("done")],
            needsApproval: false,
            lookup: (orderId) => track(orderId, 2),
            refund: ({ orderId }) => track(orderId, 3),
            options:
              from === "option"
                ? { scheduling: toRunSchedulingHook({ mode: "concurrent", max: 4 }, onlyRefunds) }
                : {},
          });
          const fiber = yield* Effect.forkChild(
            from === "option"
              ? desk
              : Effect.provideService(desk, RunToolScheduling, {
                  toolRequiresSequential: onlyRefunds,
                }),
          );
          yield* settle;
          yield* pass(10);
          assert.deepStrictEqual((yield* Fiber.join(fiber)).exit, Exit.succeed("done"));
          assert.deepStrictEqual(log, [
            "+W1",
            "+W2",
            "-W1",
            "-W2",
            "+W3",
            "-W3",
            "+W4",
            "+W5",
            "-W4",
            "-W5",
          ]);
        }),
    );
  }

  it.effect("[S-04] a run's explicit scheduling replaces the provided policy", () =>
    Effect.gen(function* () {
      const log: Array<string> = [];
      const track = tracked(log);
      const fiber = yield* Effect.forkChild(
        runDesk({
          turns: [mixed, text("done")],
          needsApproval: false,
          policy: { toolConcurrency: 8 },
          lookup: (orderId) => track(orderId, 2),
          refund: ({ orderId }) => track(orderId, 2),
          options: { scheduling: toRunSchedulingHook({ mode: "concurrent", max: 8 }) },
        }).pipe(Effect.provideService(RunToolScheduling, { toolRequiresSequential: () => true })),
      );
      yield* settle;
      yield* pass(6);
      yield* Fiber.join(fiber);
      assert.deepStrictEqual(log.slice(0, 5), ["+W1", "+W2", "+W3", "+W4", "+W5"]);
    }),
  );

  it.effect(
    "[B-07] interrupting a run interrupts its handler, runs its finalizer and emits no success",
    () =>
      Effect.gen(function* () {
        const log: Array<string> = [];
        const fiber = yield* Effect.forkChild(
          runDesk({
            turns: [lookups(6)],
            lookup: (orderId) =>
              Effect.acquireUseRelease(
                Effect.void,
                () => Effect.never,
                () => Effect.sync(() => log.push(`released ${orderId}`)),
              ),
          }),
        );
        yield* settle;
        yield* Fiber.interrupt(fiber);
        const exit = yield* Fiber.await(fiber);
        assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause));
        assert.deepStrictEqual(log.toSorted(), [
          "released W1",
          "released W2",
          "released W3",
          "released W4",
        ]);
      }),
  );

  it.effect(
    "[F-01][B-08][R24][R25] a propagated failure interrupts the running sibling, starts no queued one, and keeps what had ended",
    () =>
      Effect.gen(function* () {
        const log: Array<string> = [];
        const fiber = yield* Effect.forkChild(
          runDesk({
            turns: [
              toolCalls([
                { id: "done", name: "lookup", params: { orderId: "W1" } },
                { id: "slow", name: "lookup", params: { orderId: "W2" } },
                { id: "bad", name: "refund", params: { orderId: "W3", amount: "1" } },
                { id: "queued", name: "lookup", params: { orderId: "W4" } },
              ]),
            ],
            needsApproval: false,
            policy: { toolConcurrency: 3 },
            options: { scheduling: toRunSchedulingHook({ mode: "concurrent", max: 3 }) },
            lookup: (orderId) =>
              orderId === "W1"
                ? Effect.as(Effect.sleep(4), "ok")
                : Effect.onInterrupt(Effect.never, () =>
                    Effect.sync(() => log.push(`interrupted ${orderId}`)),
                  ),
            refund: () =>
              Effect.andThen(
                Effect.sleep(5),
                Effect.fail(new RefundRefused({ message: "over the limit" })),
              ),
          }),
        );
        yield* settle;
        yield* pass(3);
        yield* pass(5);
        const run = yield* Fiber.join(fiber);
        assert.instanceOf(errorOf(run), RefundRefused);
        // The queued call took the slot of the one that had ended, and was interrupted with the other.
        assert.deepStrictEqual(log.toSorted(), ["interrupted W2", "interrupted W4"]);
        assert.deepStrictEqual(
          eventsOf(run, "ToolCallSucceeded").map(({ callId }) => String(callId)),
          ["done"],
        );
        assert.deepStrictEqual(
          eventsOf(run, "ToolCallFailed").map(({ callId, failureMode, failureHandling }) => [
            String(callId),
            failureMode,
            failureHandling,
          ]),
          [["bad", "error", "propagated"]],
        );
        assert.strictEqual(run.requests.length, 1);
      }),
  );
});
