/** What the verifier finds: nothing in a true pack, and every planted alteration, digests made anew or not. */
import { assert, beforeAll, describe, it } from "vitest";
import { Effect } from "effect";
import type { RunRecord } from "#lib/contract/records.ts";
import type { ProofCheck } from "#lib/proof/call-rules.ts";
import type { ProofLine } from "#lib/proof/proof-lines.ts";
import { makeProofVerifier } from "#lib/proof/verify-proof.ts";
import {
  amongOthers,
  closedLines,
  lastDigest,
  packOf,
  sampleRecords,
} from "#tests/proof/sample-pack.ts";

let records: ReadonlyArray<RunRecord>;
let lines: ReadonlyArray<ProofLine>;
beforeAll(async () => {
  records = await Effect.runPromise(sampleRecords);
  lines = packOf(records);
});

const verify = (texts: ReadonlyArray<string>, known: ReadonlyArray<string> = []) => {
  const verifier = makeProofVerifier(known);
  for (const text of texts) verifier.take(text);
  return verifier.end();
};
const checksOf = (texts: ReadonlyArray<string>): ReadonlyArray<ProofCheck> => [
  ...new Set(verify(texts).faults.map(({ check }) => check)),
];
/** The records of one kind changed, and everything after them made anew by somebody who has our tools. */
const forged = (change: (record: RunRecord) => ReadonlyArray<RunRecord>) =>
  verify(closedLines(packOf(records.flatMap(change))));

describe("a true pack", () => {
  it("[scenario 10][A-09] holds, and says what was looked at", () => {
    const report = verify(closedLines(lines), [
      lines.find((line) => line.kind === "record")?.digest ?? "",
    ]);
    assert.deepStrictEqual(report.faults, []);
    assert.isTrue(report.holds);
    assert.match(report.checked.approved, /^2 executed calls, 1 approval$/);
  });

  it("[PG-02] records of other runs of the thread join the chain without what they say", () => {
    const texts = closedLines(packOf(amongOthers(records)));
    const report = verify(texts, [lastDigest(packOf(amongOthers(records)))]);
    assert.deepStrictEqual(report.faults, []);
    assert.match(
      report.checked.chain,
      /^\d+ records of the run, [1-9]\d* of other runs between them/,
    );
    assert.notInclude(texts.join(""), "run-of-another");
  });

  it("a digest that was noted elsewhere and is not in the chain is missed", () => {
    assert.strictEqual(verify(closedLines(lines), ["f".repeat(64)]).faults[0]?.check, "chain");
  });
});

describe("a digest noted elsewhere", () => {
  const noted = "e".repeat(64);

  it("[PG-02] a forged pack cannot carry it in a line whose text nobody can check", () => {
    const last = lines.findLast((line) => line.kind === "record");
    if (last?.kind !== "record") throw new Error("no record in the sample");
    const { body: _, recordedAt: __, ...row } = last;
    const link: ProofLine = {
      ...row,
      kind: "link",
      sequence: row.sequence + 1,
      previousDigest: row.digest,
      digest: noted,
    };
    const forgedLines = lines.toSpliced(lines.indexOf(last) + 1, 0, link);
    assert.isFalse(verify(closedLines(forgedLines), [noted]).holds);
    assert.include(
      verify(closedLines(forgedLines), [noted]).faults.map(({ message }) => message),
      `The digest ${noted} that was noted elsewhere is not in it.`,
    );
  });

  for (const tail of ["threadTail", "runTail", "auditTail"] as const)
    it(`[PG-02] the first line cannot say another ${tail} than the rows that are there`, () => {
      const changed = lines.map((line) =>
        line.kind === "proof" ? { ...line, [tail]: { ...line[tail], digest: noted } } : line,
      );
      assert.isFalse(verify(closedLines(changed)).holds);
    });

  it("[PG-02] a run without its beginning does not hold", () => {
    const [first] = lines.filter((line) => line.kind === "record");
    assert.deepStrictEqual(checksOf(closedLines(lines.filter((line) => line !== first))), [
      "chain",
    ]);
  });
});

