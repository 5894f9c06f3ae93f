import { Effect } from "effect";
import fc from "fast-check";
import { assert, describe, it } from "vitest";
import { inputTitle } from "#server/operator/input-title.ts";
import { cursorForms, decodeCursor, encodeCursor } from "#server/views/cursor.ts";
import { explainObligation, type ObligationToExplain } from "#server/views/explain-obligation.ts";
import { fingerprintWords } from "#server/views/fingerprint-words.ts";

describe("the fingerprint of a call", () => {
  const call = { toolName: "refund", toolDigest: "t", parametersDigest: "p" };

  it("is four words, the same each time, and another for any other tool, version or argument", () => {
    const words = fingerprintWords(call);
    assert.match(words, /^[a-z]+ [a-z]+ [a-z]+ [a-z]+$/);
    assert.strictEqual(fingerprintWords(call), words);
    for (const change of [{ toolName: "refunds" }, { toolDigest: "u" }, { parametersDigest: "q" }])
      assert.notStrictEqual(fingerprintWords({ ...call, ...change }), words);
  });

  it("uses all 256 words", () => {
    const seen = new Set<string>();
    for (let at = 0; at < 4_000; at += 1)
      for (const word of fingerprintWords({ ...call, parametersDigest: String(at) }).split(" "))
        seen.add(word);
    assert.strictEqual(seen.size, 256);
  });
});

describe("a list's cursor", () => {
  const forms = [cursorForms.time, cursorForms.id];
  const decode = (text: string) => Effect.runSync(Effect.result(decodeCursor(text, forms)));

  it("comes back as it was given", () => {
    for (const time of [
      "2026-11-30 04:00:00.123456+00",
      "2026-11-30 04:00:00+00",
      "2028-02-29 23:59:59.5-05:30",
      "10000-01-01 00:00:00+00",
      "infinity",
    ]) {
      const parts = [time, "run_1"];
      const decoded = decode(encodeCursor(parts));
      assert.isTrue(decoded._tag === "Success");
      if (decoded._tag === "Success") assert.deepStrictEqual(decoded.success, parts);
    }
  });

  it("is refused as invalid input when it is anything else", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fc.base64String()), (text) => {
        assert.strictEqual(decode(text)._tag, "Failure");
      }),
    );
    assert.strictEqual(decode(encodeCursor(["2026-11-30 04:00:00+00"]))._tag, "Failure");
    assert.strictEqual(decode(encodeCursor(["now()", "run_1"]))._tag, "Failure");
    assert.strictEqual(decode(encodeCursor(["2026-11-30 04:00:00+00", "run'--"]))._tag, "Failure");
    for (const time of [
      "2026-13-01 00:00:00+00",
      "2026-02-29 00:00:00+00",
      "2026-00-01 00:00:00+00",
      "2026-01-01 24:00:00+00",
      "2026-01-01 00:60:00+00",
      "2026-01-01 00:00:60.1+00",
      "2026-01-01 00:00:00.1+16",
      "2026-01-01 00:00:00+00:60",
      "0000-01-01 00:00:00+00",
      "999999-01-01 00:00:00+00",
    ])
      assert.strictEqual(decode(encodeCursor([time, "run_1"]))._tag, "Failure", time);
  });
});

describe("an obligation", () => {
  const base: ObligationToExplain = {
    state: "ready",
    since: 0,
    now: 0,
    attempts: 0,
    pendingApprovals: 0,
    openUnknowns: 0,
    postponedReason: null,
    dueAt: null,
    abortRequested: false,
  };

  it("[OP-11] what is held since a restore waits for a person, whatever its age, and no clock is promised", () => {
    const held = {
      ...base,
      dueAt: base.now + 100 * 365 * 86_400_000,
      postponedReason: "Restored.",
    };
    const { blocker, explanation } = explainObligation(held);
    assert.strictEqual(blocker, "held");
    assert.strictEqual(explanation, "It is held until somebody wakes or aborts it. Restored.");
    assert.strictEqual(explainObligation({ ...held, now: base.now + 1 }).blocker, "held");
    const delayed = explainObligation({
      ...base,
      dueAt: base.now + 60_000,
      postponedReason: "Busy.",
    });
    assert.strictEqual(delayed.blocker, "none");
    assert.include(delayed.explanation, "starts again by itself");
  });

  it("[OP-11] ages at 300 s and is overdue at 3,600 s", () => {
    const severity = (seconds: number) =>
      explainObligation({ ...base, now: seconds * 1_000 }).severity;
    assert.deepStrictEqual([299, 300, 3_599, 3_600].map(severity), [
      "ok",
      "aging",
      "aging",
      "overdue",
    ]);
  });

  it("[OP-11] is blocked by what it waits for, and by its age only when nothing else holds it", () => {
    const blocker = (one: Partial<ObligationToExplain>) =>
      explainObligation({ ...base, ...one }).blocker;
    assert.strictEqual(blocker({ state: "waiting", pendingApprovals: 2 }), "approval");
    assert.strictEqual(blocker({ state: "unknown", openUnknowns: 1 }), "unknown");
    assert.strictEqual(blocker({}), "none");
    assert.strictEqual(blocker({ now: 400_000 }), "ready-aged");
    assert.strictEqual(blocker({ state: "running", now: 400_000 }), "running-aged");
  });

  it("[OP-12] says how many are missing, and what happens once none is", () => {
    const text = (one: Partial<ObligationToExplain>) =>
      explainObligation({ ...base, ...one }).explanation;
    assert.match(text({ state: "waiting", pendingApprovals: 1 }), /^1 approval is pending/);
    assert.match(text({ state: "waiting", pendingApprovals: 3 }), /^3 approvals are pending/);
    assert.match(text({ state: "waiting" }), /^Every approval is decided/);
    assert.match(text({ state: "unknown", openUnknowns: 2 }), /Nothing is repeated/);
    assert.match(text({ state: "running", abortRequested: true }), /abort/);
  });
});

describe("a run's title", () => {
  it("is the first line of the first text, at most 200 characters, and never half a character", () => {
    assert.strictEqual(inputTitle("  Hello\nworld"), "Hello");
    assert.strictEqual(inputTitle({ n: 1, deep: { message: "Refund\r\nme" } }), "Refund");
    assert.strictEqual(inputTitle({ n: 1 }), '{"n":1}');
    assert.strictEqual(inputTitle([]), "[]");
    const long = inputTitle("😀".repeat(300));
    assert.isAtMost(long.length, 200);
    assert.isTrue(long.isWellFormed());
  });
});
