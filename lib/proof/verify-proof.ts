/** Checks a proof pack line by line, with nothing but the file. Pure. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { RunRecord } from "#lib/contract/records.ts";
import { type ChainPlace, checkLink, checkPlace } from "#lib/durable/chain.ts";
import { makeCallRules, type ProofCheck, type ProofFault } from "./call-rules.ts";
import { sealedDigest } from "./link-seal.ts";
import { approvalFaults, auditFaults, peopleFaults } from "./people-rules.ts";
import { type ProofApproval, type ProofAudit, type ProofHeader, ProofLine } from "./proof-lines.ts";

/** At most so many faults are kept: one alteration may break much. */
export const mostFaults = 100;

export interface ProofReport {
  readonly header: ProofHeader | undefined;
  readonly holds: boolean;
  readonly faults: ReadonlyArray<ProofFault>;
  /** What was looked at, for each promise. */
  readonly checked: Readonly<Record<ProofCheck, string>>;
}

export interface ProofVerifier {
  /** The next line of the file, without its line feed. */
  readonly take: (line: string) => void;
  readonly end: () => ProofReport;
}

const decodeLine = Schema.decodeUnknownResult(Schema.fromJsonString(ProofLine));
const decodeRecord = Schema.decodeUnknownResult(Schema.fromJsonString(RunRecord));

/** Messages about values are shortened: they are read by a person. */
const short = (text: string): string => (text.length > 300 ? `${text.slice(0, 300)}…` : text);

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;

