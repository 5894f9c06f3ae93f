/**
 * The hash chain of a thread's journal (PG-02). Each row carries the digest of
 * the row before it, so a record that was changed, dropped, moved or put in
 * afterwards shows at the first place where the chain no longer holds. Pure: the
 * writer, the proof-pack verifier and the tests compute the same digests.
 */
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { encodeCanonicalJson } from "../contract/json/canonical-json.ts";
import { sha256Hex } from "../contract/json/digest.ts";
import { Digest } from "../contract/ids.ts";
import { RunRecord, type RunRecordKind } from "../contract/records.ts";
import type { JournalTail } from "./Journal.ts";

/** One record as it is stored: canonical text and its place in the chain. */
export interface ChainedRow {
  readonly sequence: number;
  readonly kind: RunRecordKind;
  /** Canonical JSON text of the encoded record; valid UTF-8, NUL and lone surrogates escaped (PG-06). */
  readonly body: string;
  readonly digest: Digest;
  readonly previousDigest: Digest;
}

/** What `verifyChain` needs to know of a stored row. */
export interface ChainLink {
  readonly sequence: number;
  readonly epoch: number;
  readonly body: string;
  readonly digest: string;
  readonly previousDigest: string;
}

/**
 * The first place where a chain does not hold. `gap`: the sequence is not the
 * next one; `previous-digest`: the row does not follow the row before it;
 * `epoch`: an older owner wrote after a newer one; `digest`: the row's content
 * is not what was digested.
 */
export interface ChainBreak {
  readonly sequence: number;
  readonly reason: "gap" | "previous-digest" | "epoch" | "digest";
  readonly expected: string;
  readonly found: string;
}

/** Where an empty thread ends: sequence 0 and 64 zeros. */
export const emptyTail: JournalTail = { sequence: 0, digest: Digest.make("0".repeat(64)) };

const encodeRecord = Schema.encodeSync(RunRecord);

/**
 * The two records of nearly every call, made of ids and words that the record of their turn was checked with. Their
 * schemas change nothing, so they are written as they stand; only a number could be what no reader takes.
 */
const isPlain = (record: RunRecord): boolean => {
  switch (record._tag) {
    case "ToolCallPrepared":
      return Number.isSafeInteger(record.attempt);
    case "ToolCallSettled":
      return (
        record.kind === "succeeded" &&
        Number.isSafeInteger(record.originalBytes) &&
        Number.isSafeInteger(record.endedAt) &&
        Number.isSafeInteger(record.startedAt ?? 0)
      );
    default:
      return false;
  }
};

/** The text under which a record is stored and digested. Throws for one that is not what its schema says. */
export const bodyOf = (record: RunRecord): string =>
  Result.getOrThrow(encodeCanonicalJson(isPlain(record) ? record : encodeRecord(record)));

/**
 * SHA-256 of the canonical JSON of the row's place and body. The thread and the
 * epoch are part of it: a row copied to another thread or owner does not verify.
 */
export const rowDigest = (row: {
  readonly threadId: string;
  readonly epoch: number;
  readonly sequence: number;
  readonly previousDigest: string;
  readonly body: string;
}): Digest =>
  // The canonical text of the five, written down: a body is long, and each record of a run is digested here.
  // `sha256Hex` gives what the brand asks for, so that nothing is checked again.
  sha256Hex(
    `{"body":${JSON.stringify(row.body)},"epoch":${row.epoch},"previousDigest":${JSON.stringify(row.previousDigest)},"sequence":${row.sequence},"threadId":${JSON.stringify(row.threadId)}}`,
  ) as Digest;

/** Puts records behind a tail, in the order given, and tells the tail that follows (PG-02). */
export const chainRecords = (
  tail: JournalTail,
  records: ReadonlyArray<RunRecord>,
  owner: { readonly threadId: string; readonly epoch: number },
): { readonly rows: ReadonlyArray<ChainedRow>; readonly tail: JournalTail } => {
  const { epoch, threadId } = owner;
  let end = tail;
  const rows = records.map((record): ChainedRow => {
    const sequence = end.sequence + 1;
    const previousDigest = end.digest;
    const body = bodyOf(record);
    const digest = rowDigest({ threadId, epoch, sequence, previousDigest, body });
    end = { sequence, digest };
    return { sequence, kind: record._tag, body, digest, previousDigest };
  });
  return { rows, tail: end };
};

/** What comes before a row: where it must begin, as stored and so perhaps no digest at all, and the epoch it must not be below. */
export interface ChainPlace {
  readonly sequence: number;
  readonly digest: string;
  readonly epoch: number;
}

/**
 * The first way in which the row does not follow what comes before it; `undefined` when it does.
 *
 * @param digest what the row must carry, made again by whoever asks
 */
export const checkPlace = (
  before: ChainPlace,
  row: Omit<ChainLink, "body">,
  digest: () => string,
): ChainBreak | undefined => {
  const broken = (reason: ChainBreak["reason"], expected: string, found: string): ChainBreak => ({
    sequence: row.sequence,
    reason,
    expected,
    found,
  });
  if (row.sequence !== before.sequence + 1)
    return broken("gap", String(before.sequence + 1), String(row.sequence));
  if (row.previousDigest !== before.digest)
    return broken("previous-digest", before.digest, row.previousDigest);
  if (row.epoch < before.epoch)
    return broken("epoch", `at least ${before.epoch}`, String(row.epoch));
  const expected = digest();
  return row.digest === expected ? undefined : broken("digest", expected, row.digest);
};

/** The same for a row whose text is there. */
export const checkLink = (
  threadId: string,
  before: ChainPlace,
  row: ChainLink,
): ChainBreak | undefined => checkPlace(before, row, () => rowDigest({ ...row, threadId }));

/**
 * Checks a thread's rows, given in stored order, from `start` on.
 *
 * @returns the first break, or `undefined` when every row holds
 */
export const verifyChain = (
  threadId: string,
  rows: Iterable<ChainLink>,
  start: JournalTail = emptyTail,
): ChainBreak | undefined => {
  let place: ChainPlace = { ...start, epoch: 0 };
  for (const row of rows) {
    const broken = checkLink(threadId, place, row);
    if (broken !== undefined) return broken;
    place = row;
  }
  return undefined;
};
