import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { RunId, ThreadId } from "#lib/contract/ids.ts";
import { bodyOf, verifyChain } from "#lib/durable/chain.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import {
  bob,
  claim,
  type ConformanceCase,
  holds,
  promise,
  readAll,
  refusedAs,
  requestOf,
  same,
  started,
} from "./harness.ts";
import { agentId } from "./run-records.ts";

const firstAppend = Effect.fnUntraced(function* () {
  const run = yield* started();
  const request = requestOf(run.owned, run.owned.tail, "batch-1", [
    run.of.opened(),
    run.of.attempt(),
  ]);
  return { ...run, request, journal: yield* Journal };
});

const countOf = (run: Parameters<typeof readAll>[0]) =>
  Effect.map(readAll(run), (records) => records.length);

export const journalCases: ReadonlyArray<ConformanceCase> = [
  promise(
    "[PG-02] what is appended is read back as it was, in an unbroken chain",
    Effect.gen(function* () {
      const { place, writer, of } = yield* started();
      const written = [
        of.opened(),
        of.attempt(),
        of.turn(["c1"]),
        of.prepared("c1"),
        of.settled("c1"),
      ];
      yield* writer.append(written.slice(0, 2));
      yield* writer.append([...written.slice(2), of.runSettled()]);
      const stored = yield* readAll(place);
      yield* same(
        "the records",
        stored.map((row) => row.record),
        [...written, of.runSettled()],
      );
      const links = stored.map((row) => ({ ...row, body: bodyOf(row.record) }));
      yield* same("the first break of the chain", verifyChain(place.threadId, links), undefined);
      yield* same("the tail", writer.tail().digest, stored.at(-1)?.digest);
      const { tenantId, threadId } = place;
      const journal = yield* Journal;
      const page = yield* journal.read({ tenantId, threadId, after: 2, limit: 2 });
      yield* same(
        "a page",
        page.map((row) => row.sequence),
        [3, 4],
      );
    }),
  ),
  promise(
    "[PG-02] an append at another tail is refused, told the true one, and writes nothing",
    Effect.gen(function* () {
      const { place, request, journal, of } = yield* firstAppend();
      const first = yield* journal.append(request);
      const stale = { ...request, batchId: "batch-2", records: [of.turn([])] };
      const refused = yield* refusedAs("JournalTailConflict")(journal.append(stale));
      yield* same(
        "the true tail",
        [refused.actualSequence, refused.actualDigest],
        [2, first.tail.digest],
      );
      const wrongDigest = { sequence: 2, digest: request.expectedTail.digest };
      yield* refusedAs("JournalTailConflict")(
        journal.append({ ...stale, batchId: "batch-3", expectedTail: wrongDigest }),
      );
      yield* same("the records", yield* countOf(place), 2);
    }),
  ),
  promise(
    "[PG-02] of eight writers that race for one tail exactly one appends",
    Effect.gen(function* () {
      const { place, request, journal } = yield* firstAppend();
      const answers = yield* Effect.forEach(
        Array.from({ length: 8 }, (_, index) => `racer-${index}`),
        (batchId) => Effect.result(journal.append({ ...request, batchId })),
        { concurrency: 8 },
      );
      const refused = answers.flatMap((answer) =>
        Result.isFailure(answer) ? [answer.failure._tag] : [],
      );
      yield* same(
        "the refusals",
        refused,
        Array.from({ length: 7 }, () => "JournalTailConflict"),
      );
      yield* same("the records", yield* countOf(place), 2);
    }),
  ),
  promise(
    "[PG-02] a batch whose reply was lost answers as it did the first time and writes nothing, also once the thread has gone on",
    Effect.gen(function* () {
      const { place, request, journal, of } = yield* firstAppend();
      const first = yield* journal.append(request);
      yield* same("the first answer's replay mark", first.replayed, false);
      yield* same("the second answer", yield* journal.append(request), {
        ...first,
        replayed: true,
      });
      yield* journal.append({
        ...request,
        batchId: "batch-2",
        expectedTail: first.tail,
        records: [of.turn([])],
      });
      yield* same("a late answer", yield* journal.append(request), { ...first, replayed: true });
      yield* same("the records", yield* countOf(place), 3);
    }),
  ),
  promise(
    "[PG-02] the same batch id with other records is refused, at any tail",
    Effect.gen(function* () {
      const { place, request, journal, of } = yield* firstAppend();
      const first = yield* journal.append(request);
      const other = { ...request, records: [of.opened({ text: "other" })] };
      yield* refusedAs("JournalBatchConflict")(journal.append(other));
      yield* refusedAs("JournalBatchConflict")(
        journal.append({ ...other, expectedTail: first.tail }),
      );
      yield* same("the records", yield* countOf(place), 2);
    }),
  ),
  promise(
    "[DU-13] an owner with a stale epoch can append nothing, not even events, and hears whose the thread is",
    Effect.gen(function* () {
      const { place, request, journal } = yield* firstAppend();
      const next = yield* claim(place);
      yield* holds("a claim raises the epoch", next.epoch > request.epoch);
      const refused = yield* refusedAs("FenceRejected")(journal.append(request));
      yield* same("the owner's epoch", refused.currentEpoch, next.epoch);
      yield* refusedAs("FenceRejected")(
        journal.append({
          ...request,
          records: [],
          events: [{ event: { _tag: "ModelRequested", turn: 1 }, at: 1 }],
        }),
      );
      yield* same("the records", yield* countOf(place), 0);
    }),
  ),
  promise(
    "[DU-13] an owner that was fenced after its batch landed is told so when it asks again, not that it may act",
    Effect.gen(function* () {
      const { place, request, journal } = yield* firstAppend();
      yield* journal.append(request);
      yield* claim(place);
      yield* refusedAs("FenceRejected")(journal.append(request));
      yield* same("the records", yield* countOf(place), 2);
    }),
  ),
  promise(
    "[DU-10] a run is settled once: a second settlement is refused, whatever it says",
    Effect.gen(function* () {
      const { place, writer, of } = yield* started();
      yield* writer.append([of.opened(), of.attempt(), of.runSettled()]);
      for (const outcome of ["completed", "failed", "aborted"] as const)
        yield* refusedAs("StoreError")(writer.append([of.runSettled(outcome)]));
      const settlements = (yield* readAll(place)).filter((row) => row.record._tag === "RunSettled");
      yield* same("the settlements", settlements.length, 1);
    }),
  ),
  promise(
    "[DU-12] no run is completed or failed past an abort that nobody delivered; what it did until then is kept",
    Effect.gen(function* () {
      const { place, writer, of } = yield* started();
      const ledger = yield* SubmissionLedger;
      yield* writer.append([of.opened(), of.attempt()]);
      const { tenantId, runId } = place;
      yield* ledger.abort({ tenantId, runId, actor: bob, reason: "enough", commandId: null });
      for (const outcome of ["completed", "failed"] as const)
        yield* refusedAs("AbortPending")(writer.append([of.runSettled(outcome)]));
      yield* writer.append([of.turn([])]);
      const undelivered = yield* ledger.undelivered(place);
      yield* same(
        "what waits",
        undelivered.map((record) => record._tag),
        ["AbortRequested"],
      );
      yield* writer.append([...undelivered, of.runSettled("aborted")]);
      yield* same("what waits then", yield* ledger.undelivered(place), []);
    }),
  ),
  promise(
    "[PG-06] text with NUL, lone surrogates and every kind of escape comes back to the letter",
    Effect.gen(function* () {
      const { place, writer, of } = yield* started();
      const hostile = {
        "a\u0000b": '\ud800 \udfff \u2028 \\u0000 " \u007f \ud83d\ude00',
        deep: [[[1e-7, -0.5, null]]],
      };
      yield* writer.append([of.opened(hostile), of.turn(["c1"], { parameters: hostile })]);
      const [opened, turn] = yield* readAll(place);
      yield* same("the opening", opened?.record, of.opened(hostile));
      yield* same("the turn", turn?.record, of.turn(["c1"], { parameters: hostile }));
    }),
  ),
  promise(
    "[DU-11] nothing can be appended to a thread that was never admitted",
    Effect.gen(function* () {
      const { request, journal, of } = yield* firstAppend();
      const refused = yield* refusedAs("StoreError")(
        journal.append({
          ...request,
          agentId,
          threadId: ThreadId.make("thr_nobody"),
          runId: RunId.make(request.runId),
          records: [of.opened()],
        }),
      );
      yield* holds("trying again is not advised", !refused.retryable);
    }),
  ),
];
