/**
 * Whether the texts that are kept beside records are those the records name. Pure:
 * the same check runs over a database and over an archive.
 */
import type { RunRecord } from "../contract/records.ts";
import type { JournalFault } from "./verify-thread.ts";

/** A kept text as it is found: its own digest and size, made again from the text. */
export interface FoundText {
  readonly runId: string;
  readonly resultId: string;
  readonly bytes: number;
  readonly digest: string;
}

export interface ResultVerifier {
  /** Notes what a record names. */
  readonly named: (threadId: string, sequence: number, record: RunRecord) => void;
  /** Holds a found text against its record; every record of its thread must have been noted. */
  readonly found: (threadId: string, text: FoundText) => ReadonlyArray<JournalFault>;
  /** What was named and not found; begins again. */
  readonly end: () => ReadonlyArray<JournalFault>;
}

const keyOf = (runId: string, resultId: string): string => JSON.stringify([runId, resultId]);

const wordsOf = (bytes: number, digest: string): string =>
  `a text of ${bytes} bytes with digest ${digest}`;

export const makeResultVerifier = (): ResultVerifier => {
  const open = new Map<
    string,
    {
      readonly where: string;
      readonly sequence: number;
      readonly resultId: string;
      readonly expected: string;
    }
  >();
  const fault = (
    where: string,
    sequence: number | null,
    expected: string,
    seen: string,
  ): JournalFault => ({ kind: "result", where, sequence, expected, seen });
  return {
    named: (where, sequence, record) => {
      if (record._tag !== "ToolCallSettled" || record.kept === undefined) return;
      const { bytes, digest, resultId } = record.kept;
      open.set(keyOf(record.runId, resultId), {
        where,
        sequence,
        resultId,
        expected: wordsOf(bytes, digest),
      });
    },
    found: (where, { bytes, digest, resultId, runId }) => {
      const key = keyOf(runId, resultId);
      const named = open.get(key);
      if (named === undefined)
        return [fault(where, null, `a record that names the kept result ${resultId}`, "none")];
      open.delete(key);
      const seen = wordsOf(bytes, digest);
      return named.expected === seen
        ? []
        : [fault(where, named.sequence, `${named.expected} as ${resultId}`, seen)];
    },
    end: () => {
      const missing = [...open.values()].map(({ expected, resultId, sequence, where }) =>
        fault(where, sequence, `${expected} as ${resultId}`, "none"),
      );
      open.clear();
      return missing;
    },
  };
};
