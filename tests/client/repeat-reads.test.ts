import { assert, describe, it } from "@effect/vitest";
import { ApiFailure, failureOfAnswer } from "#lib/client/api-failure.ts";
import { errorCopy } from "#lib/client/error-copy.ts";
import { repeatAfterMillis, waitingWords, worthRepeating } from "#lib/client/repeat-reads.ts";

const busy = failureOfAnswer(503, { _tag: "StoreUnavailable", message: "The database refused." });
const unreached = new ApiFailure({ _tag: "NetworkFailed", message: "It did not get through." });
const slow = new ApiFailure({ _tag: "NoAnswerInTime", seconds: 20, message: "No answer." });

describe("reads that are tried again", () => {
  it("[C086] a busy server, an unreachable one and a slow one are tried twice more, and the page says which it is", () => {
    for (const [failure, words] of [
      [busy, "The server is busy, trying again"],
      [unreached, "The server cannot be reached, trying again"],
      [slow, "No answer within 20 s, trying again"],
    ] as const) {
      assert.deepStrictEqual(
        [0, 1, 2].map((repeats) => worthRepeating(repeats, failure)),
        [true, true, false],
      );
      assert.strictEqual(waitingWords(failure), words);
    }
    assert.isBelow(repeatAfterMillis(0), repeatAfterMillis(1));
  });

  it("what stands in front of a server that is away is taken for a busy server, no other answer that cannot be read", () => {
    for (const status of [502, 503, 504]) {
      const answer = failureOfAnswer(status, "<html>");
      assert.isTrue(worthRepeating(0, answer));
      assert.strictEqual(waitingWords(answer), "The server is busy, trying again");
      assert.strictEqual(errorCopy(answer.reason).action, "retry");
    }
    const other = failureOfAnswer(500, "<html>");
    assert.isFalse(worthRepeating(0, other));
    assert.strictEqual(errorCopy(other.reason).action, "reload");
  });

  it("a refusal is an answer, and so is a fault of the console itself: neither is asked for twice", () => {
    const refused = failureOfAnswer(403, { _tag: "Forbidden", message: "No.", needs: "operator" });
    assert.isFalse(worthRepeating(0, refused));
    assert.isFalse(worthRepeating(0, new Error("bug")));
  });
});
