/** How each attempt ended is read with one look at the run's records: it must be what a look beside each attempt finds. */
import { Effect, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { afterAll, assert, beforeAll, it } from "vitest";
import { readRunExplanation } from "#server/views/run-explanation.ts";
import { decodeRows } from "#server/views/snapshot.ts";
import { startApi, type TestApi } from "#tests/support/api-server.ts";
import { startedRun } from "#tests/support/ledger-fixtures.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
}, 60_000);
afterAll(() => api.close());

/** What each attempt did before the next began: a lost one leaves nothing. */
const attempts = ["approval", "lost", "unknown", "lost", "approval then unknown", "lost"];

it("[OP-12] each recovery decision says what its own attempt waited for, and one that was lost says nothing", async () => {
  const decisions = await api.run(
    Effect.gen(function* () {
      const run = yield* startedRun();
      const { place, records } = run;
      for (const [at, end] of attempts.entries()) {
        const attempt = at + 1;
        if (attempt > 1) yield* run.append([records.attempt(attempt)]);
        if (end.includes("approval")) yield* run.append([records.suspended("approval", attempt)]);
        if (end.includes("unknown")) yield* run.append([records.suspended("unknown", attempt)]);
      }
      // Each attempt is a claim of its own; the fixture has one.
      const sql = yield* SqlClient;
      yield* sql`
        UPDATE journal_records j SET epoch = (SELECT count(*) FROM journal_records a
          WHERE a.run_id = j.run_id AND a.kind = 'AttemptStarted' AND a.sequence <= j.sequence)
        WHERE j.run_id = ${place.runId}`;
      const slow = yield* decodeRows(Schema.Struct({ waiting: Schema.NullOr(Schema.String) }))(sql`
        SELECT (SELECT n.body::json ->> 'waitingFor' FROM journal_records n
          WHERE n.run_id = j.run_id AND n.kind = 'RunSuspended' AND n.epoch = j.epoch
          ORDER BY n.sequence DESC LIMIT 1) AS waiting
        FROM journal_records j WHERE j.run_id = ${place.runId} AND j.kind = 'AttemptStarted' ORDER BY j.sequence`);
      const view = yield* readRunExplanation(place.tenantId, place.runId);
      assert.deepStrictEqual(
        view.decisions.map(({ suspendedFor }) => suspendedFor),
        slow.map(({ waiting }) => waiting),
      );
      return view.decisions;
    }),
  );
  assert.deepStrictEqual(
    decisions.map(({ attempt, suspendedFor }) => [attempt, suspendedFor]),
    [
      [1, "approval"],
      [2, null],
      [3, "unknown"],
      [4, null],
      [5, "unknown"],
      [6, null],
    ],
  );
});
