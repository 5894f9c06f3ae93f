import { assert, it } from "@effect/vitest";
import { Effect, Fiber, Queue, Stream } from "effect";
import { TestClock } from "effect/testing";
import { AgentId, RunId, TenantId, ThreadId } from "#lib/contract/ids.ts";
import { EventLog } from "#lib/durable/EventLog.ts";
import { eventFrames, heartbeatMillis, resetReason } from "#server/http/event-stream.ts";

const tenantId = TenantId.make("default");

/** A log that never grows and rings never. */
const quietLog = EventLog.of({
  read: () => Effect.succeed([]),
  bounds: () => Effect.succeed({ first: 1, last: 7 }),
  hints: () => Effect.succeed(Stream.never),
});

it.effect(
  "[C067] a quiet stream says something at least every 15 s, with the newest sequence",
  () =>
    Effect.gen(function* () {
      const frames = yield* Queue.unbounded<string>();
      const fiber = yield* eventFrames({
        tenantId,
        runId: undefined,
        after: 7,
        mayFollow: Effect.succeed(true),
      }).pipe(
        Stream.runForEach((frame) => Queue.offer(frames, frame)),
        Effect.forkChild,
      );
      yield* TestClock.adjust(0);
      const first = yield* Queue.take(frames);
      assert.match(first, /^id: 7\nevent: heartbeat\ndata: \{"last":7,/);
      for (let beat = 0; beat < 4; beat += 1) {
        yield* TestClock.adjust(heartbeatMillis + 1_000);
        assert.strictEqual((yield* Queue.takeAll(frames)).length, 1);
      }
      yield* Fiber.interrupt(fiber);
    }).pipe(Effect.provideService(EventLog, quietLog)),
);

it.effect(
  "[Z-12] the stream ends at the next heartbeat once the operator may not follow any more",
  () =>
    Effect.gen(function* () {
      let may = true;
      const fiber = yield* eventFrames({
        tenantId,
        runId: undefined,
        after: 7,
        mayFollow: Effect.sync(() => may),
      }).pipe(Stream.runCollect, Effect.forkChild);
      yield* TestClock.adjust(heartbeatMillis + 1_000);
      may = false;
      yield* TestClock.adjust(heartbeatMillis + 1_000);
      const frames = yield* Fiber.join(fiber);
      assert.strictEqual(frames.length, 2);
    }).pipe(Effect.provideService(EventLog, quietLog)),
);

it("[C064] a cursor is continued when the event after it is kept, and reset otherwise", () => {
  const bounds = { first: 20, last: 30 };
  assert.isUndefined(resetReason(19, bounds));
  assert.isUndefined(resetReason(30, bounds));
  assert.strictEqual(resetReason(18, bounds), "trimmed");
  assert.strictEqual(resetReason(31, bounds), "ahead");
  assert.isUndefined(resetReason(0, { first: 1, last: 0 }));
});

it.effect("[Z-12] a busy stream, which needs no heartbeat, ends just the same", () => {
  let sequence = 7;
  const busyLog = EventLog.of({
    ...quietLog,
    hints: () => Effect.succeed(Stream.fromEffectRepeat(Effect.sleep(1_000))),
    read: ({ after }) =>
      Effect.sync(() => {
        sequence += 1;
        return [
          {
            version: 1 as const,
            sequence: after + 1,
            tenantId,
            at: sequence,
            agentId: AgentId.make("desk"),
            threadId: ThreadId.make("thr_1"),
            runId: RunId.make("run_1"),
            event: { _tag: "ModelRequested" as const, turn: 1 },
          },
        ];
      }),
  });
  return Effect.gen(function* () {
    let may = true;
    let frames = 0;
    const fiber = yield* eventFrames({
      tenantId,
      runId: undefined,
      after: 7,
      mayFollow: Effect.sync(() => may),
    }).pipe(
      Stream.runForEach(() =>
        Effect.andThen(
          Effect.sync(() => void (frames += 1)),
          Effect.sleep(500),
        ),
      ),
      Effect.forkChild,
    );
    yield* TestClock.adjust(2 * heartbeatMillis);
    assert.isAbove(frames, 10);
    may = false;
    yield* TestClock.adjust(heartbeatMillis + 2_000);
    yield* Fiber.join(fiber);
  }).pipe(Effect.provideService(EventLog, busyLog));
});
