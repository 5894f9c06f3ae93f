/** What PostgreSQL does to transactions in earnest: deadlocks, conflicts, time-outs, lost answers, a full disk. */
import { execFileSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { assert, layer } from "@effect/vitest";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Redacted from "effect/Redacted";
import * as Schedule from "effect/Schedule";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { Journal } from "#lib/durable/Journal.ts";
import { StoreError } from "#lib/durable/StoreError.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import * as Database from "#server/postgres/Database.ts";
import { databaseUser } from "#server/postgres/embedded/database-user.ts";
import { EventHints } from "#server/postgres/EventHints.ts";
import * as JournalPg from "#server/postgres/JournalPg.ts";
import * as SubmissionLedgerPg from "#server/postgres/SubmissionLedgerPg.ts";
import { recordsOf } from "#tests/postgres/records.ts";
import { admit, claimed, rows, started, store, TestUrl, worker } from "#tests/postgres/store.ts";
import { swallowingProxy } from "#tests/postgres/swallowing-proxy.ts";

/** Journal and ledger of another process, on a pool with its own limits. */
const otherProcess = (
  options: Partial<Database.DatabaseOptions> & { readonly url: Redacted.Redacted },
) =>
  Layer.mergeAll(Layer.fresh(JournalPg.layer), Layer.fresh(SubmissionLedgerPg.layer)).pipe(
    Layer.provide(Layer.fresh(EventHints.layer)),
    Layer.provideMerge(Layer.fresh(Database.layer({ maxConnections: 2, ...options }))),
  );

const here = Effect.map(TestUrl, (url) => Redacted.make(url));

const threadOf = (threadId: string) =>
  Effect.map(
    rows(
      `SELECT t.epoch::int AS epoch, s.state, s.lost_attempts AS lost FROM threads t
       JOIN submissions s USING (tenant_id, thread_id) WHERE t.thread_id = $1`,
      [threadId],
    ),
    (found) => found[0],
  );

/** Two transactions that each wait, the first time, until the other has done its first step. */
const inEachOthersWay = Effect.fnUntraced(function* (
  step: (mine: 0 | 1, first: Effect.Effect<void>) => Effect.Effect<void, unknown, SqlClient>,
) {
  const reached = [yield* Deferred.make<void>(), yield* Deferred.make<void>()] as const;
  const tries = [0, 0];
  const run = (mine: 0 | 1, other: 0 | 1) =>
    Database.transaction(
      "test",
      Effect.suspend(() => {
        tries[mine] = (tries[mine] ?? 0) + 1;
        const meet = Effect.andThen(
          Deferred.succeed(reached[mine], undefined),
          Deferred.await(reached[other]),
        );
        return step(mine, meet);
      }),
    );
  yield* Effect.all([run(0, 1), run(1, 0)], { concurrency: 2 });
  return tries;
});

layer(store, { excludeTestServices: true })("faults of PostgreSQL", (it) => {
  it.effect(
    "[PG-08] a real deadlock: one transaction is the victim, is run again, and both count once",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient;
        yield* sql`CREATE TABLE pairs (id integer PRIMARY KEY, n integer NOT NULL)`;
        yield* sql`INSERT INTO pairs VALUES (0, 0), (1, 0)`;
        const add = (id: number) => sql`UPDATE pairs SET n = n + 1 WHERE id = ${id}`;
        const tries = yield* inEachOthersWay((mine, meet) =>
          add(mine).pipe(Effect.andThen(meet), Effect.andThen(add(1 - mine)), Effect.asVoid),
        );
        assert.deepStrictEqual(tries.toSorted(), [1, 2]);
        assert.deepStrictEqual(yield* rows("SELECT n FROM pairs ORDER BY id"), [
          { n: 2 },
          { n: 2 },
        ]);
      }),
  );

  it.effect(
    "[PG-08] a server that has become read-only, as in a failover: not ready, nothing written, and the same append lands once it is not",
    () =>
      Effect.gen(function* () {
        const { place, claim, writer } = yield* started();
        yield* writer.append([recordsOf(place).opened()]);
        const request = {
          ...place,
          agentId: claim.agentId,
          epoch: claim.epoch,
          expectedTail: writer.tail(),
          batchId: "failover",
          records: [recordsOf(place).attempt()],
          events: [],
          diagnostics: [],
        };
        const name = new URL(yield* TestUrl).pathname.slice(1);
        const set = (value: "on" | "off") =>
          rows(`ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`);
        // Connections that are open keep what they had; the other process meets it on its new ones.
        yield* set("on");
        const [readiness, refused] = yield* Effect.gen(function* () {
          const journal = yield* Journal;
          return [
            yield* Effect.flip(Database.ping),
            yield* Effect.flip(journal.append(request)),
          ] as const;
        }).pipe(Effect.provide(otherProcess({ url: yield* here })));
        yield* set("off");
        assert.include(readiness.message, "takes no writes");
        assert.isTrue(refused instanceof StoreError && refused.retryable);
        assert.include(refused.message, "25006");
        yield* Effect.gen(function* () {
          yield* Database.ping;
          const journal = yield* Journal;
          assert.isFalse((yield* journal.append(request)).replayed);
        }).pipe(Effect.provide(otherProcess({ url: yield* here })));
      }),
  );

  it.effect("[PG-08] a real serialization failure is run again on a fresh snapshot", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient;
      yield* sql`CREATE TABLE counters (id integer PRIMARY KEY, n integer NOT NULL)`;
      yield* sql`INSERT INTO counters VALUES (0, 0)`;
      const tries = yield* inEachOthersWay((_mine, meet) =>
        Effect.gen(function* () {
          yield* sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`;
          yield* sql`SELECT n FROM counters`;
          yield* meet;
          yield* sql`UPDATE counters SET n = n + 1 WHERE id = 0`;
        }),
      );
      assert.deepStrictEqual(tries.toSorted(), [1, 2]);
      assert.deepStrictEqual(yield* rows("SELECT n FROM counters"), [{ n: 2 }]);
    }),
  );

  it.effect(
    "[PG-08] a claim that waits too long for its thread's lock has claimed nothing and may be tried again",
    () =>
      Effect.gen(function* () {
        const { place } = yield* admit();
        const locked = yield* Deferred.make<void>();
        const release = yield* Deferred.make<void>();
        const holder = yield* Effect.forkChild(
          Database.transaction(
            "test",
            rows("SELECT FROM threads WHERE thread_id = $1 FOR UPDATE", [place.threadId]).pipe(
              Effect.andThen(Deferred.succeed(locked, undefined)),
              Effect.andThen(Deferred.await(release)),
            ),
          ),
        );
        yield* Deferred.await(locked);
        const error = yield* Effect.flatMap(SubmissionLedger, (ledger) =>
          Effect.flip(ledger.claim({ ...place, workerId: worker })),
        ).pipe(Effect.provide(otherProcess({ url: yield* here, lockTimeoutMillis: 200 })));
        assert.isTrue(error.retryable);
        assert.include(error.message, "55P03");
        yield* Deferred.succeed(release, undefined);
        yield* Fiber.join(holder);
        assert.deepStrictEqual(yield* threadOf(place.threadId), {
          epoch: 0,
          state: "ready",
          lost: 0,
        });
        assert.strictEqual((yield* claimed(place)).epoch, 1);
      }),
  );

  it.effect(
    "[PG-08] a statement that runs too long is cancelled with its whole transaction, and is not repeated at once",
    () =>
      Effect.gen(function* () {
        const { place } = yield* admit();
        let tries = 0;
        const error = yield* Effect.flip(
          Database.transaction(
            "test",
            Effect.suspend(() => {
              tries += 1;
              return rows("SELECT * FROM submission_claim($1, $2, $3)", [
                place.tenantId,
                place.threadId,
                worker,
              ]).pipe(Effect.andThen(rows("SELECT pg_sleep(30)")));
            }),
          ),
        ).pipe(Effect.provide(otherProcess({ url: yield* here, statementTimeoutMillis: 300 })));
        assert.isTrue(error instanceof StoreError && error.retryable);
        assert.strictEqual(tries, 1);
        assert.deepStrictEqual(yield* threadOf(place.threadId), {
          epoch: 0,
          state: "ready",
          lost: 0,
        });
      }),
  );

  it.effect(
    "[PG-08][DU-13] a claim whose COMMIT was answered to nobody leaves no owner behind: the next claim is the one that writes",
    () =>
      Effect.gen(function* () {
        const { place } = yield* admit();
        const proxy = yield* swallowingProxy(yield* TestUrl);
        const error = yield* Effect.gen(function* () {
          yield* Database.ping;
          const ledger = yield* SubmissionLedger;
          proxy.swallowNextCommit();
          return yield* Effect.flip(ledger.claim({ ...place, workerId: worker }));
        }).pipe(Effect.provide(otherProcess({ url: Redacted.make(proxy.url), maxConnections: 1 })));
        assert.isTrue(error.retryable);
        // It did commit: the lost owner's epoch is 1, and whoever comes next is 2 and knows that an attempt was lost.
        assert.deepStrictEqual(yield* threadOf(place.threadId), {
          epoch: 1,
          state: "running",
          lost: 0,
        });
        const claim = yield* claimed(place);
        assert.deepStrictEqual([claim.epoch, claim.lostAttempts], [2, 1]);
        const journal = yield* Journal;
        const late = yield* Effect.flip(
          journal.append({
            ...place,
            agentId: claim.agentId,
            epoch: 1,
            expectedTail: claim.tail,
            batchId: "late",
            records: [recordsOf(place).opened()],
            events: [],
            diagnostics: [],
          }),
        );
        assert.strictEqual(late._tag, "FenceRejected");
      }).pipe(Effect.scoped),
  );

  it.effect(
    "[DU-11] an admission whose COMMIT was answered to nobody gives the same receipt to the retry",
    () =>
      Effect.gen(function* () {
        const proxy = yield* swallowingProxy(yield* TestUrl);
        const once = admit({ key: "key-lost-commit" });
        const [lost, again] = yield* Effect.gen(function* () {
          yield* Database.ping;
          proxy.swallowNextReply();
          const first = yield* Effect.exit(once);
          return [
            first,
            yield* Effect.retry(once, { schedule: Schedule.spaced("20 millis"), times: 20 }),
          ] as const;
        }).pipe(Effect.provide(otherProcess({ url: Redacted.make(proxy.url), maxConnections: 1 })));
        assert.isTrue(Exit.isFailure(lost));
        const found = yield* rows(
          "SELECT run_id FROM submissions s JOIN idempotency_keys k USING (tenant_id, submission_id, run_id) WHERE k.key = 'key-lost-commit'",
        );
        assert.deepStrictEqual(found, [{ run_id: again.receipt.runId }]);
      }).pipe(Effect.scoped),
  );
});

/** A small file system of its own, which only root may mount; elsewhere there is no disk to fill but the machine's. */
const mountPoint = path.join(os.tmpdir(), `effect-agent-full-${process.pid}`);
const smallDisk = Effect.acquireRelease(
  Effect.sync(() => {
    mkdirSync(mountPoint, { recursive: true });
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=48m,mode=755", "tmpfs", mountPoint]);
    const space = path.join(mountPoint, "space");
    mkdirSync(space);
    const user = databaseUser();
    if (user !== undefined) chownSync(space, user.uid, user.gid);
    return space;
  }),
  () =>
    Effect.sync(() => {
      execFileSync("umount", ["-l", mountPoint]);
      rmSync(mountPoint, { recursive: true, force: true });
    }),
);
const mayMount = ((): boolean => {
  if (process.getuid?.() !== 0) return false;
  try {
    mkdirSync(mountPoint, { recursive: true });
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", mountPoint], {
      stdio: "ignore",
    });
    execFileSync("umount", [mountPoint]);
    return true;
  } catch {
    return false;
  }
})();

/** The same server as a superuser, on one of its databases. */
const asSuperuser = (database: string) => {
  const url = new URL(process.env["EFFECT_AGENT_TEST_ADMIN_URL"] ?? "");
  url.pathname = `/${database}`;
  return Layer.fresh(Database.layer({ url: Redacted.make(url.toString()), maxConnections: 1 }));
};

layer(store, { excludeTestServices: true })("a full disk", (it) => {
  it.effect.skipIf(!mayMount)(
    "[PG-08] an append that finds no space writes nothing, says that it may pass, and lands once when there is space again",
    () =>
      Effect.gen(function* () {
        const space = yield* smallDisk;
        const name = `full_${process.pid}`;
        const template = process.env["EFFECT_AGENT_TEST_TEMPLATE"] ?? "";
        const owner = new URL(yield* TestUrl).username;
        const admin = <A, E>(effect: Effect.Effect<A, E, SqlClient>) =>
          Effect.provide(effect, asSuperuser("postgres"));
        yield* Effect.acquireRelease(
          admin(
            Effect.gen(function* () {
              yield* rows(`CREATE TABLESPACE ${name} LOCATION '${space}'`);
              yield* rows(
                `CREATE DATABASE ${name} TEMPLATE ${template} OWNER ${owner} TABLESPACE ${name}`,
              );
            }),
          ),
          () =>
            admin(
              Effect.gen(function* () {
                yield* rows(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
                yield* rows(`DROP TABLESPACE IF EXISTS ${name}`);
              }),
            ).pipe(Effect.orDie),
        );
        const url = new URL(yield* TestUrl);
        url.pathname = `/${name}`;
        const filler = path.join(mountPoint, "filler");
        const fill = Effect.sync(() => {
          try {
            writeFileSync(filler, Buffer.alloc(64 * 1024 * 1024));
          } catch {
            // The disk is full now, which is what was wanted.
          }
        });
        yield* Effect.gen(function* () {
          const { place, writer } = yield* started();
          const of = recordsOf(place);
          yield* writer.append([of.opened(), of.attempt()]);
          yield* fill;
          const before = writer.tail();
          // What fits into pages that are there already still lands; sooner or later a page is needed.
          const journal = yield* Journal;
          const big = of.turn(["call-1"], { parameters: "x".repeat(400_000) });
          const request = {
            ...place,
            agentId: "desk" as never,
            epoch: 1,
            expectedTail: before,
            batchId: "no-space",
            records: [big],
            events: [],
            diagnostics: [],
          };
          const refused = yield* Effect.flip(journal.append(request));
          assert.isTrue(refused instanceof StoreError && refused.retryable, String(refused));
          assert.include(refused.message, "53100");
          const stored = yield* journal.read({ ...place, after: 0, limit: 10 });
          assert.strictEqual(stored.length, 2);
          assert.strictEqual((yield* rows("SELECT count(*)::int AS n FROM turns"))[0]?.["n"], 0);
          yield* Effect.sync(() => rmSync(filler));
          assert.isFalse(existsSync(filler));
          const landed = yield* journal.append(request);
          assert.isFalse(landed.replayed);
          assert.isTrue((yield* journal.append(request)).replayed);
        }).pipe(Effect.provide(otherProcess({ url: Redacted.make(url.toString()) })));
      }).pipe(Effect.scoped),
  );
});
