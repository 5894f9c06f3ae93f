import { assert, describe, it } from "@effect/vitest";
import * as Schema from "effect/Schema";
import { notificationsOf } from "#lib/client/notification-text.ts";
import { LoggedEvent } from "#lib/contract/events.ts";

const decode = Schema.decodeUnknownSync(LoggedEvent);
const call = { turn: 1, callId: "c", toolName: "issue_refund" };
let sequence = 0;
const logged = (event: object) =>
  decode({
    version: 1,
    sequence: (sequence += 1),
    tenantId: "main",
    at: 1,
    agentId: "desk",
    threadId: "t",
    runId: "r",
    event,
  });
const asked = (id: string, more: object = {}) =>
  logged({
    _tag: "ApprovalRequested",
    ...call,
    requestId: id,
    summary: "Refund $129.90",
    risk: "high",
    expiresAt: null,
    ...more,
  });
const doubt = (id: string) =>
  logged({ _tag: "ToolCallUnknown", ...call, unknownId: id, detail: "no answer came" });
const decided = (id: string) =>
  logged({
    _tag: "ApprovalDecided",
    ...call,
    requestId: id,
    decision: "approved",
    actor: { kind: "operator", id: "op", name: "Ben" },
    reason: "",
  });

describe("browser notifications", () => {
  it("[C003] a new approval and a new doubt say tool and action, and lead to their own page", () => {
    assert.deepStrictEqual(notificationsOf([asked("apr_1"), doubt("unk_1")]), [
      {
        tag: "approval apr_1",
        title: "Approval, high risk: issue_refund",
        body: "Refund $129.90",
        href: "/approvals?request=apr_1",
      },
      {
        tag: "unknown unk_1",
        title: "Effect in doubt: issue_refund",
        body: "no answer came",
        href: "/unknowns?unknown=unk_1",
      },
    ]);
  });

  it("[C054][C056] text of a model is one bounded line, hidden characters written out, no address made of it", () => {
    const [text] = notificationsOf([
      asked("apr_2", {
        toolName: `pay\u202e\n${"x".repeat(500)}`,
        summary: `<img src=x onerror=alert(1)>\u0000\u200b${"漢".repeat(1_000)}`,
      }),
    ]);
    assert.isAtMost([...(text?.title ?? "")].length, 90);
    assert.isAtMost([...(text?.body ?? "")].length, 160);
    for (const hidden of ["\u202e", "\u200b", "\u0000", "\n"])
      assert.notInclude(`${text?.title}${text?.body}`, hidden);
    assert.include(text?.body, "<img src=x onerror=alert(1)>\\u{0000}");
    assert.isTrue(text?.body.endsWith("…"));
  });

  it("[C003] forty at once are one sentence, and what was answered in the same moment is none", () => {
    const many = Array.from({ length: 40 }, (_, index) => asked(`apr_m${index}`));
    const [only, ...rest] = notificationsOf([...many, doubt("unk_2"), doubt("unk_3")]);
    assert.strictEqual(only?.title, "40 new approvals, 2 new effects in doubt");
    assert.deepStrictEqual(rest, []);
    assert.deepStrictEqual(notificationsOf([asked("apr_3"), decided("apr_3")]), []);
    assert.deepStrictEqual(notificationsOf([decided("apr_4")]), []);
  });
});
