import { assert, describe, it } from "@effect/vitest";
import { approvalStateLook } from "#components/status/approval-state.ts";
import { callStateLook } from "#components/status/call-state.ts";
import { riskLook } from "#components/status/risk.ts";
import { runStateLook } from "#components/status/run-state.ts";
import type { StatusLook } from "#components/status/tone.ts";
import { ApprovalState, CallState, Risk, RunState } from "#lib/contract/status.ts";

const distinct = (looks: ReadonlyArray<StatusLook>): void => {
  assert.strictEqual(new Set(looks.map((look) => look.word)).size, looks.length, "words");
  assert.strictEqual(new Set(looks.map((look) => look.icon)).size, looks.length, "icons");
};

describe("status looks", () => {
  it("[C094] eleven states of a call have eleven words and eleven icons, and only success is green", () => {
    assert.sameMembers(Object.keys(callStateLook), [...CallState.literals]);
    assert.strictEqual(CallState.literals.length, 11);
    distinct(Object.values(callStateLook));
    for (const [state, look] of Object.entries(callStateLook)) {
      assert.strictEqual(look.tone === "success", state === "succeeded", state);
    }
  });

  it("[C103] unknown is amber and hatched, never red or green", () => {
    for (const look of [callStateLook.unknown, runStateLook.unknown]) {
      assert.strictEqual(look.tone, "attention");
      assert.strictEqual(look.fill, "fill-hatch");
    }
  });

  it("the maps cover exactly the contract's states, each told apart without colour", () => {
    assert.sameMembers(Object.keys(runStateLook), [...RunState.literals]);
    assert.sameMembers(Object.keys(approvalStateLook), [...ApprovalState.literals]);
    assert.sameMembers(Object.keys(riskLook), [...Risk.literals]);
    distinct(Object.values(runStateLook));
    distinct(Object.values(approvalStateLook));
    distinct(Object.values(riskLook));
  });
});
