import { assert, layer } from "@effect/vitest";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import { WorkerId } from "#lib/contract/ids.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { approvalRequestIdOf, unknownIdOf } from "#lib/durable/derived-ids.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { listWorkers } from "#server/views/list-workers.ts";
import { ada, callId, recordsOf, type RunPlace } from "#tests/postgres/records.ts";
import { admit, claimed, rows, started, store, worker, writerOf } from "#tests/postgres/store.ts";

const position = (place: RunPlace, id: string) => ({
  tenantId: place.tenantId,
  runId: place.runId,
  turn: 1,
  callId: callId(id),
});

/** What an operator's transaction does to the row. */
const decide = (place: RunPlace, id: string, state: "approved" | "denied") =>
  rows(
    `UPDATE approval_requests SET state = $3, decider_kind = 'operator', decider_id = 'ada', decider_name = 'Ada',
       decision_reason = 'fine', decided_at = clock_timestamp()
     WHERE tenant_id = $1 AND request_id = $2 AND state = 'pending'`,
    [place.tenantId, approvalRequestIdOf(position(place, id)), state],
  );

const resolve = (place: RunPlace, id: string) =>
  rows(
    `UPDATE unknown_outcomes SET state = 'resolved', resolution = 'completed-with-result', result = '{"n":"a\\u0000b"}',
       result_is_failure = false, resolver_kind = 'operator', resolver_id = 'ada', resolver_name = 'Ada',
       resolution_reason = 'saw it', evidence = 'ledger 7', resolved_at = clock_timestamp()
     WHERE tenant_id = $1 AND unknown_id = $2`,
    [place.tenantId, unknownIdOf(position(place, id), 1)],
  );

const abort = (place: RunPlace) =>
  rows(
    `INSERT INTO abort_requests (tenant_id, run_id, thread_id, actor_kind, actor_id, actor_name, reason)
     VALUES ($1, $2, $3, 'operator', 'ada', 'Ada', 'enough')`,
    [place.tenantId, place.runId, place.threadId],
  );

const claimOf = (place: RunPlace) =>
  Effect.flatMap(SubmissionLedger, (ledger) => ledger.claim({ ...place, workerId: worker }));

const isDue = (place: RunPlace) =>
  Effect.map(
    Effect.flatMap(SubmissionLedger, (ledger) => ledger.due(1_000)),
    (due) => due.some((thread) => thread.threadId === place.threadId),
  );

/** A run that waits for the approval of its calls. */
const waiting = Effect.fnUntraced(function* (
  ids: ReadonlyArray<string>,
  options: Parameters<ReturnType<typeof recordsOf>["approvalRequested"]>[1] = {},
) {
  const run = yield* started();
  const of = recordsOf(run.place);
  yield* run.writer.append([of.opened(), of.attempt(), of.turn(ids)]);
  yield* run.writer.append([
    ...ids.map((id) => of.approvalRequested(id, options)),
    of.suspended("approval"),
  ]);
  return { ...run, of };
});

const inDoubt = Effect.fnUntraced(function* (
  ids: ReadonlyArray<string>,
  options: Parameters<typeof started>[0] = {},
) {
  const run = yield* started(options);
  const of = recordsOf(run.place);
  yield* run.writer.append([
    of.opened(),
    of.attempt(),
    of.turn(ids),
    ...ids.map((id) => of.prepared(id)),
  ]);
  yield* run.writer.append([...ids.map((id) => of.unknown(id)), of.suspended("unknown")]);
  return { ...run, of };
});