describe("a file that was altered", () => {
  it("[C098] one changed letter of any line is found, whatever the line", () => {
    const texts = closedLines(lines);
    for (const [index, text] of texts.entries()) {
      const at = Math.floor(text.length / 2);
      const letter = text.charAt(at) === "7" ? "8" : "7";
      const changed = texts.with(index, `${text.slice(0, at)}${letter}${text.slice(at + 1)}`);
      assert.isFalse(verify(changed).holds, `line ${index + 1}`);
    }
  });

  it("[C098] a line that is missing, doubled or moved is found, and so is a file that stops early", () => {
    const texts = closedLines(lines);
    for (let index = 0; index < texts.length - 1; index += 1) {
      const [one, next] = [texts[index] ?? "", texts[index + 1] ?? ""];
      assert.isFalse(verify(texts.toSpliced(index, 1)).holds, `without line ${index + 1}`);
      assert.isFalse(verify(texts.toSpliced(index, 0, one)).holds, `line ${index + 1} twice`);
      if (index < texts.length - 2)
        assert.isFalse(verify(texts.with(index, next).with(index + 1, one)).holds);
    }
    assert.deepStrictEqual(checksOf(texts.slice(0, -1)), ["file"]);
    assert.isFalse(verify([...texts, texts[1] ?? ""]).holds);
    assert.isFalse(verify([]).holds);
    assert.isFalse(verify(["not a pack", "{}"]).holds);
  });

  const closedAgain: ReadonlyArray<
    readonly [string, ProofCheck, (line: ProofLine) => ReadonlyArray<ProofLine>]
  > = [
    [
      "a record's text",
      "chain",
      (line) =>
        line.kind === "record" && line.body.includes("900")
          ? [{ ...line, body: line.body.replaceAll("900", "901") }]
          : [line],
    ],
    [
      "a record left out",
      "chain",
      (line) => (line.kind === "record" && line.sequence === 4 ? [] : [line]),
    ],
    [
      "a record of another thread",
      "chain",
      (line) => (line.kind === "proof" ? [{ ...line, threadId: "thread-2" }] : [line]),
    ],
    [
      "who decided, in the audit",
      "audit",
      (line) =>
        line.kind === "audit" && line.sequence === 1
          ? [{ ...line, actor: { ...line.actor, id: "op-9" } }]
          : [line],
    ],
    [
      "what the audit says of a decision",
      "audit",
      (line) =>
        line.kind === "audit" && line.sequence === 1 ? [{ ...line, reason: "another" }] : [line],
    ],
    [
      "a decision's audit row left out",
      "audit",
      (line) => (line.kind === "audit" && line.sequence === 2 ? [] : [line]),
    ],
    [
      "an approval's state",
      "audit",
      (line) =>
        line.kind === "approval" && line.state === "denied"
          ? [{ ...line, state: "approved" }]
          : [line],
    ],
    ["an approval left out", "audit", (line) => (line.kind === "approval" ? [] : [line])],
  ];
  for (const [what, check, change] of closedAgain) {
    it(`[C098] ${what}, with the file closed again, is found by ${check}`, () => {
      assert.include(checksOf(closedLines(lines.flatMap(change))), check);
    });
  }
});

describe("records that were written by somebody with all our tools", () => {
  const forgeries: ReadonlyArray<
    readonly [string, ProofCheck, (record: RunRecord) => ReadonlyArray<RunRecord>]
  > = [
    [
      "[A-09] other arguments ran than were approved",
      "approved",
      (record) =>
        record._tag === "ToolCallPrepared"
          ? [{ ...record, parametersDigest: digestLike(record) }]
          : [record],
    ],
    [
      "[A-09] other arguments were declared than their digest says",
      "approved",
      (record) =>
        record._tag === "TurnRecorded"
          ? [
              {
                ...record,
                calls: record.calls.map((call) => ({
                  ...call,
                  effectiveParameters: { amount: 1e6 },
                })),
              },
            ]
          : [record],
    ],
    [
      "[A-02] people were shown other arguments",
      "approved",
      (record) =>
        record._tag === "ApprovalRequested"
          ? [{ ...record, request: { ...record.request, effectiveParameters: { amount: 1 } } }]
          : [record],
    ],
    [
      "[C041] one person approved what needs two",
      "approved",
      (record) => {
        if (record._tag !== "ApprovalDecided") return [record];
        const { approvers: _, ...alone } = record;
        return [alone];
      },
    ],
    [
      "[A-12] it ran and nobody had decided",
      "approved",
      (record) => (record._tag === "ApprovalDecided" ? [] : [record]),
    ],
    [
      "[A-06] a denied call ran",
      "refused",
      (record) =>
        record._tag === "ApprovalDecided" ? [{ ...record, decision: "denied" }] : [record],
    ],
    [
      "[Z-04] a call that the policy denied ran",
      "refused",
      (record) => (record._tag === "ToolCallPrepared" ? [denialBefore(record), record] : [record]),
    ],
    [
      "[DU-03] a call has two results",
      "settled",
      (record) => (record._tag === "ToolCallSettled" ? [record, record] : [record]),
    ],
    [
      "[DU-12] the run ended twice",
      "settled",
      (record) => (record._tag === "RunSettled" ? [record, record] : [record]),
    ],
    [
      "[DU-01] a result stands there without the promise before it",
      "settled",
      (record) => (record._tag === "ToolCallPrepared" ? [] : [record]),
    ],
  ];
  for (const [what, check, change] of forgeries) {
    it(`${what}: found by ${check}, although every digest fits`, () => {
      const report = forged(change);
      assert.include(
        report.faults.map((fault) => fault.check),
        check,
      );
      assert.isFalse(report.holds);
    });
  }
});

const digestLike = (record: Extract<RunRecord, { _tag: "ToolCallPrepared" }>) => {
  const flipped = record.parametersDigest.replaceAll(/[0-9]/g, (digit) =>
    String(9 - Number(digit)),
  );
  // Still 64 hexadecimal digits.
  return flipped as typeof record.parametersDigest;
};

const denialBefore = (record: Extract<RunRecord, { _tag: "ToolCallPrepared" }>): RunRecord => {
  const { runId, turn, callId, toolName } = record;
  return {
    _tag: "AuthorizationDenied",
    runId,
    turn,
    callId,
    toolName,
    reason: "not for you",
    denialId: "den-1" as Extract<RunRecord, { _tag: "AuthorizationDenied" }>["denialId"],
  };
};
