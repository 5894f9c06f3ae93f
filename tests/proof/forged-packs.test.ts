/**
 * Packs of the whole kind that a forger makes: lines edited, dropped, doubled, swapped, moved, spliced from
 * another run's pack or cut off, the file closed again, and the chain made anew where the forger can. The run's
 * records stand among records of another run, which a pack carries without their text.
 */
import { Effect } from "effect";
import * as fc from "fast-check";
import { assert, beforeAll, describe, it } from "vitest";
import { bodyOf, rowDigest } from "#lib/durable/chain.ts";
import type { RunRecord } from "#lib/contract/records.ts";
import { sealedDigest, sealOf } from "#lib/proof/link-seal.ts";
import type { ProofLine } from "#lib/proof/proof-lines.ts";
import { makeProofVerifier } from "#lib/proof/verify-proof.ts";
import {
  amongOthers,
  closedLines,
  lastDigest,
  packOf,
  sampleRecords,
  threadId,
} from "#tests/proof/sample-pack.ts";

type Link = Extract<ProofLine, { kind: "record" | "link" }>;
type Forgery = (lines: ReadonlyArray<ProofLine>) => ReadonlyArray<ProofLine>;

let lines: ReadonlyArray<ProofLine>;
/** The same thread and places, another run in them. */
let other: ReadonlyArray<ProofLine>;
let known: string;
beforeAll(async () => {
  const records = await Effect.runPromise(sampleRecords);
  lines = packOf(amongOthers(records));
  known = lastDigest(lines);
  other = packOf(
    amongOthers(
      records.map((record): RunRecord =>
        record._tag === "ApprovalDecided" ? { ...record, reason: "another" } : record,
      ),
    ),
  );
});

const report = (texts: ReadonlyArray<string>, noted: ReadonlyArray<string>) => {
  const verifier = makeProofVerifier(noted);
  for (const text of texts) verifier.take(text);
  return verifier.end();
};
const isLink = (line: ProofLine): line is Link => line.kind === "record" || line.kind === "link";

/** What a forger does who has our tools but not the other run's texts: every digest that can be made is made. */
const remade: Forgery = (forged) => {
  let before: Link | undefined;
  const chained = forged.map((line) => {
    if (!isLink(line)) return line;
    const previousDigest = before?.digest ?? line.previousDigest;
    const place = { ...line, threadId, previousDigest };
    const digest =
      line.kind === "record"
        ? rowDigest({ ...place, body: line.body })
        : sealedDigest(place, line.seal ?? { state: "0".repeat(64), bytes: 1 });
    before = { ...line, previousDigest, digest };
    return before;
  });
  const tail = before;
  return chained.map((line) =>
    line.kind === "proof" && tail !== undefined
      ? { ...line, threadTail: tail, runTail: { sequence: tail.sequence, digest: tail.digest } }
      : line,
  );
};

/**
 * What nothing but the file's last line binds, in any pack: when and by whom it was exported, how far thread and
 * audit had gone on behind it, when the server wrote a record, and when and by what name each of several people
 * voted. Everything else is told twice.
 */
const boundByTheEndOnly =
  /^(?:exportedAt|exportedBy\..*|(?:thread|audit)Tail\.sequence|recordedAt|approvers\.\d+\.(?:name|at|parametersDigest))$/;

const leavesOf = (value: unknown, path = ""): ReadonlyArray<string> =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, inner]) =>
        leavesOf(inner, path === "" ? key : `${path}.${key}`),
      )
    : [path];

const otherValue = (value: unknown): unknown => {
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (typeof value !== "string") return "something";
  if (!/^[0-9a-f]{64}$/.test(value)) return `${value}x`;
  return value.slice(0, -1) + (value.endsWith("0") ? "1" : "0");
};

/** The line with another value at one place. */
const edited = (line: ProofLine, path: string): ProofLine => {
  const change = (value: unknown, keys: ReadonlyArray<string>): unknown => {
    const [key, ...rest] = keys;
    if (key === undefined) return otherValue(value);
    if (Array.isArray(value))
      return value.map((one, at) => (String(at) === key ? change(one, rest) : one));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, name === key ? change(one, rest) : one]),
    );
  };
  // A forger writes whatever JSON: the verifier is given its text, not this type.
  return change(line, path.split(".")) as ProofLine;
};

