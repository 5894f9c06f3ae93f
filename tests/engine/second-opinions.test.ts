/** What a run makes of a denial that suggests, and of an approval by several people. */
import { assert, describe, it } from "@effect/vitest";
import { Effect, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import type { Actor, RecordOf } from "#lib/contract/records.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { approvalRule } from "#lib/tool-approval.ts";
import {
  attempt,
  decide,
  decider,
  kindOf,
  makeStore,
  openRequests,
  requester,
} from "#tests/engine/durable-harness.ts";

const Wire = approvalRule(
  Tool.make("wire_money", {
    parameters: Schema.Struct({ amount: Schema.Number }),
    success: Schema.String,
    needsApproval: true,
  }),
  { approversRequired: 2, selfApproval: false },
);
const toolkit = Toolkit.make(Wire);
const banker = Agent.make("banker", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Serve.",
  toolkit,
  policy: { repeatedFailureLimit: 0 },
});

const second: Actor = { kind: "operator", id: "op-3", name: "Efe" };

/** Asks, answers with what `change` makes of an approval, and lets the run go on. */
const answered = (change: (approved: RecordOf<"ApprovalDecided">) => RecordOf<"ApprovalDecided">) =>
  Effect.gen(function* () {
    const log: Array<number> = [];
    const layer = toolkit.toLayer({
      wire_money: ({ amount }) => Effect.sync(() => (log.push(amount), "sent")),
    });
    const store = makeStore();
    yield* attempt(store, banker, () => layer);
    store.undelivered.push(
      ...openRequests(store).map((request) => change(decide(request, "approved"))),
    );
    const end = yield* attempt(store, banker, () => layer);
    const requests = yield* Effect.flatMap(ScriptedModel, (model) => model.requests);
    return {
      log,
      store,
      requests,
      reason: end._tag === "settled" ? end.settled.finishReason : end._tag,
    };
  }).pipe(
    Effect.provide(
      ScriptedModel.layer([
        toolCalls([{ id: "a", name: "wire_money", params: { amount: 900 } }]),
        text("ok"),
      ]),
    ),
  );

describe("a denial that suggests other arguments", () => {
  it.effect(
    "[A-06][OP-05] the model is told of them with the reason, nothing runs with them or without",
    () =>
      Effect.gen(function* () {
        const { log, requests, store } = yield* answered((approved) => ({
          ...approved,
          decision: "denied",
          reason: "over the limit",
          suggestion: { amount: 90 },
        }));
        assert.deepStrictEqual(log, []);
        const [settled] = kindOf(store, "ToolCallSettled");
        assert.deepInclude(settled?.result, {
          _tag: "ToolApprovalDenied",
          reason: "over the limit",
          suggestedArguments: { amount: 90 },
        });
        assert.strictEqual(settled?.kind, "denied-by-person");
        assert.include(JSON.stringify(requests.at(-1)), "suggestedArguments");
      }),
  );
});

describe("an approval by several people", () => {
  it.effect("[A-02][C041] two different people: the call runs once", () =>
    Effect.gen(function* () {
      const { log } = yield* answered((one) => ({ ...one, approvers: [decider, second] }));
      assert.deepStrictEqual(log, [900]);
    }),
  );

  const tooFew: ReadonlyArray<readonly [string, ReadonlyArray<Actor> | undefined]> = [
    ["one person", undefined],
    ["the same person twice", [decider, decider]],
    ["the requester and one other", [requester, decider]],
  ];
  for (const [who, approvers] of tooFew) {
    it.effect(`[A-02][A-09][C041] ${who}: the record is not believed and nothing runs`, () =>
      Effect.gen(function* () {
        const { log, reason } = yield* answered((one) => ({
          ...one,
          ...(approvers === undefined ? {} : { approvers }),
        }));
        assert.strictEqual(reason, "corrupt-evidence");
        assert.deepStrictEqual(log, []);
      }),
    );
  }
});
