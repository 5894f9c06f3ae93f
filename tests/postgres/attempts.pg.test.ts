import { assert, layer } from "@effect/vitest";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import { WorkerId } from "#lib/contract/ids.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { listWorkers } from "#server/views/list-workers.ts";
import { recordsOf } from "#tests/postgres/records.ts";
import { admit, claimed, rows, started, store, writerOf } from "#tests/postgres/store.ts";
import { abort, claimOf, decide, isDue } from "#tests/postgres/people.ts";

layer(store, { excludeTestServices: true })("attempts on Postgres", (it) => {
  it.effect(
    "[PG-08] a postponed attempt is due again after its delay, and only its owner can postpone",
    () =>
      Effect.gen(function* () {
        const { place, claim } = yield* started();
        const ledger = yield* SubmissionLedger;
        const postpone = {
          ...place,
          epoch: claim.epoch,
          delaySeconds: 0.4,
          reason: "the model is away",
        };
        yield* ledger.postpone({ ...postpone, epoch: claim.epoch - 1, delaySeconds: 100 });
        yield* ledger.postpone(postpone);
        assert.isTrue(Option.isNone(yield* claimOf(place)));
        assert.isFalse(yield* isDue(place));
        yield* Effect.sleep("500 millis");
        assert.isTrue(yield* isDue(place));
        const again = yield* claimed(place);
        assert.strictEqual(again.lostAttempts, 1);
      }),
  );

  it.effect("[DU-08] attempts are lost in a row: progress starts the count again", () =>
    Effect.gen(function* () {
      const { place } = yield* admit();
      const of = recordsOf(place);
      yield* claimed(place);
      yield* claimed(place);
      const third = yield* claimed(place);
      assert.strictEqual(third.lostAttempts, 2);
      const writer = writerOf(third);
      // An attempt that only starts is no progress.
      yield* writer.append([of.opened(), of.attempt(1, third.epoch)]);
      assert.strictEqual((yield* claimed(place)).lostAttempts, 3);
      const fifth = yield* claimed(place);
      const next = writerOf(fifth);
      yield* next.append([of.turn(["c1"]), of.prepared("c1")]);
      assert.strictEqual((yield* claimed(place)).lostAttempts, 1);
      const seventh = yield* claimed(place);
      assert.strictEqual(seventh.lostAttempts, 2);
      yield* writerOf(seventh).append([of.settled("c1")]);
      assert.strictEqual((yield* claimed(place)).lostAttempts, 1);
    }),
  );

  it.effect("[DU-08] a wait for people is no lost attempt and forgets those before it", () =>
    Effect.gen(function* () {
      const { place } = yield* admit();
      const of = recordsOf(place);
      yield* claimed(place);
      yield* writerOf(yield* claimed(place)).append([
        of.opened(),
        of.attempt(),
        of.turn(["c1"]),
        of.approvalRequested("c1"),
      ]);
      const claim = yield* claimed(place);
      assert.strictEqual(claim.lostAttempts, 1);
      yield* writerOf(claim).append([of.suspended("approval")]);
      yield* decide(place, "c1", "approved");
      assert.strictEqual((yield* claimed(place)).lostAttempts, 0);
    }),
  );

  it.effect("[DU-08] what is given back without counting is never a lost attempt", () =>
    Effect.gen(function* () {
      const { place } = yield* admit();
      const ledger = yield* SubmissionLedger;
      for (let round = 0; round < 6; round += 1) {
        const claim = yield* claimed(place);
        assert.strictEqual(claim.lostAttempts, 0);
        yield* ledger.postpone({
          ...place,
          epoch: claim.epoch,
          delaySeconds: 0,
          reason: "handed over",
          counts: false,
        });
      }
      const failing = yield* claimed(place);
      yield* ledger.postpone({
        ...place,
        epoch: failing.epoch,
        delaySeconds: 0,
        reason: "the model is away",
        counts: true,
      });
      assert.strictEqual((yield* claimed(place)).lostAttempts, 1);
    }),
  );

  it.effect("[DU-13] an owner that gives up while a newer one claims takes nothing from it", () =>
    Effect.gen(function* () {
      const { place, claim } = yield* started();
      const ledger = yield* SubmissionLedger;
      const sql = yield* SqlClient.SqlClient;
      const claimedAlready = yield* Deferred.make<void>();
      const claiming = sql.withTransaction(
        Effect.gen(function* () {
          yield* rows("SELECT * FROM submission_claim($1, $2, 'newer')", [
            place.tenantId,
            place.threadId,
          ]);
          yield* Deferred.succeed(claimedAlready, undefined);
          yield* Effect.sleep("300 millis");
        }),
      );
      const postponing = Effect.andThen(
        Deferred.await(claimedAlready),
        ledger.postpone({ ...place, epoch: claim.epoch, delaySeconds: 100, reason: "late" }),
      );
      yield* Effect.all([claiming, postponing], { concurrency: 2 });
      const [submission] = yield* rows(
        "SELECT state, postponed_reason FROM submissions WHERE run_id = $1",
        [place.runId],
      );
      assert.deepStrictEqual(submission, { state: "running", postponed_reason: null });
    }),
  );

  it.effect("[DU-13] what a worker held is due as soon as it says that it ends", () =>
    Effect.gen(function* () {
      const ledger = yield* SubmissionLedger;
      const ending = WorkerId.make("ending");
      yield* ledger.heartbeat({ workerId: ending, address: "10.0.0.7:1" });
      const { place } = yield* admit();
      yield* claimed(place, ending);
      assert.isFalse(yield* isDue(place));
      yield* ledger.retire({ workerId: ending });
      assert.isTrue(yield* isDue(place));
      const stopped = yield* rows(
        "SELECT stopped_at IS NOT NULL AS stopped FROM workers WHERE worker_id IN ('ending', 'alive')",
      );
      assert.deepStrictEqual(stopped, [{ stopped: true }]);
    }),
  );

  it.effect(
    "[DU-13] a new worker clears away those of whom nobody has heard for a week, and what one of them held is due",
    () =>
      Effect.gen(function* () {
        const ledger = yield* SubmissionLedger;
        const seen = ["old", "lately"].map((name) => WorkerId.make(name));
        for (const workerId of seen)
          yield* ledger.heartbeat({ workerId, address: `10.0.1.1:${workerId}` });
        const { place } = yield* admit();
        yield* claimed(place, WorkerId.make("old"));
        yield* rows(`UPDATE workers SET heartbeat_at = now() - CASE worker_id WHEN 'old' THEN interval '8 days'
          ELSE interval '6 days' END WHERE worker_id IN ('old', 'lately')`);
        const kept = rows("SELECT worker_id FROM workers WHERE worker_id IN ('old', 'lately')");
        // A beat of a worker that is known already clears nothing away.
        const young = { workerId: WorkerId.make("young"), address: "10.0.1.1:9" };
        yield* ledger.heartbeat(young);
        assert.deepStrictEqual(yield* kept, [{ worker_id: "lately" }]);
        yield* rows(
          "UPDATE workers SET heartbeat_at = now() - interval '8 days' WHERE worker_id = 'lately'",
        );
        yield* ledger.heartbeat(young);
        assert.deepStrictEqual(yield* kept, [{ worker_id: "lately" }]);
        assert.isTrue(yield* isDue(place));
      }),
  );

  it.effect("[DU-13] a run whose worker fell silent is due, one whose worker lives is not", () =>
    Effect.gen(function* () {
      const ledger = yield* SubmissionLedger;
      const alive = WorkerId.make("alive");
      const gone = WorkerId.make("gone");
      yield* ledger.heartbeat({ workerId: alive, address: "10.0.0.1:1" });
      yield* ledger.heartbeat({ workerId: gone, address: "10.0.0.2:1" });
      const one = yield* admit();
      const two = yield* admit();
      yield* claimed(one.place, alive);
      yield* claimed(two.place, gone);
      assert.isFalse(yield* isDue(one.place));
      assert.isFalse(yield* isDue(two.place));
      yield* rows(
        "UPDATE workers SET heartbeat_at = now() - interval '7 seconds' WHERE worker_id = 'gone'",
      );
      assert.isTrue(yield* isDue(two.place));
      // The Workers page says so at the same moment.
      const states = (yield* listWorkers(one.place.tenantId)).map((seen) => [
        seen.workerId,
        seen.state,
      ]);
      assert.deepInclude(states, ["gone", "silent"]);
      assert.deepInclude(states, ["alive", "alive"]);
      // A new process at the address of the old one: the old one is gone at once.
      const reborn = WorkerId.make("reborn");
      yield* ledger.heartbeat({ workerId: reborn, address: "10.0.0.1:1" });
      yield* ledger.heartbeat({ workerId: reborn, address: "10.0.0.1:1" });
      assert.isTrue(yield* isDue(one.place));
      yield* ledger.heartbeat({ workerId: alive, address: "10.0.0.1:1" });
      assert.isFalse(yield* isDue(one.place));
      yield* claimed(two.place, reborn);
      const [takeover] = yield* rows(
        "SELECT last_takeover_at FROM workers WHERE worker_id = 'reborn'",
      );
      assert.isNotNull(takeover?.["last_takeover_at"]);
    }),
  );

  it.effect(
    "[PG-08] a claim that nobody drives under a living worker is looked at again, now and then",
    () =>
      Effect.gen(function* () {
        const ledger = yield* SubmissionLedger;
        const living = WorkerId.make("living");
        yield* ledger.heartbeat({ workerId: living, address: "10.0.0.9:1" });
        const { place } = yield* admit();
        yield* claimed(place, living);
        assert.isFalse(yield* isDue(place));
        yield* rows(
          "UPDATE submissions SET due_at = now() - interval '1 second' WHERE run_id = $1",
          [place.runId],
        );
        assert.isTrue(yield* isDue(place));
        assert.isFalse(yield* isDue(place));
      }),
  );

  it.effect(
    "[PG-08] a claim whose answer cannot be read is not made, and put off for ever longer",
    () =>
      Effect.gen(function* () {
        const { place, writer } = yield* started();
        yield* writer.append([recordsOf(place).opened()]);
        yield* rows(
          'UPDATE journal_records SET body = \'{"_tag":"FromTheFuture"}\' WHERE run_id = $1',
          [place.runId],
        );
        const delays: Array<unknown> = [];
        for (let round = 0; round < 3; round += 1) {
          const error = yield* Effect.flip(claimOf(place));
          assert.isTrue(error._tag === "StoreError" && !error.retryable);
          assert.isFalse(yield* isDue(place));
          assert.isTrue(Option.isNone(yield* claimOf(place)));
          const [submission] = yield* rows(
            `UPDATE submissions SET state_since = state_since - interval '1 hour', due_at = due_at - interval '1 hour'
           WHERE run_id = $1 RETURNING state, lost_attempts, postponed_reason,
             round(extract(epoch FROM due_at - state_since))::int AS delay`,
            [place.runId],
          );
          assert.strictEqual(submission?.["state"], "ready");
          assert.strictEqual(submission?.["lost_attempts"], 1);
          assert.include(
            String(submission?.["postponed_reason"]),
            "not what this version can read",
          );
          assert.isTrue(yield* isDue(place));
          delays.push(submission?.["delay"]);
        }
        assert.deepStrictEqual(delays, [1, 2, 4]);
        // An abort does not make it readable, but asks again once.
        yield* abort(place);
        yield* Effect.flip(claimOf(place));
        assert.isFalse(yield* isDue(place));
        assert.isTrue(Option.isNone(yield* claimOf(place)));
        const stale = yield* Effect.flip(writer.append([recordsOf(place).attempt()]));
        assert.strictEqual(stale._tag, "FenceRejected");
      }),
  );

  it.effect("[DU-12] an abort reaches a postponed run before its delay is over", () =>
    Effect.gen(function* () {
      const { place, claim } = yield* started();
      const ledger = yield* SubmissionLedger;
      yield* ledger.postpone({ ...place, epoch: claim.epoch, delaySeconds: 100, reason: "away" });
      assert.isFalse(yield* isDue(place));
      yield* abort(place);
      assert.isTrue(yield* isDue(place));
      assert.strictEqual((yield* claimed(place)).undelivered.length, 1);
    }),
  );

  it.effect("[PG-08] an earlier run that cannot be read is left out of the history", () =>
    Effect.gen(function* () {
      const first = yield* started();
      yield* first.writer.append([
        recordsOf(first.place).opened(),
        recordsOf(first.place).runSettled(),
      ]);
      const second = yield* started({ threadId: first.place.threadId });
      yield* second.writer.append([
        recordsOf(second.place).opened(),
        recordsOf(second.place).runSettled(),
      ]);
      yield* rows(
        "UPDATE journal_records SET body = '{\"_tag\":\"FromTheFuture\"}' WHERE run_id = $1 AND kind = 'RunSettled'",
        [first.place.runId],
      );
      const { claim } = yield* started({ threadId: first.place.threadId });
      assert.deepStrictEqual(
        claim.history.map(({ record }) => record.runId),
        [second.place.runId, second.place.runId],
      );
    }),
  );
});
