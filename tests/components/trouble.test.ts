import { assert, it } from "@effect/vitest";
import { troubleOf } from "#components/runs/trouble.ts";
import type { CallState } from "#lib/contract/status.ts";
import type { ToolCallView } from "#lib/contract/run-views.ts";

/** Only what the filter looks at. */
const call = (callId: string, state: CallState, inner?: ReadonlyArray<ToolCallView>) =>
  ({ callId, state, ...(inner === undefined ? {} : { inner }) }) as ToolCallView;

const ids = (calls: ReadonlyArray<ToolCallView>): ReadonlyArray<string> =>
  calls.flatMap(({ callId, inner }) => [callId, ...(inner ?? []).map((one) => one.callId)]);

it("[C088] only failed, refused, doubtful and waiting calls are left, each under the call that made it", () => {
  const batch = [
    call("fine", "succeeded"),
    call("failed", "failed"),
    call("waits", "waiting"),
    call("outer", "succeeded", [call("inner-fine", "succeeded"), call("inner-doubt", "unknown")]),
    call("all-fine", "succeeded", [call("inner-ok", "succeeded")]),
    call("denied", "denied-by-policy", []),
    call("runs", "running"),
  ];
  assert.deepStrictEqual(ids(troubleOf(batch)), [
    "failed",
    "waits",
    "outer",
    "inner-doubt",
    "denied",
  ]);
});
