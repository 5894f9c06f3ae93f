/**
 * Records as a page shows them: each as it was recorded, but the values that a page would cut are cut before
 * anything parses them. A record whose text is long comes from PostgreSQL in pieces, as bytes: one row with
 * all of it would be copied over and over while it arrives, and refused above what one message may hold.
 */
import { Buffer } from "node:buffer";
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { SqlError } from "effect/unstable/sql/SqlError";
import { EpochMillis, type TenantId, ThreadId } from "#lib/contract/ids.ts";
import { RunRecord } from "#lib/contract/records.ts";
import { maxValueBytes } from "./bound-turns.ts";
import { millis } from "./columns.ts";
import { type CutPlaces, cutJsonText } from "./cut-json-text.ts";
import { decodeRows } from "./snapshot.ts";

export interface RecordRow {
  readonly recordedAt: number;
  /** Its values at `longPlaces` may be cut. */
  readonly record: RunRecord;
}

/** Text of more bytes is looked through for values to cut: it may hold one. */
const wholeBodyBytes = 2 * maxValueBytes;
const pieceBytes = 262_144;

/** Where a record holds values of whoever wrote them, of any size; no key means two things in two kinds. */
const longPlaces: CutPlaces = {
  calls: { "*": { parameters: "cut", effectiveParameters: "cut" } },
  declared: { parameters: "cut", effectiveParameters: "cut" },
  input: "cut",
  output: "cut",
  rejections: { "*": { parameters: "cut", encodedError: "cut" } },
  response: { "*": "cut" },
  result: "cut",
  suggestion: "cut",
};

/** Columns of `journal_records AS j` for `decodeShown`. The length of a long text stands beside it: no body is read for it. */
export const shownColumns = `j.thread_id AS "threadId", j.sequence::float8 AS sequence,
  ${millis("j.recorded_at")} AS "recordedAt",
  CASE WHEN octet_length(j.body) <= ${wholeBodyBytes} THEN j.body END AS body`;

const ShownRow = Schema.Struct({
  threadId: ThreadId,
  sequence: Schema.Int,
  recordedAt: EpochMillis,
  body: Schema.NullOr(Schema.String),
});

const Piece = Schema.Struct({ number: Schema.Int, bytes: Schema.Uint8Array });

type RecordPlace = Pick<typeof ShownRow.Type, "sequence" | "threadId">;

/** The text of one record, as bytes of UTF-8; none where it is not there. */
const readBody = Effect.fnUntraced(function* (
  tenantId: TenantId,
  { sequence, threadId }: RecordPlace,
) {
  const sql = yield* SqlClient;
  // OFFSET 0 keeps the text from being unpacked again for each piece.
  const pieces = yield* decodeRows(Piece)(sql`
    SELECT p.number, substring(w.bytes FROM p.number * ${pieceBytes}::int4 + 1 FOR ${pieceBytes}::int4) AS bytes
    FROM (
      SELECT convert_to(j.body, 'UTF8') AS bytes FROM journal_records j
      WHERE j.tenant_id = ${tenantId} AND j.thread_id = ${threadId}
        AND j.sequence = ${sequence}::float8::bigint OFFSET 0) AS w
    CROSS JOIN LATERAL generate_series(0, (octet_length(w.bytes) - 1) / ${pieceBytes}::int4) AS p (number)`);
  return Buffer.concat(
    pieces.toSorted((one, two) => one.number - two.number).map(({ bytes }) => bytes),
  );
});

const decodeRecord = Schema.decodeUnknownEffect(Schema.fromJsonString(RunRecord));

/** Rows of `shownColumns` as records, in their order. Long ones are read one at a time. */
export const decodeShown =
  (tenantId: TenantId) =>
  <R>(rows: Effect.Effect<ReadonlyArray<unknown>, SqlError, R>) =>
    Effect.gen(function* () {
      const shown: Array<RecordRow> = [];
      for (const row of yield* decodeRows(ShownRow)(rows)) {
        const text =
          row.body ?? cutJsonText(yield* readBody(tenantId, row), longPlaces, maxValueBytes).text;
        const record = yield* Effect.orDie(decodeRecord(text));
        shown.push({ recordedAt: row.recordedAt, record });
      }
      return shown;
    });

/** One record, and the whole canonical text of each value that was cut in it. */
export const readRecordInParts = Effect.fnUntraced(function* (
  tenantId: TenantId,
  place: RecordPlace,
) {
  const bytes = yield* readBody(tenantId, place);
  if (bytes.length === 0) return undefined;
  const { cuts, text } = cutJsonText(bytes, longPlaces, maxValueBytes);
  const whole = new Map(cuts.map(({ from, path, to }) => [JSON.stringify(path), [from, to]]));
  return {
    record: yield* Effect.orDie(decodeRecord(text)),
    textAt: (path: ReadonlyArray<string | number>): string | undefined => {
      const span = whole.get(JSON.stringify(path));
      return span === undefined ? undefined : bytes.toString("utf8", ...span);
    },
  };
});
