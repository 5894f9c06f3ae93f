import { assert, describe, it } from "@effect/vitest";
import { Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { Digest, RunId, TenantId, ToolCallId } from "#lib/contract/ids.ts";
import type { RecordOf, RunRecord } from "#lib/contract/records.ts";
import { RunDurability } from "#lib/engine/RunDurability.ts";
import { makeDrainGate } from "#lib/host/drain-gate.ts";
import { takeBack } from "#lib/host/take-back.ts";

const call = {
  runId: RunId.make("run-1"),
  turn: 1,
  callId: ToolCallId.make("call-1"),
  toolName: "charge",
};
const prepared: RecordOf<"ToolCallPrepared"> = {
  ...call,
  _tag: "ToolCallPrepared",
  executionClass: "uncertain",
  parametersDigest: Digest.make("0".repeat(64)),
  idempotencyKey: "key",
  attempt: 1,
};
const settled: RunRecord = {
  ...call,
  _tag: "ToolCallSettled",
  kind: "succeeded",
  result: null,
  isFailure: false,
  originalBytes: 4,
  source: "handler",
  endedAt: 1,
};

const run = { tenantId: TenantId.make("acme"), runId: call.runId };

const makeHostOn = Effect.fnUntraced(function* (before: Effect.Effect<void>) {
  const seen: Array<string> = [];
  const gate = makeDrainGate();
  const keep = (records: ReadonlyArray<RunRecord>) =>
    Effect.andThen(
      before,
      Effect.sync(() => void seen.push(...records.map(({ _tag }) => _tag))),
    );
  const durability = yield* gate.guard(
    RunDurability.of({
      record: keep,
      recordSoon: keep,
      emit: (event) => Effect.sync(() => void seen.push(event._tag)),
      answers: () => Effect.succeed([]),
      noteToolExposure: () => Effect.void,
      postponesPassing: true,
      now: Effect.succeed(0),
    }),
    (promised, now) => takeBack(run, [promised], promised, now),
  );
  return { seen, gate, durability };
});
const makeHost = makeHostOn(Effect.void);

describe("a host that stops", () => {
  it.effect(
    "starts no call and asks no model once it is closing, and what it holds can be interrupted",
    () =>
      Effect.gen(function* () {
        const { seen, gate, durability } = yield* makeHost;
        yield* gate.close(1_000);
        // Where calls are prepared nothing may be interrupted; the hold must be.
        const held = yield* Effect.forkChild(Effect.uninterruptible(durability.record([prepared])));
        const asking = yield* Effect.forkChild(
          durability.emit({ _tag: "ModelRequested", turn: 1 }),
        );
        yield* TestClock.adjust("10 seconds");
        assert.deepStrictEqual(seen, []);
        yield* Fiber.interrupt(held);
        yield* Fiber.interrupt(asking);
      }),
  );

  it.effect("[CM-01] lets a call in flight make the calls inside it, which are part of it", () =>
    Effect.gen(function* () {
      const { seen, gate, durability } = yield* makeHost;
      yield* durability.record([prepared]);
      const closing = yield* Effect.forkChild(gate.close(3_000));
      yield* TestClock.adjust("1 millis");
      const inner = { callId: ToolCallId.make("inner-1"), parentCallId: call.callId };
      yield* durability.record([{ ...prepared, ...inner }]);
      yield* durability.emit({ _tag: "ToolCallStarted", ...call, ...inner, attempt: 1 });
      yield* durability.record([{ ...settled, callId: inner.callId }, settled]);
      yield* TestClock.adjust("100 millis");
      yield* Fiber.join(closing);
      assert.deepStrictEqual(seen, [
        "ToolCallPrepared",
        "ToolCallPrepared",
        "ToolCallStarted",
        "ToolCallSettled",
        "ToolCallSettled",
      ]);
    }),
  );

  it.effect("waits for the call in flight and lets its result be recorded", () =>
    Effect.gen(function* () {
      const { seen, gate, durability } = yield* makeHost;
      yield* durability.record([prepared]);
      const closing = yield* Effect.forkChild(gate.close(3_000));
      yield* TestClock.adjust("1 second");
      assert.isUndefined(closing.pollUnsafe());
      yield* durability.record([settled]);
      yield* TestClock.adjust("100 millis");
      assert.isDefined(closing.pollUnsafe());
      assert.deepStrictEqual(seen, ["ToolCallPrepared", "ToolCallSettled"]);
    }),
  );

  it.effect("[DU-04] waits for a call whose promise is on its way when it is told to stop", () =>
    Effect.gen(function* () {
      const { seen, gate, durability } = yield* makeHostOn(Effect.sleep("1 second"));
      const call = yield* Effect.forkChild(
        Effect.andThen(durability.record([prepared]), durability.record([settled])),
      );
      yield* TestClock.adjust("1 millis");
      const closing = yield* Effect.forkChild(gate.close(3_000));
      yield* TestClock.adjust("1500 millis");
      assert.isUndefined(closing.pollUnsafe());
      yield* TestClock.adjust("600 millis");
      yield* Fiber.join(call);
      assert.isDefined(closing.pollUnsafe());
      assert.deepStrictEqual(seen, ["ToolCallPrepared", "ToolCallSettled"]);
    }),
  );

  it.effect(
    "[DU-04] takes a promise back that is stored after its time, and never starts the call; one that may run again needs no word",
    () =>
      Effect.gen(function* () {
        const { seen, gate, durability } = yield* makeHostOn(Effect.sleep("2 seconds"));
        const promise = (more: Partial<RecordOf<"ToolCallPrepared">>) =>
          durability
            .record([{ ...prepared, ...more }])
            .pipe(
              Effect.andThen(Effect.sync(() => void seen.push("started"))),
              Effect.uninterruptible,
              Effect.forkChild,
            );
        const uncertain = yield* promise({});
        const idempotent = yield* promise({
          callId: ToolCallId.make("call-2"),
          executionClass: "idempotent",
        });
        yield* TestClock.adjust("1 millis");
        const closing = yield* Effect.forkChild(gate.close(1_500));
        yield* TestClock.adjust("1500 millis");
        assert.isDefined(closing.pollUnsafe());
        // A call inside another is as late as any now.
        const inner = yield* promise({ parentCallId: call.callId });
        yield* TestClock.adjust("10 seconds");
        const stored = [
          "ToolCallPrepared",
          "ToolCallPrepared",
          "ToolCallUnknown",
          "UnknownResolved",
        ];
        assert.deepStrictEqual(seen, stored);
        for (const fiber of [uncertain, idempotent, inner]) yield* Fiber.interrupt(fiber);
        assert.deepStrictEqual(seen, stored);
      }),
  );

  it.effect("does not wait for what an attempt left behind that was taken away", () =>
    Effect.gen(function* () {
      const { gate } = yield* Effect.scoped(
        Effect.tap(makeHost, ({ durability }) => durability.record([prepared])),
      );
      const closing = yield* Effect.forkChild(gate.close(3_000));
      yield* TestClock.adjust("1 millis");
      assert.isDefined(closing.pollUnsafe());
    }),
  );

  it.effect("does not wait longer than it was told", () =>
    Effect.gen(function* () {
      const { gate, durability } = yield* makeHost;
      yield* durability.record([prepared]);
      const closing = yield* Effect.forkChild(gate.close(3_000));
      yield* TestClock.adjust("3 seconds");
      assert.isDefined(closing.pollUnsafe());
    }),
  );
});
