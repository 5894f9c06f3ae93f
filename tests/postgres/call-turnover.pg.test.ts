import { assert, layer } from "@effect/vitest";
import * as Effect from "effect/Effect";
import type { RunEvent } from "#lib/contract/events.ts";
import type { RecordOf, RunRecord } from "#lib/contract/records.ts";
import { Journal, type AppendRequest } from "#lib/durable/Journal.ts";
import { rebuildProjections } from "#server/postgres/rebuild-projections.ts";
import { agentId, digest, recordsOf, type RunPlace } from "#tests/postgres/records.ts";
import { claimed, rows, started, store } from "#tests/postgres/store.ts";

/** An event of no record makes an append one of the general way. */
const aside: AppendRequest["events"] = [
  { event: { _tag: "ModelRequested", turn: 1 } satisfies RunEvent, at: 1 },
];

type Settled = Partial<RecordOf<"ToolCallSettled">>;

/** What a run of six calls appends: promises alone, successes with and without what may be missing, both. */
const historyOf = (place: RunPlace): ReadonlyArray<ReadonlyArray<RunRecord>> => {
  const of = recordsOf(place);
  const { startedAt: _, ...unstarted } = of.settled("c3");
  const failed: Settled = {
    kind: "failed",
    isFailure: true,
    failure: { errorTag: "Declined", message: "no" },
    failureHandling: "returned-to-model",
  };
  return [
    [of.prepared("c1")],
    [of.settled("c1", { ok: 1 }, { failureMode: "error" }), of.prepared("c2")],
    [of.settled("c2", "text", failed), of.prepared("c3", 2)],
    [unstarted, of.prepared("c4")],
    // A call that was never prepared has no start but its own.
    [of.settled("c5", null, { startedAt: 4_500, source: "provider" })],
    [of.settled("c4", { ok: "\u0000 ü" }, { originalBytes: 3_000_000_000 })],
    [of.prepared("c6")],
    // The same call again: what it had is written over, and nothing else.
    [of.settled("c6", "text", failed)],
    [of.settled("c6")],
    [of.prepared("c6", 2)],
    [of.prepared("c2", 2)],
    [of.settled("c1")],
    // More than the short append has a place for.
    [of.settled("c3", null, { failureHandling: "returned-to-model" })],
  ];
};

const ids = ["c1", "c2", "c3", "c4", "c5", "c6"];
/** Events of the admission and of the first append: queued, started, attempt, turn and its calls. */
const opening = 4 + ids.length;