/** @param known digests noted elsewhere that must stand in the chain */
export const makeProofVerifier = (known: ReadonlyArray<string> = []): ProofVerifier => {
  const faults: Array<ProofFault> = [];
  const fault = (check: ProofCheck, where: string, message: string): void => {
    if (faults.length < mostFaults) faults.push({ check, where, message: short(message) });
  };
  const hash = sha256.create();
  const missing = new Set(known);
  const approvals: Array<ProofApproval> = [];
  const audits: Array<ProofAudit> = [];
  const kinds = new Map<string, number>();
  let header: ProofHeader | undefined;
  let rules: ReturnType<typeof makeCallRules> | undefined;
  let place: ChainPlace | undefined;
  let lines = 0;
  let furthest = 0;
  let ended = false;

  const follow = (row: Extract<ProofLine, { kind: "record" | "link" }>): void => {
    if (header === undefined) return;
    // The first row's predecessor is not in the file: the row itself says what it follows.
    const before = place ?? { sequence: row.sequence - 1, digest: row.previousDigest, epoch: 0 };
    const where = `record ${row.sequence}`;
    place = {
      sequence: row.sequence,
      digest: row.digest,
      epoch: Math.max(before.epoch, row.epoch),
    };
    const { threadId } = header;
    if (row.kind === "link" && row.seal === undefined) return fault("chain", where, unsealed);
    const broken =
      row.kind === "record"
        ? checkLink(threadId, before, row)
        : checkPlace(before, row, () =>
            row.seal === undefined ? "" : sealedDigest({ ...row, threadId }, row.seal),
          );
    // Only a digest that was made again here proves anything.
    if (broken === undefined) missing.delete(row.digest);
    else fault("chain", where, breakWords[broken.reason]);
    if (row.kind === "link") return;
    const record = decodeRecord(row.body);
    if (Result.isFailure(record))
      return fault("readable", where, `Its text is no record: ${record.failure.message}`);
    for (const one of rules?.take(record.success, row.sequence) ?? [])
      fault(one.check, one.where, one.message);
  };

  const takeLine = (line: ProofLine, text: string): void => {
    if (line.kind === "end") {
      ended = true;
      if (line.lines !== lines)
        fault("file", "end", `It counts ${line.lines} lines; there are ${lines}.`);
      if (line.digest !== bytesToHex(hash.clone().digest()))
        fault("file", "end", "The lines are not the ones that were exported.");
      return;
    }
    hash.update(utf8ToBytes(`${text}\n`));
    lines += 1;
    if (line.kind === "proof") {
      if (header !== undefined)
        return fault("file", `line ${lines}`, "There is a second first line.");
      header = line;
      rules = makeCallRules(line.runId);
      return;
    }
    if (header === undefined) return fault("file", `line ${lines}`, "The first line is missing.");
    if (rank[line.kind] < furthest)
      fault("file", `line ${lines}`, "It stands out of order: approvals, records, audit rows.");
    furthest = rank[line.kind];
    if (line.kind === "approval") approvals.push(line);
    else if (line.kind === "audit") audits.push(line);
    else follow(line);
  };

  return {
    take: (text) => {
      if (text.trim() === "") return;
      if (ended) return fault("file", `after the end`, "There is more after the last line.");
      const line = decodeLine(text);
      if (Result.isFailure(line)) {
        hash.update(utf8ToBytes(`${text}\n`));
        lines += 1;
        return fault("file", `line ${lines}`, `It cannot be read: ${line.failure.message}`);
      }
      kinds.set(line.success.kind, (kinds.get(line.success.kind) ?? 0) + 1);
      takeLine(line.success, text);
    },
    end: () => {
      if (header === undefined) fault("file", "start", "This is no proof pack.");
      if (!ended) fault("file", "end", "The file stops before its last line.");
      if (place !== undefined && rules?.isOpened() === false)
        fault("chain", "start", "The record that opened the run is missing.");
      for (const one of tailFaults("thread", header?.threadTail, place))
        fault("chain", one.where, one.message);
      const runTail = header?.runTail;
      if (
        runTail !== undefined &&
        (place?.digest !== runTail.digest || place.sequence !== runTail.sequence)
      )
        fault("chain", "end", "The last record is not the one that the first line names.");
      for (const one of tailFaults("audit", header?.auditTail, audits.at(-1)))
        fault("audit", one.where, one.message);
      for (const digest of missing)
        fault("chain", "chain", `The digest ${digest} that was noted elsewhere is not in it.`);
      const tenantId = header?.tenantId ?? "";
      const decisions = rules?.decisions() ?? [];
      for (const one of auditFaults(tenantId, audits)) fault(one.check, one.where, one.message);
      for (const one of [
        ...approvalFaults(rules?.requests() ?? [], decisions, approvals),
        ...peopleFaults(decisions, approvals, audits),
      ])
        fault(one.check, one.where, one.message);
      const byPeople = decisions.filter(({ actor }) => actor.kind === "operator").length;
      const counts = rules?.counts() ?? { declared: 0, executed: 0, approved: 0 };
      const count = (kind: string): number => kinds.get(kind) ?? 0;
      return {
        header,
        faults,
        holds: faults.length === 0,
        checked: {
          file: counted(lines, "line"),
          chain: `${counted(count("record"), "record")} of the run, ${linkWords(count("link"))}`,
          readable: counted(count("record"), "record"),
          approved: `${counted(counts.executed, "executed call")}, ${counted(counts.approved, "approval")}`,
          refused: counted(counts.declared, "declared call"),
          settled: counted(counts.declared, "declared call"),
          audit: `${counted(audits.length, "audit row")}, ${counted(byPeople, "decision")} by people`,
        },
      };
    },
  };
};

/** The order of the parts of a file. */
const rank = { approval: 1, record: 2, link: 2, audit: 3 } as const;

const breakWords: Record<NonNullable<ReturnType<typeof checkLink>>["reason"], string> = {
  gap: "A record before it is missing, or it stands in the wrong place.",
  "previous-digest": "It does not follow the record before it.",
  epoch: "It was written by a worker that had lost the thread before.",
  digest: "Its content is not what was digested.",
};

const unsealed =
  "It is another run's and its digest cannot be made again, so nothing before it is proven. Packs of version 1 are so: export the run again.";

const linkWords = (count: number): string =>
  count === 0
    ? "none of other runs between them"
    : `${count} of other runs between them, whose digests are made again from their seals`;

/** Where the first line says that a chain ended, against the last row of it that is in the file. */
const tailFaults = (
  chain: "thread" | "audit",
  tail: ProofHeader["threadTail"] | undefined,
  last: { readonly sequence: number; readonly digest: string } | undefined,
): ReadonlyArray<{ readonly where: string; readonly message: string }> => {
  if (tail === undefined || last === undefined || last.sequence < tail.sequence) return [];
  return last.sequence === tail.sequence && last.digest === tail.digest
    ? []
    : [
        {
          where: "first line",
          message: `It says that the ${chain} ended at ${tail.sequence} with another digest than what is in the file.`,
        },
      ];
};
