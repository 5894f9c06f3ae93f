import { assert, describe, it } from "@effect/vitest";
import { Effect, Fiber } from "effect";
import * as fc from "fast-check";
import type { LoggedEvent } from "#lib/contract/events.ts";
import { AgentId, RunId, TenantId, ThreadId } from "#lib/contract/ids.ts";
import { LogTails, tailLimits } from "#server/postgres/log-tail.ts";

const eventAt = (sequence: number): LoggedEvent => ({
  version: 1,
  sequence,
  tenantId: TenantId.make("default"),
  at: sequence,
  agentId: AgentId.make("desk"),
  threadId: ThreadId.make("thr_1"),
  runId: RunId.make("run_1"),
  event: { _tag: "ModelRequested", turn: 1 },
});

/** A log of `last` events that counts how often it is read. */
class Log {
  reads = 0;
  constructor(
    public last = 0,
    private readonly characters = 100,
  ) {}
  readonly load = (after: number, limit: number) =>
    Effect.gen({ self: this }, function* () {
      this.reads += 1;
      const end = Math.min(this.last, after + limit);
      yield* Effect.yieldNow;
      return range(after, end).map((sequence) => ({
        event: eventAt(sequence),
        characters: this.characters,
      }));
    });
}
const makeLog = (last?: number, characters?: number) => new Log(last, characters);

const sequences = (events: ReadonlyArray<LoggedEvent>) => events.map(({ sequence }) => sequence);
const range = (after: number, to: number) =>
  Array.from({ length: Math.max(0, to - after) }, (_, at) => after + 1 + at);

describe("the newest events, read once for all", () => {
  it.effect("[PG-04] any reads of a growing log give what reading the log itself gives", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.record({
              grow: fc.integer({ min: 0, max: 12 }),
              back: fc.integer({ min: 0, max: 60 }),
              limit: fc.integer({ min: 1, max: 9 }),
            }),
            { maxLength: 40 },
          ),
          async (steps) => {
            const log = makeLog();
            const tails = new LogTails({ maxEvents: 16, maxCharacters: 2_000, maxTenants: 2 });
            for (const { grow, back, limit } of steps) {
              log.last += grow;
              const after = Math.max(0, log.last - back);
              let cursor = after;
              // A reader goes on until nothing comes: each piece in order, and the whole without a hole.
              for (;;) {
                const events = await Effect.runPromise(tails.read("t", cursor, limit, log.load));
                assert.deepStrictEqual(
                  sequences(events),
                  range(cursor, Math.min(log.last, cursor + Math.min(limit, events.length))),
                );
                if (events.length === 0) break;
                cursor += events.length;
              }
              assert.strictEqual(cursor, log.last);
            }
          },
        ),
      ),
    ),
  );

  it.effect("[PG-04] 200 readers of the same news cost two reads of the log at most", () =>
    Effect.gen(function* () {
      const log = makeLog(10);
      const tails = new LogTails();
      yield* tails.read("t", 10, 200, log.load);
      log.last = 30;
      log.reads = 0;
      const fibers = yield* Effect.forEach(range(0, 200), () =>
        Effect.forkChild(tails.read("t", 10, 200, log.load)),
      );
      for (const fiber of fibers)
        assert.deepStrictEqual(sequences(yield* Fiber.join(fiber)), range(10, 30));
      assert.isAtMost(log.reads, 2);
    }),
  );

  it.effect("a reader that goes away in the middle of a read does not stop the others", () =>
    Effect.gen(function* () {
      const log = makeLog(10);
      const tails = new LogTails();
      yield* tails.read("t", 10, 200, log.load);
      const stuck = yield* Effect.forkChild(tails.read("t", 10, 200, () => Effect.never));
      yield* Effect.yieldNow;
      const waiting = yield* Effect.forkChild(tails.read("t", 10, 200, log.load));
      yield* Effect.yieldNow;
      log.last = 12;
      yield* Fiber.interrupt(stuck);
      assert.deepStrictEqual(sequences(yield* Fiber.join(waiting)), [11, 12]);
    }),
  );

  it.effect("[C064] a log that is shorter than what is kept is read anew", () =>
    Effect.gen(function* () {
      const log = makeLog(50);
      const tails = new LogTails();
      yield* tails.read("t", 40, 200, log.load);
      log.last = 44;
      tails.forgetBeyond("t", 44);
      assert.deepStrictEqual(sequences(yield* tails.read("t", 40, 200, log.load)), range(40, 44));
    }),
  );

  it.effect("what is kept stays within its bounds, in events, in characters and in tenants", () =>
    Effect.gen(function* () {
      const log = makeLog(1, 1024 * 1024);
      const tails = new LogTails();
      let cursor = 0;
      for (let round = 0; round < 200; round++) {
        log.last += 1;
        cursor += (yield* tails.read("t", cursor, 200, log.load)).length;
      }
      log.reads = 0;
      yield* tails.read("t", cursor - tailLimits.maxCharacters / 1024 / 1024 - 1, 1, log.load);
      assert.strictEqual(log.reads, 1, "16 events of 1 MiB are kept, the one before is read");
      for (let tenant = 0; tenant <= tailLimits.maxTenants; tenant++)
        yield* tails.read(`tenant-${tenant}`, log.last, 200, log.load);
      log.reads = 0;
      yield* tails.read("t", cursor - 1, 200, log.load);
      assert.strictEqual(log.reads, 1, "the tenant that nobody follows was forgotten first");
    }),
  );
});
