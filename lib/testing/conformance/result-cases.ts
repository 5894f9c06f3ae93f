import * as Effect from "effect/Effect";
import { ToolCallId } from "#lib/contract/ids.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { resultIdOf } from "#lib/durable/derived-ids.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { keepText, type ResultToKeep } from "#lib/results/kept-text.ts";
import {
  claim,
  type ConformanceCase,
  newTenant,
  promise,
  readAll,
  refusedAs,
  requestOf,
  same,
  started,
} from "./harness.ts";
import type { recordsOf, RunPlace } from "./run-records.ts";

/** A large result of a call of the first turn, and the record that names it. */
export const largeResult = (
  place: RunPlace,
  of: ReturnType<typeof recordsOf>,
  id: string,
  encoded: Json,
) => {
  const callId = ToolCallId.make(id);
  const position = { tenantId: place.tenantId, runId: place.runId, turn: 1, callId };
  const resultId = resultIdOf(position);
  const result = keepText({ resultId, turn: 1, callId }, encoded, Number.MAX_SAFE_INTEGER);
  const { bytes, digest, originalBytes } = result;
  const record = of.settled(
    id,
    { truncated: true },
    { originalBytes, kept: { resultId, bytes, digest } },
  );
  return { record, result };
};

const keptIn = (place: Pick<RunPlace, "tenantId" | "runId">, { resultId }: ResultToKeep) =>
  Effect.flatMap(Journal, (journal) =>
    journal.keptResult({ tenantId: place.tenantId, runId: place.runId, resultId }),
  );

/** What no store's text column takes as it is. */
const awkward: Json = {
  text: '\u0000 lone \ud800, quoted " \\ {a,b} NULL, ß€👍'.repeat(4_000),
};

export const resultCases: ReadonlyArray<ConformanceCase> = [
  promise(
    "[T-18] [R52] [R45] the texts of large results come back as they were given, several of one append too",
    Effect.gen(function* () {
      const { place, writer, of } = yield* started();
      yield* writer.append([of.opened(), of.attempt(), of.turn(["c1", "c2"])]);
      const first = largeResult(place, of, "c1", awkward);
      const second = largeResult(place, of, "c2", "");
      yield* writer.append([of.prepared("c1"), first.record, second.record], {
        results: [first.result, second.result],
      });
      yield* same("the first text", yield* keptIn(place, first.result), first.result.text);
      yield* same("the second text", yield* keptIn(place, second.result), '""');
      const stored = (yield* readAll(place)).at(-1)?.record;
      yield* same("the record", stored, second.record);
    }),
  ),
  promise(
    "[PG-05] [R52] a kept text is found by its own tenant and run only",
    Effect.gen(function* () {
      const { place, writer, of } = yield* started();
      yield* writer.append([of.opened(), of.attempt(), of.turn(["c1"])]);
      const { record, result } = largeResult(place, of, "c1", "x".repeat(100_000));
      yield* writer.append([record], { results: [result] });
      const { place: other } = yield* started({ tenantId: place.tenantId });
      yield* same("another run's", yield* keptIn(other, result), undefined);
      const foreign = { tenantId: yield* newTenant, runId: place.runId };
      yield* same("another tenant's", yield* keptIn(foreign, result), undefined);
    }),
  ),
  promise(
    "[PG-02] [DU-13] [R52] a text is kept with its append or not at all: a refused one keeps none, a repeated one changes none",
    Effect.gen(function* () {
      const { place, owned, writer, of } = yield* started();
      yield* writer.append([of.opened(), of.attempt(), of.turn(["c1", "c2"])]);
      const journal = yield* Journal;
      const { record, result } = largeResult(place, of, "c1", "y".repeat(100_000));
      const request = {
        ...requestOf(owned, writer.tail(), "batch-large", [record]),
        results: [result],
      };
      const receipt = yield* journal.append(request);
      const again = yield* journal.append({
        ...request,
        results: [{ ...result, text: "another" }],
      });
      yield* same("the repeated answer", [again.replayed, again.tail], [true, receipt.tail]);
      yield* same("the text", yield* keptIn(place, result), result.text);
      const late = largeResult(place, of, "c2", "z".repeat(100_000));
      // Another owner: the next epoch.
      yield* claim(place);
      yield* refusedAs("FenceRejected")(
        journal.append({
          ...requestOf(owned, receipt.tail, "batch-late", [late.record]),
          results: [late.result],
        }),
      );
      yield* same("the refused text", yield* keptIn(place, late.result), undefined);
    }),
  ),
];