describe("a pack whose file was closed again", () => {
  it("with no change holds, so that what follows can fail", () => {
    assert.deepStrictEqual(report(closedLines(lines), [known]).faults, []);
    assert.isFalse(report(closedLines(other), [known]).holds);
    assert.isTrue(report(closedLines(other), []).holds);
  });

  it("[C098][PG-02] does not hold with any one value of any line edited", () => {
    const unseen = lines.flatMap((line, index) =>
      leavesOf(line)
        .filter((path) => !boundByTheEndOnly.test(path))
        .filter((path) => report(closedLines(lines.with(index, edited(line, path))), [known]).holds)
        .map((path) => `${line.kind} ${path}`),
    );
    assert.deepStrictEqual(unseen, []);
  });

  it("[C098][PG-02] does not hold with a line left out, doubled, moved or changed for another run's", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("drop", "double", "move", "splice", "cut"),
        fc.nat(1_000),
        fc.nat(1_000),
        (how, one, two) => {
          const [from, to] = [one % lines.length, two % lines.length];
          const line = lines[from];
          const foreign = other[from];
          if (line === undefined || foreign === undefined) return;
          const forged: Record<typeof how, () => ReadonlyArray<ProofLine>> = {
            drop: () => lines.toSpliced(from, 1),
            double: () => lines.toSpliced(to, 0, line),
            move: () => lines.toSpliced(from, 1).toSpliced(to, 0, line),
            splice: () => lines.with(from, foreign),
            cut: () => lines.slice(0, from),
          };
          const made = forged[how]();
          // Approvals have no order of their own, and the forger may have changed nothing.
          fc.pre(JSON.stringify(sortedApprovals(made)) !== JSON.stringify(sortedApprovals(lines)));
          assert.isFalse(report(closedLines(made), [known]).holds, `${how} ${from} ${to}`);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("[C098][PG-02] does not hold where the text is cut anywhere", () => {
    const whole = closedLines(lines).join("\n");
    fc.assert(
      fc.property(fc.nat(whole.length - 1), (at) => {
        assert.isFalse(report(whole.slice(0, at).split("\n"), []).holds);
      }),
      { numRuns: 200 },
    );
  });
});

describe("a pack whose chain was made anew", () => {
  it("[C098][PG-02] does not carry the digest that was noted elsewhere, whichever record was forged", () => {
    for (const [index, line] of lines.entries()) {
      if (!isLink(line)) continue;
      const forged = remade(
        lines.with(
          index,
          line.kind === "record"
            ? { ...line, body: line.body.replace(/"runId"/, '"more":1,"runId"') }
            : {
                ...line,
                seal: sealOf({
                  ...line,
                  threadId,
                  body: bodyOf({
                    _tag: "AbortRequested",
                    runId: "run-of-another" as never,
                    actor: { kind: "operator", id: "op-9", name: "Forger" },
                    reason: "forged",
                    requestedAt: 1,
                  }),
                }),
              },
        ),
      );
      assert.isFalse(report(closedLines(forged), [known]).holds, `record ${line.sequence}`);
    }
  });

  /** The hole that version 1 had: a link said what it followed and what its digest was, and nobody could make it again. */
  it("[C098][PG-02] cannot be joined to the true end by another run's record, sealed or not", () => {
    const links = lines.flatMap((line, index) => (line.kind === "link" ? [{ line, index }] : []));
    assert.isAbove(links.length, 3);
    for (const { line, index } of links) {
      const start = remade(
        lines
          .slice(0, index)
          .map((before) =>
            before.kind === "record" && before.body.includes("900")
              ? { ...before, body: before.body.replaceAll("900", "901") }
              : before,
          ),
      );
      const end = start.findLast(isLink);
      const joined = { ...line, previousDigest: end?.digest ?? "" };
      const { seal: _, ...unsealed } = joined;
      const header = lines[0];
      if (header === undefined) throw new Error("no first line");
      if (JSON.stringify(start) === JSON.stringify(remade(lines.slice(0, index)))) continue;
      for (const bridge of [joined, unsealed]) {
        const forged = [header, ...start.slice(1), bridge, ...lines.slice(index + 1)];
        const { faults } = report(closedLines(forged), [known]);
        assert.include(
          faults.map(({ where }) => where),
          `record ${line.sequence}`,
        );
      }
    }
  });

  it("[C098][PG-02] of version 1 says that its lines of other runs prove nothing", () => {
    const old = lines.map((line): ProofLine => {
      if (line.kind === "proof") return { ...line, version: 1 };
      if (line.kind !== "link") return line;
      const { seal: _, ...link } = line;
      return link;
    });
    const { faults } = report(closedLines(old), [known]);
    assert.match(faults[0]?.message ?? "", /cannot be made again.*export the run again/);
  });
});

/** The lines with the approvals in one order: they have none of their own. */
const sortedApprovals: Forgery = (some) => [
  ...some
    .filter((line) => line.kind === "approval")
    .toSorted((one, two) => one.requestId.localeCompare(two.requestId)),
  ...some.filter((line) => line.kind !== "approval"),
];
