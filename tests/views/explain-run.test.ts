import { assert, describe, it } from "vitest";
import { explainRun, judgeRetry, judgeWake, type RunToExplain } from "#server/views/explain-run.ts";
import { decisionMeaning } from "#server/views/decision-meaning.ts";
import { RecoveryDecision } from "#lib/contract/status.ts";

const ready: RunToExplain = {
  state: "running",
  finishReason: null,
  failureMessage: null,
  submission: "ready",
  since: 0,
  dueAt: 60_000,
  now: 1_000,
  claims: 2,
  lostAttempts: 2,
  postponedReason: "The model could not be reached.",
  pendingApprovals: 0,
  openUnknowns: 0,
  abortRequested: false,
  canGoOn: false,
  behind: null,
  workerAlive: true,
  startedEffects: [],
};
const failed: RunToExplain = {
  ...ready,
  state: "failed",
  submission: "settled",
  finishReason: "poisoned",
  failureMessage: "8 attempts in a row ended without progress.",
};

describe("what a run waits for (OP-12)", () => {
  it("[OP-12] a run that backs off names the reason and the time, and both verbs would do something", () => {
    const explained = explainRun(ready);
    assert.include(explained.now, "The model could not be reached.");
    assert.strictEqual(explained.nextAt, 60_000);
    assert.isTrue(explained.wake.possible && explained.retry.possible);
  });

  it("[OP-12] no clock is promised to a run behind another, to one that waits for people, or to a settled one", () => {
    assert.isNull(explainRun({ ...ready, behind: "run_1" }).nextAt);
    assert.isNull(explainRun({ ...ready, submission: "waiting", pendingApprovals: 1 }).nextAt);
    assert.isNull(explainRun(failed).nextAt);
  });

  it("[OP-12] a run that is held since a restore says so, names no time, and waking it warns of what is not recorded", () => {
    const held = { ...ready, dueAt: 100 * 365 * 86_400_000, lostAttempts: 0 };
    const explained = explainRun(held);
    assert.match(explained.now, /^It is held until somebody wakes or aborts it\./);
    assert.match(explained.next, /^Nothing by itself/);
    assert.isNull(explained.nextAt);
    assert.isTrue(explained.wake.possible);
    assert.match(explained.wake.effect, /may be done again/);
  });

  it("[OP-12] waking is refused where an attempt would do nothing", () => {
    for (const run of [
      failed,
      { ...ready, submission: "running" as const },
      { ...ready, submission: "waiting" as const },
      { ...ready, submission: "unknown" as const },
      { ...ready, behind: "run_1" },
    ])
      assert.isFalse(judgeWake(run).possible, run.submission);
    // An abort leaves the queue out of turn, so waking it is worth something.
    assert.isTrue(judgeWake({ ...ready, behind: "run_1", abortRequested: true }).possible);
    assert.isTrue(judgeWake({ ...ready, submission: "unknown", canGoOn: true }).possible);
  });

  it("[OP-12] [DU-04] a retry is refused after any started effect, after success, and where the same would only happen again", () => {
    assert.isTrue(judgeRetry(failed).possible);
    assert.isTrue(judgeRetry({ ...failed, finishReason: "model-failure" }).possible);
    const started = judgeRetry({ ...failed, startedEffects: ["refund", "send_mail"] });
    assert.isFalse(started.possible);
    assert.include(started.effect, "refund, send_mail");
    for (const finishReason of [
      "denied",
      "approval-denied",
      "budget-exhausted",
      "corrupt-evidence",
      "tool-failure",
    ])
      assert.isFalse(judgeRetry({ ...failed, finishReason }).possible, finishReason);
    assert.isFalse(
      judgeRetry({ ...failed, state: "completed", finishReason: "answered" }).possible,
    );
    assert.isFalse(judgeRetry({ ...ready, lostAttempts: 0 }).possible);
    const busy = judgeRetry({ ...ready, submission: "running" });
    assert.isFalse(busy.possible);
    assert.include(busy.effect, "under way");
  });

  it("[OP-12] every recovery decision has a meaning of its own in whole sentences", () => {
    const meanings = RecoveryDecision.literals.map((decision) => decisionMeaning[decision]);
    assert.strictEqual(new Set(meanings).size, RecoveryDecision.literals.length);
    for (const meaning of meanings) assert.match(meaning, /^[A-Z].*\.$/);
  });
});