layer(store, { excludeTestServices: true })("the submission ledger on Postgres", (it) => {
  it.effect(
    "[DU-11] the same key with the same payload gets the same receipt, also 50 at once",
    () =>
      Effect.gen(function* () {
        const receipts = yield* Effect.forEach(
          Array.from({ length: 50 }),
          () => admit({ key: "fifty-at-once" }),
          { concurrency: 50 },
        );
        assert.strictEqual(new Set(receipts.map(({ receipt }) => receipt.submissionId)).size, 1);
        const [first] = receipts;
        const found = yield* rows(
          "SELECT count(*)::int AS n FROM submissions WHERE thread_id = $1",
          [first?.place.threadId],
        );
        assert.strictEqual(found[0]?.["n"], 1);
      }),
  );

  it.effect(
    "[DU-11] the same key with another payload is a conflict; in another tenant or thread it is another key",
    () =>
      Effect.gen(function* () {
        const { place } = yield* admit({ key: "used-twice" });
        const conflict = yield* Effect.flip(admit({ key: "used-twice", input: "something else" }));
        assert.strictEqual(conflict._tag, "IdempotencyConflict");
        const elsewhere = yield* admit({
          key: "used-twice",
          tenant: "other",
          input: "something else",
        });
        const inThread = yield* admit({
          key: "used-twice",
          threadId: place.threadId,
          input: "something else",
        });
        assert.notStrictEqual(elsewhere.place.submissionId, place.submissionId);
        assert.strictEqual(inThread.receipt.queueSequence, 2);
        assert.strictEqual(inThread.place.threadId, place.threadId);
      }),
  );

  it.effect("[PG-03] racing claims take turns and every later one has a higher epoch", () =>
    Effect.gen(function* () {
      const { place } = yield* admit();
      const claims = yield* Effect.forEach(
        Array.from({ length: 6 }, (_, index) => WorkerId.make(`racer-${index}`)),
        (workerId) => claimed(place, workerId),
        { concurrency: 6 },
      );
      const epochs = claims.map((claim) => claim.epoch).toSorted((a, b) => a - b);
      assert.deepStrictEqual(epochs, [1, 2, 3, 4, 5, 6]);
      const lost = claims.map((claim) => claim.lostAttempts).toSorted((a, b) => a - b);
      assert.deepStrictEqual(lost, [0, 1, 2, 3, 4, 5]);
      const journal = yield* Journal;
      const outcomes = yield* Effect.forEach(claims, (claim) =>
        Effect.result(
          journal.append({
            ...claim,
            batchId: `by-${claim.epoch}`,
            expectedTail: claim.tail,
            records: [recordsOf(place).opened()],
            events: [],
            diagnostics: [],
          }),
        ),
      );
      assert.strictEqual(outcomes.filter((outcome) => outcome._tag === "Success").length, 1);
    }),
  );

  it.effect("[DU-15] a thread is first in, first out, and one run of it is active at a time", () =>
    Effect.gen(function* () {
      const first = yield* admit();
      const second = yield* admit({ threadId: first.place.threadId, input: "second" });
      const claim = yield* claimed(first.place);
      assert.strictEqual(claim.runId, first.place.runId);
      assert.deepStrictEqual(claim.input, { text: "hello" });
      assert.deepStrictEqual(claim.requester, ada);
      const of = recordsOf(first.place);
      yield* writerOf(claim).append([of.opened(), of.runSettled()]);
      const next = yield* claimed(first.place);
      assert.strictEqual(next.runId, second.place.runId);
      assert.deepStrictEqual(
        next.history.map((row) => row.record._tag),
        ["RunOpened", "RunSettled"],
      );
      assert.deepStrictEqual(next.records, []);
      yield* writerOf(next).append([
        recordsOf(second.place).opened(),
        recordsOf(second.place).runSettled(),
      ]);
      assert.isTrue(Option.isNone(yield* claimOf(first.place)));
    }),
  );

  it.effect(
    "[A-08] a run that waits for people is not due until an answer exists, and holds its thread",
    () =>
      Effect.gen(function* () {
        const { place, writer } = yield* waiting(["c1"]);
        const behind = yield* admit({ threadId: place.threadId, input: "behind" });
        assert.isTrue(Option.isNone(yield* claimOf(place)));
        assert.isFalse(yield* isDue(place));
        yield* decide(place, "c1", "approved");
        assert.isTrue(yield* isDue(place));
        const claim = yield* claimed(place);
        assert.strictEqual(claim.runId, place.runId);
        assert.strictEqual(claim.lostAttempts, 0);
        assert.deepStrictEqual(claim.tail, writer.tail());
        assert.strictEqual(claim.records.length, 5);
        const [delivery] = claim.undelivered;
        assert.isTrue(
          delivery?._tag === "ApprovalDecided" &&
            delivery.decision === "approved" &&
            delivery.reason === "fine",
        );
        const next = writerOf(claim);
        yield* next.append([recordsOf(place).attempt(2, claim.epoch), ...claim.undelivered]);
        const ledger = yield* SubmissionLedger;
        assert.deepStrictEqual(yield* ledger.undelivered(place), []);
        yield* next.append([recordsOf(place).runSettled()]);
        assert.strictEqual((yield* claimed(place)).runId, behind.place.runId);
      }),
  );

  it.effect("[A-11] a batch of four goes on once all are decided, in whatever order", () =>
    Effect.gen(function* () {
      const { place } = yield* waiting(["c1", "c2", "c3", "c4"]);
      for (const id of ["c3", "c1", "c4"]) {
        yield* decide(place, id, id === "c4" ? "denied" : "approved");
        assert.isFalse(yield* isDue(place));
      }
      yield* decide(place, "c2", "approved");
      const claim = yield* claimed(place);
      assert.strictEqual(claim.undelivered.length, 4);
    }),
  );

  it.effect("[A-06] a terminal denial ends the wait once the rest of its batch is decided", () =>
    Effect.gen(function* () {
      const { place } = yield* waiting(["c1", "c2"], { denial: "terminal" });
      yield* decide(place, "c1", "denied");
      assert.isFalse(yield* isDue(place));
      assert.isTrue(Option.isNone(yield* claimOf(place)));
      yield* decide(place, "c2", "approved");
      assert.isTrue(yield* isDue(place));
      assert.strictEqual((yield* claimed(place)).undelivered.length, 2);
    }),
  );

  it.effect("[A-07] expiry is decided by the database clock, as the system, and audited", () =>
    Effect.gen(function* () {
      const { place } = yield* waiting(["c1"], { expiresAt: 1_000 });
      const later = yield* waiting(["c1"], { expiresAt: 4_102_444_800_000 });
      const ledger = yield* SubmissionLedger;
      const woken = yield* ledger.expireApprovals(1_000);
      assert.deepStrictEqual(woken, [{ tenantId: place.tenantId, threadId: place.threadId }]);
      assert.deepStrictEqual(yield* ledger.expireApprovals(1_000), []);
      const [delivery] = yield* ledger.undelivered(place);
      assert.isTrue(
        delivery?._tag === "ApprovalDecided" &&
          delivery.decision === "expired" &&
          delivery.actor.kind === "system",
      );
      assert.deepStrictEqual(yield* ledger.undelivered(later.place), []);
      const [audit] = yield* rows("SELECT * FROM audit_log WHERE run_id = $1", [place.runId]);
      assert.strictEqual(audit?.["verb"], "expire-approval");
      const [pending] = yield* rows(
        "SELECT count(*)::int AS n FROM approval_requests WHERE state = 'pending' AND run_id = $1",
        [place.runId],
      );
      assert.strictEqual(pending?.["n"], 0);
    }),
  );

  it.effect("[DU-07] a run in doubt goes on only when every unknown of it is resolved", () =>
    Effect.gen(function* () {
      const { place } = yield* inDoubt(["c1", "c2"]);
      yield* resolve(place, "c1");
      assert.isFalse(yield* isDue(place));
      assert.isTrue(Option.isNone(yield* claimOf(place)));
      yield* resolve(place, "c2");
      assert.isTrue(yield* isDue(place));
      const claim = yield* claimed(place);
      assert.strictEqual(claim.undelivered.length, 2);
      const [resolution] = claim.undelivered;
      assert.isTrue(resolution?._tag === "UnknownResolved");
      if (resolution?._tag === "UnknownResolved") {
        assert.deepStrictEqual(resolution.result, { n: "a\u0000b" });
        assert.strictEqual(resolution.evidence, "ledger 7");
      }
      yield* writerOf(claim).append([...claim.undelivered]);
      const ledger = yield* SubmissionLedger;
      assert.deepStrictEqual(yield* ledger.undelivered(place), []);
    }),
  );

  it.effect(
    "[DU-15] a run parked on an unknown lets the next submission pass, and takes its turn when it is resolved",
    () =>
      Effect.gen(function* () {
        const ledger = yield* SubmissionLedger;
        yield* ledger.heartbeat({ workerId: worker, address: "here" });
        const { place } = yield* inDoubt(["c1"]);
        const behind = yield* admit({ threadId: place.threadId, input: "behind" });
        const passing = yield* claimed(place);
        assert.strictEqual(passing.runId, behind.place.runId);
        // What is in doubt is part of the conversation that goes on beside it.
        assert.deepStrictEqual(
          passing.history.map((row) => row.record._tag),
          [
            "RunOpened",
            "AttemptStarted",
            "TurnRecorded",
            "ToolCallPrepared",
            "ToolCallUnknown",
            "RunSuspended",
          ],
        );
        yield* resolve(place, "c1");
        // The active run is finished first, even by its next owner.
        assert.isFalse(yield* isDue(place));
        const again = yield* claimed(place);
        assert.strictEqual(again.runId, behind.place.runId);
        const of = recordsOf(behind.place);
        yield* writerOf(again).append([of.opened(), of.runSettled()]);
        assert.isTrue(yield* isDue(place));
        const resumed = yield* claimed(place);
        assert.strictEqual(resumed.runId, place.runId);
        // A run's history is what came before it, whenever it is resumed.
        assert.deepStrictEqual(resumed.history, []);
      }),
  );

  it.effect("[DU-15] under the policy `block` nothing passes a run in doubt", () =>
    Effect.gen(function* () {
      const { place } = yield* inDoubt(["c1"], { unknownPolicy: "block" });
      yield* admit({ threadId: place.threadId, input: "behind" });
      assert.isTrue(Option.isNone(yield* claimOf(place)));
      assert.isFalse(yield* isDue(place));
    }),
  );

  it.effect("[DU-12] an abort reaches waiting, queued and running runs at once", () =>
    Effect.gen(function* () {
      const { place } = yield* waiting(["c1"]);
      const queued = yield* admit({ threadId: place.threadId, input: "queued" });
      yield* abort(queued.place);
      assert.isTrue(yield* isDue(place));
      const outOfTurn = yield* claimed(place);
      assert.strictEqual(outOfTurn.runId, queued.place.runId);
      assert.strictEqual(outOfTurn.undelivered[0]?._tag, "AbortRequested");
      const of = recordsOf(queued.place);
      // A process that dies between the abort's record and the settlement leaves nothing stuck.
      yield* writerOf(outOfTurn).append([of.opened(), ...outOfTurn.undelivered]);
      const again = yield* claimed(place);
      assert.strictEqual(again.runId, queued.place.runId);
      yield* writerOf(again).append([of.runSettled("aborted")]);
      yield* abort(place);
      const waitingRun = yield* claimed(place);
      assert.strictEqual(waitingRun.runId, place.runId);
      const ledger = yield* SubmissionLedger;
      const seen = yield* ledger.undelivered(place);
      assert.deepStrictEqual(
        seen.map((record) => record._tag),
        ["AbortRequested"],
      );
    }),
  );

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

  it.effect("[C011] when a run ends, what nobody decided is withdrawn and announced", () =>
    Effect.gen(function* () {
      const { place } = yield* waiting(["c1", "c2"]);
      yield* decide(place, "c1", "approved");
      yield* abort(place);
      const claim = yield* claimed(place);
      yield* writerOf(claim).append([...claim.undelivered, recordsOf(place).runSettled("aborted")]);
      const states = yield* rows(
        "SELECT call_id, state FROM approval_requests WHERE run_id = $1 ORDER BY call_id",
        [place.runId],
      );
      assert.deepStrictEqual(
        states.map((row) => row["state"]),
        ["approved", "withdrawn"],
      );
      const [run] = yield* rows(
        "SELECT state, settled_at IS NOT NULL AS settled FROM runs WHERE run_id = $1",
        [place.runId],
      );
      assert.deepStrictEqual(run, { state: "aborted", settled: true });
      const events = yield* rows(
        `SELECT body FROM (SELECT run_id, kind, body FROM event_inbox UNION ALL SELECT run_id, kind, body FROM events) e
         WHERE run_id = $1 AND kind = 'ApprovalDecided'`,
        [place.runId],
      );
      assert.strictEqual(events.length, 1);
      assert.include(String(events[0]?.["body"]), '"withdrawn"');
    }),
  );
});
