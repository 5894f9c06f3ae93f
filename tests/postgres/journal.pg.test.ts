import { assert, layer } from "@effect/vitest";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Redacted from "effect/Redacted";
import * as Schedule from "effect/Schedule";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as Database from "#server/postgres/Database.ts";
import { EventHints } from "#server/postgres/EventHints.ts";
import * as JournalPg from "#server/postgres/JournalPg.ts";
import { swallowingProxy } from "#tests/postgres/swallowing-proxy.ts";
import { emptyTail, verifyChain } from "#lib/durable/chain.ts";
import { Journal, type AppendRequest } from "#lib/durable/Journal.ts";
import { agentId, digest, recordsOf, type RunPlace } from "#tests/postgres/records.ts";
import { admit, claimed, rows, started, store, TestUrl } from "#tests/postgres/store.ts";
import { bodyOf } from "#lib/durable/chain.ts";
import { WorkerId } from "#lib/contract/ids.ts";

layer(store, { excludeTestServices: true })("the journal on Postgres", (it) => {
  const requestOf = Effect.fnUntraced(function* () {
    const { place, claim } = yield* started();
    const request: AppendRequest = {
      tenantId: place.tenantId,
      threadId: place.threadId,
      runId: place.runId,
      agentId,
      epoch: claim.epoch,
      expectedTail: claim.tail,
      batchId: "batch-1",
      records: [recordsOf(place).opened(), recordsOf(place).attempt()],
      events: [],
      diagnostics: [],
    };
    return { place, claim, request };
  });

  it.effect(
    "[PG-01] changed calls are found by their key, however few rows the table began with",
    () =>
      Effect.gen(function* () {
        const { place, writer } = yield* started();
        const of = recordsOf(place);
        const ids = Array.from({ length: 200 }, (_, index) => `c${index}`);
        yield* writer.append([of.opened(), of.attempt(), of.turn(ids)]);
        yield* rows("ANALYZE tool_calls");
        const changes = ids.slice(0, 50).map((id) => ({ turn: 1, call_id: id, state: "running" }));
        const sql = yield* SqlClient.SqlClient;
        const wholeReads = Effect.map(
          sql<{ n: number }>`SELECT pg_stat_get_xact_numscans('tool_calls'::regclass)::int AS n`,
          ([row]) => row?.n,
        );
        const [before, after] = yield* sql.withTransaction(
          Effect.gen(function* () {
            const first = yield* wholeReads;
            yield* sql`SELECT project_call_changes(
            ${place.tenantId}, ${place.runId}, now(), ${JSON.stringify(changes)}::json)`;
            return [first, yield* wholeReads];
          }),
        );
        assert.strictEqual(after, before);
        const [running] = yield* rows(
          "SELECT count(*)::int AS n FROM tool_calls WHERE run_id = $1 AND state = 'running'",
          [place.runId],
        );
        assert.strictEqual(running?.["n"], 50);
      }),
  );

  it.effect("[PG-02] what is appended is read back as it was, in an unbroken chain", () =>
    Effect.gen(function* () {
      const { place, writer } = yield* started();
      const of = recordsOf(place);
      const written = [
        of.opened(),
        of.attempt(),
        of.turn(["c1"]),
        of.prepared("c1"),
        of.settled("c1"),
        of.runSettled(),
      ];
      yield* writer.append(written.slice(0, 2));
      yield* writer.append(written.slice(2));
      const journal = yield* Journal;
      const stored = yield* journal.read({
        tenantId: place.tenantId,
        threadId: place.threadId,
        after: 0,
        limit: 100,
      });
      assert.deepStrictEqual(
        stored.map((row) => row.record),
        written,
      );
      assert.deepStrictEqual(
        stored.map((row) => row.sequence),
        [1, 2, 3, 4, 5, 6],
      );
      const links = stored.map((row) => ({ ...row, body: bodyOf(row.record) }));
      assert.isUndefined(verifyChain(place.threadId, links));
      assert.strictEqual(stored.at(-1)?.digest, writer.tail().digest);
    }),
  );

  it.effect("[PG-02] of two connections that race for the same tail exactly one appends", () =>
    Effect.gen(function* () {
      const { request } = yield* requestOf();
      const journal = yield* Journal;
      const exits = yield* Effect.forEach(
        Array.from({ length: 8 }, (_, index) => index),
        (index) => Effect.result(journal.append({ ...request, batchId: `racer-${index}` })),
        { concurrency: 8 },
      );
      const won = exits.filter((exit) => exit._tag === "Success");
      const lost = exits.flatMap((exit) => (exit._tag === "Failure" ? [exit.failure] : []));
      assert.strictEqual(won.length, 1);
      assert.deepStrictEqual(
        [...new Set(lost.map((error) => error._tag))],
        ["JournalTailConflict"],
      );
      const [conflict] = lost;
      assert.isTrue(conflict?._tag === "JournalTailConflict" && conflict.actualSequence === 2);
      const stored = yield* journal.read({ ...request, after: 0, limit: 100 });
      assert.strictEqual(stored.length, 2);
    }),
  );

  it.effect(
    "[PG-02] a batch whose reply was lost answers as it did the first time and writes nothing",
    () =>
      Effect.gen(function* () {
        const { request, place } = yield* requestOf();
        const journal = yield* Journal;
        const first = yield* journal.append(request);
        const again = yield* journal.append(request);
        assert.isFalse(first.replayed);
        assert.deepStrictEqual(again, { ...first, replayed: true });
        // Also when the thread has gone on since.
        yield* journal.append({
          ...request,
          expectedTail: first.tail,
          batchId: "batch-2",
          records: [recordsOf(place).turn([])],
        });
        const late = yield* journal.append(request);
        assert.deepStrictEqual(late, { ...first, replayed: true });
        const stored = yield* journal.read({ ...request, after: 0, limit: 100 });
        assert.strictEqual(stored.length, 3);
      }),
  );

  it.effect(
    "[DU-13] an owner that was fenced after its batch landed is told so when it asks again, not that it may act",
    () =>
      Effect.gen(function* () {
        const { request, place } = yield* requestOf();
        const journal = yield* Journal;
        yield* journal.append(request);
        const events = { ...request, batchId: "only-events", records: [] };
        yield* claimed(place, WorkerId.make("the-next-owner"));
        const late = yield* Effect.flip(journal.append(request));
        assert.isTrue(late._tag === "FenceRejected" && late.currentEpoch === request.epoch + 1);
        assert.strictEqual((yield* Effect.flip(journal.append(events)))._tag, "FenceRejected");
        const stored = yield* journal.read({ ...request, after: 0, limit: 100 });
        assert.strictEqual(stored.length, 2);
      }),
  );

  const abort = (place: RunPlace) =>
    rows(
      `INSERT INTO abort_requests (tenant_id, run_id, thread_id, actor_kind, actor_id, actor_name, reason)
       VALUES ($1, $2, $3, 'operator', 'ada', 'Ada', 'enough')`,
      [place.tenantId, place.runId, place.threadId],
    );

  it.effect("[DU-12] no run is completed or failed past an abort that nobody delivered", () =>
    Effect.gen(function* () {
      const { place, writer } = yield* started();
      const of = recordsOf(place);
      yield* writer.append([of.opened(), of.attempt()]);
      yield* abort(place);
      const before = writer.tail();
      for (const outcome of ["completed", "failed"] as const) {
        const refused = yield* Effect.flip(writer.append([of.runSettled(outcome)]));
        assert.isTrue(refused._tag === "AbortPending" && refused.runId === place.runId);
      }
      const [thread] = yield* rows(
        "SELECT tail_sequence::int AS tail, tail_digest FROM threads WHERE thread_id = $1",
        [place.threadId],
      );
      assert.deepStrictEqual(thread, { tail: before.sequence, tail_digest: before.digest });
      // What the run did until then is still recorded, and then its end.
      yield* writer.append([of.turn([])]);
      yield* writer.append([of.aborted()]);
      yield* writer.append([of.runSettled("aborted")]);
      const [run] = yield* rows("SELECT state FROM runs WHERE run_id = $1", [place.runId]);
      assert.strictEqual(run?.["state"], "aborted");
    }),
  );

  it.effect("[DU-12] an abort that is being committed while the run is settled is not lost", () =>
    Effect.gen(function* () {
      const { place, writer } = yield* started();
      const of = recordsOf(place);
      yield* writer.append([of.opened(), of.attempt()]);
      const sql = yield* SqlClient.SqlClient;
      const asked = yield* Deferred.make<void>();
      const aborting = sql.withTransaction(
        Effect.gen(function* () {
          yield* rows("SELECT FROM runs WHERE run_id = $1 FOR UPDATE", [place.runId]);
          yield* abort(place);
          yield* Deferred.succeed(asked, undefined);
          yield* Effect.sleep("300 millis");
        }),
      );
      const settling = Effect.andThen(
        Deferred.await(asked),
        Effect.flip(writer.append([of.runSettled()])),
      );
      const [, refused] = yield* Effect.all([aborting, settling], { concurrency: 2 });
      assert.strictEqual(refused._tag, "AbortPending");
    }),
  );

  it.effect(
    "[PG-02] a connection that dies after COMMIT and before the reply does not append twice",
    () =>
      Effect.gen(function* () {
        const { request } = yield* requestOf();
        const proxy = yield* swallowingProxy(yield* TestUrl);
        const throughProxy = Layer.fresh(JournalPg.layer).pipe(
          Layer.provide(Layer.fresh(EventHints.layer)),
          Layer.provide(
            Layer.fresh(Database.layer({ url: Redacted.make(proxy.url), maxConnections: 1 })),
          ),
        );
        const [lost, again] = yield* Effect.gen(function* () {
          const journal = yield* Journal;
          yield* journal.read({ ...request, after: 0, limit: 1 });
          proxy.swallowNextReply();
          return [
            yield* Effect.flip(journal.append(request)),
            yield* Effect.retry(journal.append(request), {
              while: (error) => error._tag === "StoreError" && error.retryable,
              schedule: Schedule.spaced("20 millis"),
              times: 20,
            }),
          ] as const;
        }).pipe(Effect.provide(throughProxy));
        assert.isTrue(lost._tag === "StoreError" && lost.retryable);
        assert.isTrue(again.replayed);
        const journal = yield* Journal;
        const stored = yield* journal.read({ ...request, after: 0, limit: 100 });
        assert.strictEqual(stored.length, 2);
      }).pipe(Effect.scoped),
  );

  it.effect("[PG-02] the same batch id with other records is refused, at any tail", () =>
    Effect.gen(function* () {
      const { request, place } = yield* requestOf();
      const journal = yield* Journal;
      const first = yield* journal.append(request);
      const other = { ...request, records: [recordsOf(place).opened({ text: "other" })] };
      const atOldTail = yield* Effect.flip(journal.append(other));
      const atNewTail = yield* Effect.flip(journal.append({ ...other, expectedTail: first.tail }));
      const empty = yield* Effect.flip(
        journal.append({ ...request, records: [], expectedTail: first.tail }),
      );
      assert.deepStrictEqual(
        [atOldTail._tag, atNewTail._tag, empty._tag],
        ["JournalBatchConflict", "JournalBatchConflict", "JournalBatchConflict"],
      );
    }),
  );

  it.effect("[DU-13][PG-03] an owner with a stale epoch can append nothing, not even events", () =>
    Effect.gen(function* () {
      const { request, place } = yield* requestOf();
      const journal = yield* Journal;
      const newer = yield* claimed(place, WorkerId.make("worker-2"));
      const before = yield* rows("SELECT count(*)::int AS n FROM event_inbox");
      const stale = yield* Effect.flip(journal.append(request));
      const soft = yield* Effect.flip(
        journal.append({
          ...request,
          records: [],
          events: [{ event: { _tag: "ModelRequested", turn: 1 }, at: 1 }],
        }),
      );
      assert.isTrue(stale._tag === "FenceRejected" && stale.currentEpoch === newer.epoch);
      assert.strictEqual(soft._tag, "FenceRejected");
      const stored = yield* journal.read({ ...request, after: 0, limit: 10 });
      assert.strictEqual(stored.length, 0);
      const events = yield* rows(
        "SELECT count(*)::int AS n FROM event_inbox WHERE run_id = $1 AND kind <> 'RunQueued'",
        [place.runId],
      );
      assert.strictEqual(events[0]?.["n"], 0);
      assert.isNumber(before[0]?.["n"]);
    }),
  );

  it.effect("[PG-02] a stale tail is refused with the tail that is true", () =>
    Effect.gen(function* () {
      const { request, place } = yield* requestOf();
      const journal = yield* Journal;
      const first = yield* journal.append(request);
      const wrongSequence = yield* Effect.flip(
        journal.append({ ...request, batchId: "late", records: [recordsOf(place).turn([])] }),
      );
      const wrongDigest = yield* Effect.flip(
        journal.append({
          ...request,
          batchId: "later",
          expectedTail: { sequence: first.tail.sequence, digest: digest("f") },
          records: [recordsOf(place).turn([])],
        }),
      );
      for (const error of [wrongSequence, wrongDigest]) {
        assert.isTrue(
          error._tag === "JournalTailConflict" &&
            error.actualSequence === first.tail.sequence &&
            error.actualDigest === first.tail.digest,
        );
      }
    }),
  );

  it.effect(
    "[PG-06] NUL, lone surrogates, negative zero and hostile names are stored exactly",
    () =>
      Effect.gen(function* () {
        const { place, writer } = yield* started({ input: "nul" });
        const of = recordsOf(place);
        const hostile = {
          nul: "a\u0000b",
          lone: "\ud800",
          low: "\udfff",
          zero: -0,
          ["\u0000key"]: "'; DROP TABLE runs; --",
        };
        const turn = of.turn(["c1"], { parameters: hostile, toolName: "evil\u0000\ud800name" });
        const written = [of.opened(hostile), turn, of.settled("c1", hostile)];
        yield* writer.append(written);
        const journal = yield* Journal;
        const stored = yield* journal.read({ ...place, after: 0, limit: 10 });
        assert.deepStrictEqual(
          stored.map((row) => row.record),
          written,
        );
        const first = stored[0]?.record;
        assert.isTrue(
          first?._tag === "RunOpened" && Object.is((first.input as { zero: number }).zero, -0),
        );
        const links = stored.map((row) => ({ ...row, body: bodyOf(row.record) }));
        assert.isUndefined(verifyChain(place.threadId, links));
        const [call] = yield* rows("SELECT tool_name FROM tool_calls WHERE run_id = $1", [
          place.runId,
        ]);
        assert.strictEqual(call?.["tool_name"], "evil\u2400\ufffdname");
      }),
  );

  it.effect("[DU-10] a second settlement of a run is refused by the database", () =>
    Effect.gen(function* () {
      const { place, writer } = yield* started();
      const of = recordsOf(place);
      yield* writer.append([of.opened(), of.runSettled()]);
      const error = yield* Effect.flip(writer.append([of.runSettled("failed")]));
      assert.isTrue(
        error._tag === "StoreError" &&
          !error.retryable &&
          error.message.includes("one_settlement_per_run"),
      );
    }),
  );

  it.effect("[PG-02] a thread that was never admitted cannot be appended to", () =>
    Effect.gen(function* () {
      const { request } = yield* requestOf();
      const journal = yield* Journal;
      const error = yield* Effect.flip(
        journal.append({ ...request, threadId: "thr_nobody" as never, expectedTail: emptyTail }),
      );
      assert.isTrue(error._tag === "StoreError" && !error.retryable);
    }),
  );

  it.effect("[PG-02] replaying a batch of events only writes them once", () =>
    Effect.gen(function* () {
      const { request, place } = yield* requestOf();
      const journal = yield* Journal;
      const soft = {
        ...request,
        batchId: "soft",
        records: [],
        events: [{ event: { _tag: "ModelRequested" as const, turn: 1 }, at: 1_234 }],
      };
      const first = yield* journal.append(soft);
      const again = yield* journal.append(soft);
      assert.isFalse(first.replayed);
      assert.isTrue(again.replayed);
      assert.deepStrictEqual(first.tail, request.expectedTail);
      const found = yield* rows(
        `SELECT count(*)::int AS n FROM (SELECT run_id, kind FROM event_inbox UNION ALL SELECT run_id, kind FROM events) e
         WHERE run_id = $1 AND kind = 'ModelRequested'`,
        [place.runId],
      );
      assert.strictEqual(found[0]?.["n"], 1);
    }),
  );

  it.effect("[PG-05] records of another tenant are not read, even by the same thread id", () =>
    Effect.gen(function* () {
      const mine = yield* started({ tenant: "acme" });
      const theirs = yield* admit({ tenant: "other", threadId: mine.place.threadId });
      const claim = yield* claimed(theirs.place);
      yield* mine.writer.append([recordsOf(mine.place).opened()]);
      const journal = yield* Journal;
      assert.deepStrictEqual(claim.tail, emptyTail);
      const stored = yield* journal.read({ ...theirs.place, after: 0, limit: 10 });
      assert.strictEqual(stored.length, 0);
      const own = yield* journal.read({ ...mine.place, after: 0, limit: 10 });
      assert.strictEqual(own.length, 1);
    }),
  );
});
