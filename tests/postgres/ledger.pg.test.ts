import { assert, layer } from "@effect/vitest";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import { WorkerId } from "#lib/contract/ids.ts";
import { Approvals } from "#lib/durable/Approvals.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { ada, recordsOf } from "#tests/postgres/records.ts";
import { admit, claimed, rows, store, worker, writerOf } from "#tests/postgres/store.ts";
import {
  abort,
  claimOf,
  decide,
  inDoubt,
  isDue,
  resolve,
  waiting,
} from "#tests/postgres/people.ts";

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
      const approvals = yield* Approvals;
      const woken = yield* approvals.expire(1_000);
      assert.deepStrictEqual(woken, [{ tenantId: place.tenantId, threadId: place.threadId }]);
      assert.deepStrictEqual(yield* approvals.expire(1_000), []);
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
