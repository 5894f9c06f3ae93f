/**
 * An archive: one JSON object a line, and beside it a manifest with the digest of
 * the whole file. Records are kept exactly as they were digested, so their chain is
 * checked from the file alone; rows hold what people and captures wrote beside them.
 * Tables that follow from records (runs, turns, calls) are not kept.
 */
import * as Schema from "effect/Schema";

export const archiveVersion = 1;

const Place = Schema.Struct({ sequence: Schema.Int, digest: Schema.String });

const Header = Schema.Struct({
  kind: Schema.Literal("archive"),
  version: Schema.Literal(archiveVersion),
  tenantId: Schema.String,
  /** Runs that were settled longer ago than this were taken. */
  olderThanSeconds: Schema.Finite,
  /** Milliseconds, the clock of the host that wrote it. */
  createdAt: Schema.Int,
});

/**
 * Opens a part of a thread: records that stood together. `after` is what the first of
 * them follows. Parts of one thread that follow each other were taken out together.
 */
const ThreadLine = Schema.Struct({
  kind: Schema.Literal("thread"),
  threadId: Schema.String,
  agentId: Schema.String,
  after: Place,
});

const RecordLine = Schema.Struct({
  kind: Schema.Literal("record"),
  threadId: Schema.String,
  sequence: Schema.Int,
  runId: Schema.String,
  epoch: Schema.Int,
  recordKind: Schema.String,
  batchId: Schema.String,
  batchPlace: Schema.Int,
  recordedAt: Schema.Int,
  digest: Schema.String,
  previousDigest: Schema.String,
  /** Canonical JSON text. */
  body: Schema.String,
});
export type RecordLine = typeof RecordLine.Type;

/** A row of a table as PostgreSQL tells it. */
const RowLine = Schema.Struct({
  kind: Schema.Literal("row"),
  threadId: Schema.String,
  table: Schema.String,
  row: Schema.Json,
});
export type RowLine = typeof RowLine.Type;

/** Closes a part; `runIds` are the runs whose last record is in it, and before it stand their rows. */
const ThreadEndLine = Schema.Struct({
  kind: Schema.Literal("thread-end"),
  threadId: Schema.String,
  through: Place,
  runIds: Schema.Array(Schema.String),
});

export const ArchiveLine = Schema.Union([Header, ThreadLine, RecordLine, RowLine, ThreadEndLine]);
export type ArchiveLine = typeof ArchiveLine.Type;

export const Manifest = Schema.Struct({
  version: Schema.Literal(archiveVersion),
  file: Schema.String,
  tenantId: Schema.String,
  sha256: Schema.String,
  bytes: Schema.Int,
  threads: Schema.Int,
  runs: Schema.Int,
  records: Schema.Int,
  createdAt: Schema.Int,
});
export type Manifest = typeof Manifest.Type;

export const manifestOf = (file: string): string => file.replace(/\.jsonl$/, ".manifest.json");
