import { assert, describe, it } from "@effect/vitest";
import { Schema } from "effect";
import {
  UnexecutedResult,
  deniedResult,
  expiredResult,
  notExecutedResult,
} from "#lib/approval/result-text.ts";
import { utf8ByteLength } from "#lib/contract/json/utf8.ts";
import { truncationMarker } from "#lib/diagnostics/bounded-text.ts";

describe("what the model is told about a gated call that did not run", () => {
  it("[A-06][A-07][C014] denied, expired and not executed have different tags and different words", () => {
    const results = [
      deniedResult("refund", "Too late"),
      expiredResult("refund"),
      notExecutedResult("refund", "Its tool is gone."),
    ];
    assert.strictEqual(new Set(results.map(({ _tag }) => _tag)).size, 3);
    assert.strictEqual(new Set(results.map(({ message }) => message)).size, 3);
    assert.include(results[0]?.message, "denied");
    assert.notInclude(results[1]?.message, "denied");
    assert.include(results[1]?.message, "nobody decided in time");
    for (const result of results) {
      assert.include(result.message, "did not run");
      assert.deepStrictEqual(
        Schema.decodeUnknownSync(UnexecutedResult)(JSON.parse(JSON.stringify(result))),
        result,
      );
    }
  });

  it("[A-06] the operator's reason reaches the model word for word, and an empty one is left out", () => {
    assert.strictEqual(
      deniedResult("refund", "Customer has\nno receipt ✋").reason,
      "Customer has\nno receipt ✋",
    );
    assert.notProperty(deniedResult("refund", "  "), "reason");
  });

  it("[A-06] reason, sentence and tool name are bounded with a visible marker", () => {
    const long = "漢".repeat(10_000);
    const denied = deniedResult(long, long);
    assert.isAtMost(utf8ByteLength(denied.reason ?? ""), 8_192);
    assert.isTrue(denied.reason?.endsWith(truncationMarker));
    for (const { message } of [denied, expiredResult(long), notExecutedResult(long, long)]) {
      assert.isAtMost(utf8ByteLength(message), 9_000);
      assert.include(message, truncationMarker);
    }
  });

  it("the results carry no field that providers give a meaning of their own", () => {
    for (const result of [
      deniedResult("refund", "no"),
      expiredResult("refund"),
      notExecutedResult("refund", "no"),
    ]) {
      assert.notProperty(result, "type");
    }
  });
});
