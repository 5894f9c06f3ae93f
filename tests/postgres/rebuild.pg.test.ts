import { assert, layer } from "@effect/vitest";
import * as Effect from "effect/Effect";
import { approvalRequestIdOf, unknownIdOf } from "#lib/durable/derived-ids.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { rebuildProjections } from "#server/postgres/rebuild-projections.ts";
import { callId, recordsOf, type RunPlace } from "#tests/postgres/records.ts";
import { admit, claimed, rows, started, store, writerOf } from "#tests/postgres/store.ts";

const position = (place: RunPlace, id: string) => ({
  tenantId: place.tenantId,
  runId: place.runId,
  turn: 1,
  callId: callId(id),
});

const decide = (place: RunPlace, id: string, state: string) =>
  rows(
    `UPDATE approval_requests SET state = $2, decider_kind = 'operator', decider_id = 'ada', decider_name = 'Ada',
       decision_reason = 'fine', decided_at = clock_timestamp(),
       suggestion = CASE WHEN $2::text = 'denied' THEN '{"amount":5}' END WHERE request_id = $1`,
    [approvalRequestIdOf(position(place, id)), state],
  );

const resolve = (place: RunPlace, id: string) =>
  rows(
    `UPDATE unknown_outcomes SET state = 'resolved', resolution = 'safe-to-retry', resolver_kind = 'operator',
       resolver_id = 'ada', resolver_name = 'Ada', resolution_reason = 'saw it', evidence = 'ledger 7',
       resolved_at = clock_timestamp() WHERE unknown_id = $1`,
    [unknownIdOf(position(place, id), 1)],
  );

const abort = (place: RunPlace) =>
  rows(
    `INSERT INTO abort_requests (tenant_id, run_id, thread_id, actor_kind, actor_id, actor_name, reason)
     VALUES ($1, $2, $3, 'operator', 'ada', 'Ada', 'enough')`,
    [place.tenantId, place.runId, place.threadId],
  ).pipe(Effect.as(place));

/** One run that meets nearly everything: approvals, a denial, an expiry, a doubt, a retry, an abort. */
const busyRun = Effect.fnUntraced(function* (tenant: string, index: number) {
  const { place, writer } = yield* started({ tenant });
  const of = recordsOf(place);
  yield* writer.append([of.opened(), of.attempt()]);
  yield* writer.append([of.turn(["c1", "c2", "c3", "c4"])]);
  yield* writer.append([
    of.approvalRequested("c1"),
    of.approvalRequested("c2", { expiresAt: 1_000 }),
    of.approvalRequested("c3"),
    of.suspended("approval"),
  ]);
  yield* decide(place, "c1", "approved");
  yield* decide(place, "c2", "denied");
  if (index % 3 === 0) return;
  yield* decide(place, "c3", "approved");
  const resumed = yield* claimed(place);
  const next = writerOf(resumed);
  yield* next.append([of.attempt(2, resumed.epoch), ...resumed.undelivered]);
  yield* next.append([
    of.settled(
      "c2",
      { reason: "no" },
      { kind: "denied-by-person", isFailure: true, source: "approval" },
    ),
    of.prepared("c1"),
    of.prepared("c3"),
  ]);
  yield* next.append([of.settled("c1"), of.unknown("c3"), of.denied("c4")]);
  yield* next.append([of.suspended("unknown", 2)]);
  if (index % 3 === 1) return;
  yield* resolve(place, "c3");
  const last = yield* claimed(place);
  const end = writerOf(last);
  yield* end.append([
    of.attempt(3, last.epoch),
    ...last.undelivered,
    of.prepared("c3", 3),
    of.settled("c3"),
    of.checkFailed("c4"),
  ]);
  yield* rows(
    "UPDATE denials SET acknowledged_at = now(), acknowledger_id = 'ada', acknowledger_name = 'Ada', note = 'seen' WHERE run_id = $1",
    [place.runId],
  );
  yield* end.append([of.turn(["c1"], { turn: 2, toolName: "other_tool" })]);
  yield* end.append([of.runSettled(index % 2 === 0 ? "completed" : "failed")]);
});

