import { assert, describe, it } from "@effect/vitest";
import { Cause, Schema } from "effect";
import {
  capture,
  diagnosticTitle,
  failureSummary,
  fingerprint,
  truncationMarker,
} from "#lib/failure-diagnostic.ts";
import { utf8ByteLength } from "#lib/contract/json/utf8.ts";

const timeout = (order: string, millis: number) => {
  const error = new Error(`Order ${order} was not paid within ${millis} ms by "${order}-customer"`);
  error.stack = `Error: ${error.message}\n    at pay (/srv/app-${millis}/payments/pay.js:${millis}:7)\n    at run (file:///srv/run.js:9:1)`;
  return error;
};
const print = (value: unknown) => fingerprint(capture(value));

describe("fingerprint", () => {
  it("failures of one kind from one place are the same, whatever their ids, numbers, lines and folders", () => {
    assert.strictEqual(print(timeout("W1", 500)), print(timeout("W20345", 30_000)));
    assert.match(print(timeout("W1", 500)), /^[0-9a-f]{16}$/);
  });

  it("another wording, tag, code, place or cause is another failure", () => {
    const base = timeout("W1", 1);
    const variants = [
      Object.assign(timeout("W1", 1), { message: "Order was cancelled" }),
      Object.assign(timeout("W1", 1), { _tag: "PaymentTimeout" }),
      Object.assign(timeout("W1", 1), { code: "E1" }),
      Object.assign(timeout("W1", 1), { cause: new Error("socket closed") }),
      Object.assign(timeout("W1", 1), { stack: "Error\n    at refund (/srv/refund.js:1:1)" }),
      Cause.fail(base),
      Cause.die(base),
    ];
    assert.strictEqual(new Set([base, ...variants].map(print)).size, variants.length + 1);
  });

  it("JSON that is no diagnostic has a fingerprint too", () => {
    assert.match(fingerprint({ from: "another version" }), /^[0-9a-f]{16}$/);
  });
});

describe("diagnosticTitle", () => {
  it("[DX-03] names the failure in one redacted line", () => {
    const titleOf = (value: unknown) => diagnosticTitle(capture(value));
    assert.strictEqual(
      titleOf(new TypeError("Bearer abc123 was refused\nsecond line")),
      "TypeError: Bearer [redacted] was refused",
    );
    assert.strictEqual(titleOf(Cause.die("boom")), "Defect: boom");
    assert.strictEqual(titleOf(Cause.interrupt(1)), "Interrupted");
    assert.isAtMost(utf8ByteLength(titleOf(new Error("ü".repeat(1_000)))), 200);
  });
});

describe("failureSummary", () => {
  it("[DX-07] a public failure is a tag of at most 256 bytes and a redacted message of at most 16 KiB", () => {
    class Refused extends Schema.TaggedError<Refused>()("Refused", {
      message: Schema.String,
      iban: Schema.String,
    }) {}
    const summary = failureSummary(
      new Refused({ message: "password: hunter2 was wrong", iban: "DE00" }),
      "ToolFailure",
    );
    assert.deepStrictEqual(summary, {
      errorTag: "Refused",
      message: "password: [redacted] was wrong",
    });
    const huge = failureSummary(
      { _tag: "T".repeat(1_000), message: "m".repeat(100_000) },
      "ToolFailure",
    );
    assert.isAtMost(utf8ByteLength(huge.errorTag), 256);
    assert.isAtMost(utf8ByteLength(huge.message), 16_384);
    assert.isTrue(
      huge.errorTag.endsWith(truncationMarker) && huge.message.endsWith(truncationMarker),
    );
  });

  it("[DX-07] of a cause the failure counts, an interruption only when there is nothing else", () => {
    const cause = Cause.combine(Cause.interrupt(1), Cause.fail(new TypeError("typed")));
    assert.deepStrictEqual(failureSummary(cause, "X"), { errorTag: "TypeError", message: "typed" });
    assert.strictEqual(failureSummary(Cause.interrupt(1), "X").errorTag, "Interrupted");
    assert.deepStrictEqual(failureSummary(undefined, "X"), {
      errorTag: "X",
      message: "No message.",
    });
  });
});
