import { assert, describe, it } from "@effect/vitest";
import * as Schema from "effect/Schema";
import { RunEvent } from "#lib/contract/events.ts";
import { ResultId, ToolCallId } from "#lib/contract/ids.ts";
import { encodeCanonicalJson } from "#lib/contract/json/canonical-json.ts";
import type { RunRecord } from "#lib/contract/records.ts";
import {
  cutHeadLength,
  cutValue,
  eventsOf,
  maxEventValueBytes,
} from "#lib/durable/record-events.ts";
import { digest, placeOf, recordsOf } from "#tests/postgres/records.ts";

const of = recordsOf(placeOf("events"));
const tagsOf = (record: RunRecord) => eventsOf(record).map((event) => event._tag);

describe("the events of records", () => {
  it("[OP-01] what nearly every call tells is plain data: its text is the same with and without encoding", () => {
    for (const record of [
      of.prepared("c1"),
      { ...of.prepared("c1"), parentCallId: ToolCallId.make("c0") },
      of.settled("c1", { nested: [null, { at: -0, text: "\ud800" }] }),
      of.settled("c1", "x".repeat(maxEventValueBytes + 1), {
        selection: ["refund"],
        kept: { resultId: ResultId.make("r1"), bytes: 7, digest: digest("a") },
      }),
    ]) {
      const [event] = eventsOf(record);
      assert.isDefined(event);
      assert.include(["ToolCallStarted", "ToolCallSucceeded"], event._tag);
      assert.deepStrictEqual(
        encodeCanonicalJson(event),
        encodeCanonicalJson(Schema.encodeSync(RunEvent)(event)),
      );
    }
  });

  it("[OP-01] every record kind gives the events that the console follows, each once", () => {
    const expected: ReadonlyArray<readonly [RunRecord, ReadonlyArray<string>]> = [
      [of.opened(), ["RunStarted"]],
      [of.attempt(), ["AttemptStarted"]],
      [of.turn(["c1", "c2"]), ["TurnRecorded", "ToolCallDeclared", "ToolCallDeclared"]],
      [of.approvalRequested("c1"), ["ApprovalRequested"]],
      [of.decided("c1"), ["ApprovalDelivered"]],
      [of.denied("c1"), ["ToolCallDenied"]],
      [of.checkFailed("c1"), ["AuthorizationCheckFailed"]],
      [of.prepared("c1"), ["ToolCallStarted"]],
      [
        {
          _tag: "StepRecorded",
          runId: of.opened().runId,
          turn: 1,
          callId: ToolCallId.make("c1"),
          toolName: "refund_order",
          name: "reserve",
          result: { reserved: true },
          attempt: 1,
        },
        ["StepRecorded"],
      ],
      [of.settled("c1"), ["ToolCallSucceeded"]],
      [of.unknown("c1"), ["ToolCallUnknown"]],
      [of.resolved("c1", "never-happened"), []],
      [of.aborted(), []],
      [of.suspended("approval"), ["RunSuspended"]],
      [of.runSettled("completed"), ["RunCompleted"]],
      [of.runSettled("failed"), ["RunFailed"]],
      [of.runSettled("aborted"), ["RunAborted"]],
    ];
    for (const [record, tags] of expected) {
      assert.deepStrictEqual(tagsOf(record), tags, record._tag);
      for (const event of eventsOf(record)) {
        assert.deepStrictEqual(
          Schema.decodeUnknownSync(RunEvent)(Schema.encodeSync(RunEvent)(event)),
          event,
        );
      }
    }
  });

  it("[A-06][F-10] failures, rejections, denials and skipped calls stay different events", () => {
    const settled = (
      kind: "failed" | "rejected" | "denied-by-person" | "expired" | "not-executed",
    ) =>
      eventsOf(
        of.settled(
          "c1",
          { reason: "no money" },
          { kind, isFailure: true, failureMode: "return", failureHandling: "returned-to-model" },
        ),
      )[0];
    const failed = settled("failed");
    assert.isTrue(
      failed?._tag === "ToolCallFailed" &&
        !failed.rejected &&
        failed.failureHandling === "returned-to-model",
    );
    const rejected = settled("rejected");
    assert.isTrue(rejected?._tag === "ToolCallFailed" && rejected.rejected);
    const denied = settled("denied-by-person");
    assert.isTrue(
      denied?._tag === "ToolCallDenied" && denied.by === "person" && denied.reason === "no money",
    );
    const expired = settled("expired");
    assert.isTrue(expired?._tag === "ToolCallDenied" && expired.by === "expiry");
    const skipped = settled("not-executed");
    assert.isTrue(skipped?._tag === "ToolCallNotExecuted" && skipped.reason === "no money");
    const [byPolicy] = eventsOf(of.denied("c1"));
    assert.isTrue(
      byPolicy?._tag === "ToolCallDenied" &&
        byPolicy.by === "policy" &&
        byPolicy.denialId !== undefined,
    );
  });

  it("[A-13] a rule's decision is announced with its delivery, a person's was announced before", () => {
    const byRule = of.decided("c1", "approved", {
      kind: "policy",
      id: "small-refunds",
      name: "small refunds",
    });
    assert.deepStrictEqual(tagsOf(byRule), ["ApprovalDecided", "ApprovalDelivered"]);
    assert.deepStrictEqual(tagsOf(of.decided("c1")), ["ApprovalDelivered"]);
  });

  it("[DX-06] private evidence is not in any event", () => {
    const [denied] = eventsOf({ ...of.denied("c1"), diagnosticId: "dia_secret" as never });
    assert.isFalse(JSON.stringify(denied).includes("dia_secret"));
  });

  it("a value is cut by its bytes, not its characters, and says so", () => {
    const exact = "x".repeat(maxEventValueBytes - 2);
    assert.strictEqual(cutValue(exact), exact);
    const over = cutValue(`${exact}x`) as { cut: boolean; originalBytes: number; head: string };
    assert.deepStrictEqual(
      [over.cut, over.originalBytes, over.head.length],
      [true, maxEventValueBytes + 1, cutHeadLength],
    );
    const emoji = cutValue("\u{1f600}".repeat(5_000)) as { originalBytes: number; head: string };
    assert.strictEqual(emoji.originalBytes, 20_002);
    assert.isTrue(emoji.head.isWellFormed());
  });

  it("long results, arguments, outputs and texts are cut in events", () => {
    const big = { text: "y".repeat(100_000) };
    const records = [
      of.settled("c1", big),
      of.turn(["c1"], { parameters: big }),
      { ...of.turn([]), text: big.text },
      { ...of.runSettled(), output: big },
    ];
    for (const record of records) {
      for (const event of eventsOf(record)) assert.isBelow(JSON.stringify(event).length, 20_000);
    }
  });
});
