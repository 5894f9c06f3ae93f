/** A row of `journal_records` as a stored record. A kind or version this code cannot read fails to decode. */
import * as Schema from "effect/Schema";
import { Digest } from "#lib/contract/ids.ts";
import { RunRecord, type StoredRecord } from "#lib/contract/records.ts";
import { Int8, JsonText, Millis } from "#server/postgres/columns.ts";

export const RecordRow = Schema.Struct({
  sequence: Int8,
  epoch: Int8,
  recorded_at: Millis,
  digest: Digest,
  previous_digest: Digest,
  body: JsonText(RunRecord),
});

export const storedRecordOf = (row: typeof RecordRow.Type): StoredRecord => ({
  sequence: row.sequence,
  epoch: row.epoch,
  recordedAt: row.recorded_at,
  digest: row.digest,
  previousDigest: row.previous_digest,
  record: row.body,
});
