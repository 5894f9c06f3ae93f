/**
 * What is wrong with a thread's stored rows, found row by row, so that a journal
 * of any length is checked in bounded memory. Pure: the same check runs over a
 * database and over an archive, and it repairs nothing.
 */
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { RunRecord } from "../contract/records.ts";
import type { JournalFaultView } from "../contract/verification.ts";
import { type ChainLink, type ChainPlace, checkLink, emptyTail } from "./chain.ts";

/**
 * `gap`, `previous-digest`, `epoch`, `digest`: the chain (see `chain.ts`).
 * `unreadable`: the text is no record of this version. `column`: a column beside
 * the text says something else than the text. `batch`: an append is not whole.
 * `second-opening`, `second-settlement`: a run has two. `tail`: the thread's head
 * is not where its records end. `orphan`: a record of a run that was never
 * admitted. `result`: the text that is kept of a large result is not the one its
 * record names. `projection`: a table does not say what the records say. `audit`: the
 * audit log's chain. `archive`: a file is not what its manifest says.
 */
export type FaultKind = JournalFaultView["kind"];

export type JournalFault = JournalFaultView;

export interface RowToVerify extends ChainLink {
  readonly runId: string;
  readonly kind: string;
  readonly batchId: string;
  readonly batchPlace: number;
}

/** Values in faults are shown to people: at most so many characters of each. */
const maxShown = 400;
export const shown = (text: string): string =>
  text.length <= maxShown ? text : `${text.slice(0, maxShown).toWellFormed()}\u2026`;

const decodeBody = Schema.decodeUnknownResult(Schema.fromJsonString(RunRecord));

/** Records that were taken out because of their age: what the chain ended with before them, and what it goes on from. */
export interface ChainGap {
  readonly after: Pick<ChainPlace, "sequence" | "digest">;
  readonly through: Pick<ChainPlace, "sequence" | "digest">;
}

export interface VerifiedRow {
  readonly faults: ReadonlyArray<JournalFault>;
  /** Undefined when the text cannot be read. */
  readonly record: RunRecord | undefined;
}

export interface ThreadVerifier {
  /** The next row in stored order. */
  readonly take: (row: RowToVerify) => VerifiedRow;
  /** Where the rows taken so far end. */
  readonly tail: () => Pick<ChainPlace, "sequence" | "digest">;
  /** Gaps that no record and no other gap has led to: the thread does not hold what they say. */
  readonly gapsLeft: () => ReadonlyArray<ChainGap>;
}

/**
 * After a fault the check goes on from the row as it is stored, so that one
 * altered row is one fault and not one for every row behind it.
 *
 * @param start what the first row must follow
 * @param gaps where records were taken out, in order; the chain is checked across each of them
 */
export const makeThreadVerifier = (
  threadId: string,
  start: Pick<ChainPlace, "sequence" | "digest"> = emptyTail,
  gaps: ReadonlyArray<ChainGap> = [],
): ThreadVerifier => {
  let place: ChainPlace = { sequence: start.sequence, digest: start.digest, epoch: 0 };
  let gapsCrossed = 0;
  /** Steps over gaps that begin here; one that begins elsewhere, or with another digest, leads nowhere. */
  const crossGaps = (): void => {
    for (;;) {
      const gap = gaps[gapsCrossed];
      if (gap?.after.sequence !== place.sequence || gap.after.digest !== place.digest) return;
      place = { ...gap.through, epoch: place.epoch };
      gapsCrossed += 1;
    }
  };
  crossGaps();
  let batch = { id: "", place: 0 };
  const opened = new Map<string, number>();
  const settled = new Map<string, number>();

  const take = (row: RowToVerify): VerifiedRow => {
    const faults: Array<JournalFault> = [];
    const fault = (kind: FaultKind, expected: string, seen: string) =>
      faults.push({
        kind,
        where: threadId,
        sequence: row.sequence,
        expected: shown(expected),
        seen: shown(seen),
      });

    const broken = checkLink(threadId, place, row);
    if (broken !== undefined) fault(broken.reason, broken.expected, broken.found);
    place = {
      sequence: row.sequence,
      digest: row.digest,
      epoch: Math.max(place.epoch, row.epoch),
    };
    crossGaps();

    const nextPlace = row.batchId === batch.id ? batch.place + 1 : 1;
    // A gap is told already.
    if (row.batchPlace !== nextPlace && broken?.reason !== "gap")
      fault("batch", `place ${nextPlace} of batch ${row.batchId}`, `place ${row.batchPlace}`);
    batch = { id: row.batchId, place: row.batchPlace };

    const read = decodeBody(row.body);
    if (Result.isFailure(read)) {
      fault("unreadable", "a record that this version can read", read.failure.message);
      return { faults, record: undefined };
    }
    const record = read.success;
    if (record._tag !== row.kind) fault("column", `kind ${record._tag}`, `kind ${row.kind}`);
    if (record.runId !== row.runId) fault("column", `run ${record.runId}`, `run ${row.runId}`);
    const once = (kind: "second-opening" | "second-settlement", seen: Map<string, number>) => {
      const first = seen.get(record.runId);
      if (first === undefined) seen.set(record.runId, row.sequence);
      else
        fault(
          kind,
          `one ${record._tag} of run ${record.runId}, record ${first}`,
          `another one, record ${row.sequence}`,
        );
    };
    if (record._tag === "RunOpened") once("second-opening", opened);
    if (record._tag === "RunSettled") once("second-settlement", settled);
    return { faults, record };
  };

  return { take, tail: () => place, gapsLeft: () => gaps.slice(gapsCrossed) };
};