layer(store, { excludeTestServices: true })("a call's success and the next one's promise", (it) => {
  const rename = (from: string, to: string) =>
    rows(`DO $$ DECLARE f regprocedure; BEGIN
      FOR f IN SELECT oid FROM pg_proc WHERE proname = '${from}' LOOP
        EXECUTE format('ALTER FUNCTION %s RENAME TO ${to}', f);
      END LOOP; END $$`);
  /** Runs `effect` while there is no general append. */
  const withoutGeneralAppend = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(
      rename("journal_append", "journal_append_away"),
      () => effect,
      () => rename("journal_append_away", "journal_append"),
    );

  const callsOf = (place: RunPlace) =>
    rows(
      `SELECT turn, call_id, state, failure_mode, failure_handling, failure_tag, failure_message, is_failure,
         original_bytes, idempotency_key, attempt, prepared_sequence, settled_sequence, ended_at,
         CASE WHEN started_at < '1980-01-01' THEN started_at END AS own_start, started_at IS NULL AS unstarted
       FROM tool_calls WHERE run_id = $1 ORDER BY call_id`,
      [place.runId],
    );

  const writtenBy = (tenant: string, events: AppendRequest["events"]) =>
    Effect.gen(function* () {
      const { place, writer } = yield* started({ tenant });
      const of = recordsOf(place);
      yield* writer.append([of.opened(), of.attempt(), of.turn(ids)]);
      for (const records of historyOf(place)) yield* writer.append(records, events);
      const journal = yield* Journal;
      const { tenantId, threadId } = place;
      const stored = yield* journal.read({ tenantId, threadId, after: 3, limit: 100 });
      const told = yield* rows(
        `SELECT kind, body FROM (
           SELECT 1 AS part, sequence AS place, run_id, kind, body FROM events
           UNION ALL SELECT 2, event_id, run_id, kind, body FROM event_inbox) AS told
         WHERE run_id = $1 AND kind <> 'ModelRequested' ORDER BY part, place`,
        [place.runId],
      );
      return { place, stored, told, calls: yield* callsOf(place) };
    });

  it.effect(
    "[PG-01] it changes exactly what the general append changes, and a rebuild agrees",
    () =>
      Effect.gen(function* () {
        const short = yield* writtenBy("short", []);
        const general = yield* writtenBy("general", aside);
        assert.deepStrictEqual(short.calls, general.calls);
        assert.isTrue(short.calls.some((call) => call["is_failure"] === true));
        assert.deepStrictEqual(
          short.stored.map(({ sequence, record }) => [sequence, record]),
          historyOf(short.place)
            .flat()
            .map((record, index) => [index + 4, record]),
        );
        assert.deepStrictEqual(short.told.slice(opening), general.told.slice(opening));
        for (const tenant of ["short", "general"]) {
          assert.deepStrictEqual((yield* rebuildProjections(tenant)).differences, []);
        }
      }),
  );

  const turnover = Effect.fnUntraced(function* () {
    const { place, claim, writer } = yield* started();
    const of = recordsOf(place);
    const before = yield* writer.append([
      of.opened(),
      of.attempt(),
      of.turn(ids),
      of.prepared("c1"),
    ]);
    const request: AppendRequest = {
      tenantId: place.tenantId,
      threadId: place.threadId,
      runId: place.runId,
      agentId,
      epoch: claim.epoch,
      expectedTail: before.tail,
      batchId: `turnover-${place.runId}`,
      records: [of.settled("c1"), of.prepared("c2")],
      events: [],
      diagnostics: [],
    };
    return { place, request, of, journal: yield* Journal };
  });
  const recordsIn = (place: RunPlace) =>
    Effect.map(
      rows("SELECT count(*)::int AS n FROM journal_records WHERE run_id = $1", [place.runId]),
      ([row]) => row?.["n"],
    );

  it.effect("[PG-02] it needs no other statement, and its repeat gives the first answer", () =>
    Effect.gen(function* () {
      const { place, request, of, journal } = yield* turnover();
      const first = yield* withoutGeneralAppend(journal.append(request));
      assert.isFalse(first.replayed);
      assert.strictEqual(first.tail.sequence, 6);
      assert.deepStrictEqual(yield* journal.append(request), { ...first, replayed: true });
      const next = { ...request, expectedTail: first.tail, batchId: `next-${place.runId}` };
      yield* withoutGeneralAppend(journal.append({ ...next, records: [of.settled("c2")] }));
      assert.deepStrictEqual(yield* journal.append(request), { ...first, replayed: true });
      assert.strictEqual(yield* recordsIn(place), 7);
    }),
  );

  it.effect("[PG-02] a batch id is used once, also at a later tail", () =>
    Effect.gen(function* () {
      const { place, request, of, journal } = yield* turnover();
      const first = yield* journal.append(request);
      const other = { ...request, records: [of.settled("c1", "other"), of.prepared("c2")] };
      const atTail = { ...other, expectedTail: first.tail };
      for (const refused of [other, atTail]) {
        const error = yield* Effect.flip(journal.append(refused));
        assert.strictEqual(error._tag, "JournalBatchConflict");
      }
      yield* journal.append({
        ...atTail,
        batchId: `between-${place.runId}`,
        records: [of.settled("c2")],
      });
      const [tail] = yield* rows(
        "SELECT tail_sequence, tail_digest FROM threads WHERE thread_id = $1",
        [place.threadId],
      );
      const late = {
        ...other,
        expectedTail: {
          sequence: Number(tail?.["tail_sequence"]),
          digest: String(tail?.["tail_digest"]),
        } as AppendRequest["expectedTail"],
      };
      const error = yield* Effect.flip(journal.append(late));
      assert.strictEqual(error._tag, "JournalBatchConflict");
      assert.strictEqual(yield* recordsIn(place), 7);
    }),
  );

  it.effect("[DU-13][PG-02] a wrong tail and a stale epoch write nothing", () =>
    Effect.gen(function* () {
      const { place, request, journal } = yield* turnover();
      const { expectedTail } = request;
      const wrongTails = [
        { ...expectedTail, sequence: 3 },
        { ...expectedTail, sequence: 9 },
        { ...expectedTail, digest: digest("0") },
      ];
      for (const wrong of wrongTails) {
        const error = yield* Effect.flip(journal.append({ ...request, expectedTail: wrong }));
        assert.strictEqual(error._tag, "JournalTailConflict");
      }
      yield* claimed(place);
      const stale = yield* Effect.flip(journal.append(request));
      assert.strictEqual(stale._tag, "FenceRejected");
      assert.strictEqual(yield* recordsIn(place), 4);
      const running = yield* rows(
        "SELECT call_id FROM tool_calls WHERE run_id = $1 AND state = 'running'",
        [place.runId],
      );
      assert.deepStrictEqual(running, [{ call_id: "c1" }]);
    }),
  );

  it.effect("a result starts the count of lost attempts again, a promise alone does not", () =>
    Effect.gen(function* () {
      const { place, request, of, journal } = yield* turnover();
      const { epoch, lostAttempts } = yield* claimed(place);
      assert.strictEqual(lostAttempts, 1);
      const lost = Effect.map(
        rows("SELECT lost_attempts FROM submissions WHERE run_id = $1", [place.runId]),
        ([row]) => row?.["lost_attempts"],
      );
      const promised = yield* journal.append({
        ...request,
        epoch,
        batchId: `promise-${place.runId}`,
        records: [of.prepared("c2")],
      });
      assert.strictEqual(yield* lost, 1);
      yield* journal.append({
        ...request,
        epoch,
        expectedTail: promised.tail,
        records: [of.settled("c2"), of.prepared("c3")],
      });
      assert.strictEqual(yield* lost, 0);
      assert.strictEqual((yield* claimed(place)).lostAttempts, 1);
    }),
  );
});