layer(store, { excludeTestServices: true })("projections rebuilt from records", (it) => {
  it.effect("[PG-01] after a busy history they equal the live tables", () =>
    Effect.gen(function* () {
      yield* Effect.forEach(
        Array.from({ length: 18 }, (_, index) => index),
        (index) => busyRun("busy", index),
        {
          concurrency: 6,
        },
      );
      const { place } = yield* started({ tenant: "busy" });
      const long = recordsOf(place);
      const { claim } = { claim: yield* claimed(place) };
      const writer = writerOf(claim);
      yield* writer.append([
        long.opened(),
        long.turn(Array.from({ length: 600 }, (_, index) => `k${index}`)),
      ]);
      yield* writer.append(Array.from({ length: 600 }, (_, index) => long.prepared(`k${index}`)));
      yield* writer.append(Array.from({ length: 600 }, (_, index) => long.settled(`k${index}`)));
      const waiting = yield* admit({ tenant: "busy", threadId: place.threadId, input: "queued" });
      yield* abort(place);
      const ledger = yield* SubmissionLedger;
      yield* writer.append([...(yield* ledger.undelivered(place)), long.runSettled("aborted")]);
      const report = yield* rebuildProjections("busy");
      assert.deepStrictEqual(report.differences, []);
      const [count] = yield* rows(
        "SELECT count(*)::int AS n FROM journal_records WHERE tenant_id = 'busy'",
      );
      assert.strictEqual(report.records, count?.["n"]);
      assert.isDefined(waiting);
    }),
  );

  it.effect("[PG-01] a resolution that the run ended without hearing is no difference", () =>
    Effect.gen(function* () {
      const { place, writer } = yield* started({ tenant: "unheard" });
      const of = recordsOf(place);
      yield* writer.append([of.opened(), of.attempt(), of.turn(["c1"]), of.prepared("c1")]);
      yield* writer.append([of.unknown("c1"), of.suspended("unknown")]);
      const resumed = yield* claimed(yield* abort(place));
      yield* resolve(place, "c1");
      yield* writerOf(resumed).append([...resumed.undelivered, of.runSettled("aborted")]);
      assert.deepStrictEqual((yield* rebuildProjections("unheard")).differences, []);
      const [unknown] = yield* rows(
        "SELECT state, after_settlement FROM unknown_outcomes WHERE run_id = $1",
        [place.runId],
      );
      assert.deepStrictEqual(unknown, { state: "resolved", after_settlement: true });
    }),
  );

  it.effect("[PG-01] a projection that was tampered with, lost or invented is reported", () =>
    Effect.gen(function* () {
      yield* busyRun("tampered", 2);
      yield* busyRun("tampered", 5);
      assert.deepStrictEqual((yield* rebuildProjections("tampered")).differences, []);
      yield* rows(
        "UPDATE tool_calls SET state = 'succeeded' WHERE tenant_id = 'tampered' AND call_id = 'c2'",
      );
      yield* rows("DELETE FROM turns WHERE tenant_id = 'tampered' AND turn = 2");
      yield* rows("UPDATE runs SET input_tokens = input_tokens + 1 WHERE tenant_id = 'tampered'");
      const { differences } = yield* rebuildProjections("tampered");
      const found = new Set(differences.map(({ table, side }) => `${table} ${side}`));
      assert.deepStrictEqual([...found].toSorted(), [
        "runs live",
        "runs rebuilt",
        "tool_calls live",
        "tool_calls rebuilt",
        "turns rebuilt",
      ]);
      // The comparison left nothing behind and changed nothing.
      const again = yield* rebuildProjections("tampered");
      assert.strictEqual(again.differences.length, differences.length);
    }),
  );
});
