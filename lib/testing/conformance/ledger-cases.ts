import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { RunId } from "#lib/contract/ids.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import {
  admit,
  bob,
  claim,
  claimsNothing,
  type ConformanceCase,
  follow,
  holds,
  newTenant,
  newWorker,
  promise,
  refusedAs,
  same,
  started,
  writerOf,
} from "./harness.ts";
import { ada, recordsOf, type RunPlace } from "./run-records.ts";

const key = "a-key-of-the-caller";

const isDue = (place: RunPlace) =>
  Effect.map(
    Effect.flatMap(SubmissionLedger, (ledger) => ledger.due(1_000)),
    (due) => due.some((thread) => thread.threadId === place.threadId),
  );

const abortBy = (place: RunPlace, actor = bob, reason = "enough") =>
  Effect.flatMap(SubmissionLedger, (ledger) =>
    ledger.abort({ tenantId: place.tenantId, runId: place.runId, actor, reason, commandId: null }),
  );

export const ledgerCases: ReadonlyArray<ConformanceCase> = [
  promise(
    "[DU-11] the same key and payload give the same receipt, however often and however many at once",
    Effect.gen(function* () {
      const tenantId = yield* newTenant;
      const receipts = yield* Effect.forEach(
        Array.from({ length: 6 }),
        () => Effect.map(admit({ tenantId, key }), ({ receipt }) => receipt),
        { concurrency: 6 },
      );
      yield* same(
        "the receipts",
        receipts,
        receipts.map(() => receipts[0]),
      );
      yield* refusedAs("IdempotencyConflict")(admit({ tenantId, key, input: { text: "other" } }));
    }),
  ),
  promise(
    "[DU-11] a key is scoped to tenant, thread and principal",
    Effect.gen(function* () {
      const tenantId = yield* newTenant;
      const { place } = yield* admit({ tenantId, key });
      const others = [
        yield* admit({ key }),
        yield* admit({ tenantId, key, threadId: place.threadId }),
        yield* admit({ tenantId, key, principal: bob }),
        yield* admit({ tenantId, key, principal: { ...ada, kind: "system" } }),
      ];
      const runs = new Set([place.runId, ...others.map((other) => other.place.runId)]);
      yield* same("the runs", runs.size, 5);
    }),
  ),
  promise(
    "[DU-15] submissions of a thread are claimed in their order, one at a time, each when the one before is settled",
    Effect.gen(function* () {
      const { place, receipt, writer, of } = yield* started();
      const { tenantId, threadId } = place;
      const second = yield* admit({ tenantId, threadId });
      const third = yield* admit({ tenantId, threadId });
      yield* same(
        "the places",
        [receipt, second.receipt, third.receipt].map((each) => each.queueSequence),
        [1, 2, 3],
      );
      yield* holds("a thread whose owner lives is not due", !(yield* isDue(place)));
      yield* writer.append([of.opened(), of.attempt(), of.runSettled()]);
      yield* holds("the next one is due", yield* isDue(place));
      const next = yield* claim(place);
      yield* same("the next run", next.runId, second.place.runId);
      yield* same(
        "its history",
        next.history.map((stored) => [stored.record.runId, stored.record._tag]),
        ["RunOpened", "AttemptStarted", "RunSettled"].map((tag) => [place.runId, tag]),
      );
      yield* same("its own records", next.records, []);
    }),
  ),
  promise(
    "[DU-15] a run parked on a doubt lets the next one pass; one that blocks does not",
    Effect.gen(function* () {
      for (const unknownPolicy of ["park", "block"] as const) {
        const { place, writer, of } = yield* started({ unknownPolicy });
        yield* writer.append([of.opened(), of.attempt(), of.turn(["c1"]), of.prepared("c1")]);
        yield* writer.append([of.unknown("c1"), of.suspended("unknown")]);
        const { tenantId, threadId } = place;
        const behind = yield* admit({ tenantId, threadId, unknownPolicy });
        if (unknownPolicy === "block") yield* claimsNothing(place);
        else yield* same("the run that passes", (yield* claim(place)).runId, behind.place.runId);
      }
    }),
  ),
  promise(
    "[PG-03] every claim has an epoch of its own, higher than the one before, and carries the run's records",
    Effect.gen(function* () {
      const { place, owned, writer, of } = yield* started();
      yield* writer.append([of.opened(), of.attempt()]);
      const claims = yield* Effect.forEach(Array.from({ length: 5 }), () => claim(place), {
        concurrency: 5,
      });
      const epochs = claims.map((each) => each.epoch).toSorted((a, b) => a - b);
      yield* same(
        "the epochs",
        epochs,
        [1, 2, 3, 4, 5].map((step) => owned.epoch + step),
      );
      for (const each of claims)
        yield* same(
          "the records",
          each.records.map((row) => row.record._tag),
          ["RunOpened", "AttemptStarted"],
        );
      const writes = yield* Effect.forEach(claims, (each) =>
        Effect.result(writerOf(each).append([of.turn([])])),
      );
      yield* same("who may write", writes.filter(Result.isSuccess).length, 1);
    }),
  ),
  promise(
    "[DU-12] an abort is stored once: the first author stays, a settled run refuses, a foreign one is not there",
    Effect.gen(function* () {
      const { place, writer, of } = yield* started();
      const first = yield* abortBy(place);
      const again = yield* abortBy(place, ada, "me too");
      yield* same("who was first", [first.isFirst, again.isFirst], [true, false]);
      const ledger = yield* SubmissionLedger;
      const undelivered = yield* ledger.undelivered(place);
      yield* same(
        "what is delivered",
        undelivered.map((record) => record._tag === "AbortRequested" && record.reason),
        ["enough"],
      );
      yield* refusedAs("NotFound")(abortBy({ ...place, tenantId: yield* newTenant }));
      yield* refusedAs("NotFound")(abortBy({ ...place, runId: RunId.make("run_nobody") }));
      yield* writer.append([of.opened(), of.attempt(), ...undelivered, of.runSettled("aborted")]);
      const refused = yield* refusedAs("RunAlreadySettled")(abortBy(place));
      yield* same("the state it names", refused.state, "aborted");
    }),
  ),
  promise(
    "[DU-12] an aborted submission leaves the queue out of turn",
    Effect.gen(function* () {
      const { place, writer, of } = yield* started();
      yield* writer.append([of.opened(), of.attempt(), of.turn(["c1"])]);
      yield* writer.append([of.approvalRequested("c1"), of.suspended("approval")]);
      const { tenantId, threadId } = place;
      const second = yield* admit({ tenantId, threadId });
      yield* claimsNothing(place);
      yield* abortBy(second.place);
      yield* holds("the thread is due", yield* isDue(place));
      const claimed = yield* claim(place);
      yield* same("the run", claimed.runId, second.place.runId);
      yield* same(
        "what it hears",
        claimed.undelivered.map((record) => record._tag),
        ["AbortRequested"],
      );
      const other = recordsOf(second.place);
      yield* writerOf(claimed).append([...claimed.undelivered, other.runSettled("aborted")]);
      yield* claimsNothing(place);
    }),
  ),
  promise(
    "[DU-12] the owner of a thread ends queued runs of it that were aborted before they began, between its own records",
    Effect.gen(function* () {
      const { place, owned, writer, of } = yield* started();
      yield* writer.append([of.opened(), of.attempt()]);
      const { tenantId, threadId } = place;
      const second = yield* admit({ tenantId, threadId });
      const third = yield* admit({ tenantId, threadId });
      const ledger = yield* SubmissionLedger;
      const waiting = Effect.map(ledger.abortedBeforeStart(place), (found) =>
        found.map(({ runId }) => runId),
      );
      yield* abortBy(place);
      yield* same("before any queued run is aborted", yield* waiting, []);
      yield* abortBy(third.place);
      yield* abortBy(second.place, ada, "not needed");
      yield* same("in the order of the queue", yield* waiting, [
        second.place.runId,
        third.place.runId,
      ]);
      const [first] = yield* ledger.abortedBeforeStart(place);
      yield* same("who asked", first?.abort.actor, ada);
      const other = recordsOf(second.place);
      const passing = writerOf({ ...owned, runId: second.place.runId, tail: writer.tail() });
      yield* passing.append([
        other.opened(),
        ...(first === undefined ? [] : [first.abort]),
        other.runSettled("aborted"),
      ]);
      yield* same("what is left", yield* waiting, [third.place.runId]);
      const own = writerOf({ ...owned, tail: passing.tail() });
      yield* own.append([of.turn(["c1"])]);
      yield* refusedAs("RunAlreadySettled")(abortBy(second.place));
    }),
  ),
  promise(
    "[DU-16] lost attempts are counted in a row: a hand-over is none, and progress starts the count again",
    Effect.gen(function* () {
      const { place, owned, of } = yield* started();
      const ledger = yield* SubmissionLedger;
      const giveBack = (epoch: number, counts: boolean) =>
        ledger.postpone({ ...place, epoch, delaySeconds: 0, reason: "a test", counts });
      yield* same("at first", owned.lostAttempts, 0);
      yield* giveBack(owned.epoch, true);
      const second = yield* claim(place);
      yield* same("after one that was lost", second.lostAttempts, 1);
      yield* giveBack(second.epoch, false);
      const third = yield* claim(place);
      yield* same("after a hand-over", third.lostAttempts, 1);
      yield* writerOf(third).append([of.opened(), of.attempt(), of.turn([])]);
      yield* giveBack(third.epoch, true);
      yield* same("after progress", (yield* claim(place)).lostAttempts, 1);
    }),
  ),
  promise(
    "[DU-13] only the owner gives a submission back, and a delayed one is not due",
    Effect.gen(function* () {
      const { place, owned } = yield* started();
      const ledger = yield* SubmissionLedger;
      const next = yield* claim(place);
      const later = { ...place, delaySeconds: 3_600, reason: "a test" };
      yield* ledger.postpone({ ...later, epoch: owned.epoch });
      yield* holds("a fenced owner gives nothing back", !(yield* isDue(place)));
      yield* ledger.postpone({ ...later, epoch: next.epoch });
      yield* claimsNothing(place);
      yield* holds("a delayed submission is not due", !(yield* isDue(place)));
    }),
  ),
  promise(
    "[OP-11] an attempt that is put off is announced with its reason and its time, a refused one is not",
    Effect.gen(function* () {
      const { place, owned } = yield* started();
      const ledger = yield* SubmissionLedger;
      const later = { ...place, delaySeconds: 600, reason: "no model" };
      yield* ledger.postpone({ ...later, epoch: owned.epoch + 1 });
      yield* ledger.postpone({ ...later, epoch: owned.epoch });
      const [queued, putOff, ...others] = yield* follow(place.tenantId, 2);
      yield* same("the first event", queued?.event._tag, "RunQueued");
      yield* same(
        "the second",
        putOff?.event._tag === "AttemptPutOff"
          ? [
              putOff.runId,
              putOff.event.reason,
              Math.round((putOff.event.dueAt - putOff.at) / 60_000),
            ]
          : putOff?.event._tag,
        [place.runId, "no model", 10],
      );
      yield* same("any other", others, []);
    }),
  ),
  promise(
    "[PG-03] what a worker held is due at once when it retires",
    Effect.gen(function* () {
      const { place } = yield* admit();
      yield* holds("an admitted submission is due", yield* isDue(place));
      const ledger = yield* SubmissionLedger;
      const workerId = yield* newWorker;
      yield* claim(place, workerId);
      yield* holds("one that is driven is not", !(yield* isDue(place)));
      yield* ledger.retire({ workerId });
      yield* holds("one whose worker retired is", yield* isDue(place));
    }),
  ),
];
