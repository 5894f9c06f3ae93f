/** Texts of large results, written in the very statement that appends the records that name them. */
import type { AppendRequest } from "#lib/durable/Journal.ts";
import type { ResultToKeep } from "#lib/results/kept-text.ts";
import { columnName, int8Array, textArray } from "./columns.ts";

/** Where the record stands that names a text; a text that none names is a bug of the caller. */
const sequenceOf = (request: AppendRequest, { resultId }: ResultToKeep): number => {
  const place = request.records.findIndex(
    (record) => record._tag === "ToolCallSettled" && record.kept?.resultId === resultId,
  );
  if (place === -1) throw new Error(`No record of the append names the kept result ${resultId}.`);
  return request.expectedTail.sequence + 1 + place;
};

/**
 * The append with its texts: nothing is kept unless the answer is `appended`, and all of it goes with one commit.
 *
 * @param append the statement without texts, whose first parameters are tenant, thread and run
 * @param count how many parameters it has; `keptParameters` gives those that follow
 */
export const withKeptResults = (append: string, count: number): string => `
  WITH answer AS MATERIALIZED (${append}), kept AS (
    INSERT INTO kept_results (tenant_id, run_id, result_id, thread_id, turn, call_id, record_sequence,
      digest, body, kept_at)
    SELECT $1, $3, n.result_id, $2, n.turn, n.call_id, n.record_sequence, n.digest, n.body, a.recorded_at
    FROM answer a, unnest(${[1, 2, 3, 4, 5, 6].map((place) => `$${count + place}`).join(", ")})
      AS n (result_id, turn, call_id, record_sequence, digest, body)
    WHERE a.answer = 'appended')
  SELECT answer, tail_sequence, tail_digest, recorded_at, current_epoch FROM answer`;

export const keptParameters = (
  request: AppendRequest,
  results: ReadonlyArray<ResultToKeep>,
): ReadonlyArray<unknown> => [
  textArray(results.map(({ resultId }) => resultId)),
  int8Array(results.map(({ turn }) => turn)),
  textArray(results.map(({ callId }) => columnName(callId))),
  int8Array(results.map((result) => sequenceOf(request, result))),
  textArray(results.map(({ digest }) => digest)),
  textArray(results.map(({ text }) => text)),
];
