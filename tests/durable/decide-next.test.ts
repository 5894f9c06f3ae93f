/**
 * The crash table of docs/architecture.md over real records: a run is played to its
 * end once, and the question "what is next" is put to every prefix of what it stored.
 */
import { assert, describe, it } from "@effect/vitest";
import { Effect, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import type { RunRecord } from "#lib/contract/records.ts";
import { decideNext, explainRecovery } from "#lib/durable/decide-next.ts";
import { foldRecords } from "#lib/durable/run-state.ts";
import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ScriptedModel, text, toolCalls, type TurnScript } from "#lib/testing/ScriptedModel.ts";
import { unknownOutcome } from "#lib/unknown-outcome.ts";
import {
  abort,
  attempt,
  decide,
  kindOf,
  makeStore,
  openRequests,
  openUnknowns,
  recordsOf,
  resolve,
  type Store,
} from "#tests/engine/durable-harness.ts";

const Send = Tool.make("send", { success: Schema.String });
const Put = Tool.make("put", { success: Schema.String }).annotate(ToolExecutionClass, "idempotent");
const Look = Tool.make("look", { success: Schema.String }).annotate(ToolExecutionClass, "readonly");
const Ask = Tool.make("ask", { success: Schema.String, needsApproval: true });
const Doubt = Tool.make("doubt", { success: Schema.String });
const toolkit = Toolkit.make(Send, Put, Look, Ask, Doubt);
const agent = Agent.make("table", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Go.",
  toolkit,
  policy: { toolConcurrency: 1 },
});
const done = () => Effect.succeed("done");
const layer = toolkit.toLayer({
  send: done,
  put: done,
  look: done,
  ask: done,
  doubt: () => unknownOutcome("sent, no answer"),
});

/** Plays a run to its end; people approve and resolve. */
const play = Effect.fnUntraced(function* (script: ReadonlyArray<TurnScript>) {
  const store = makeStore();
  yield* Effect.gen(function* () {
    for (let turn = 0; turn < 5 && kindOf(store, "RunSettled").length === 0; turn++) {
      yield* attempt(store, agent, () => layer);
      store.undelivered.push(
        ...openRequests(store).map((request) => decide(request, "approved")),
        ...openUnknowns(store).map((unknown) => resolve(unknown, "completed-with-result", "seen")),
      );
    }
  }).pipe(Effect.provide(ScriptedModel.layer(script)));
  return store;
});

/** What the attempt after a crash finds: the last kind of record stored, what is next and how it is named. */
const afterCrash = (records: ReadonlyArray<RunRecord>) => {
  const evidence = foldRecords(records);
  const attemptNumber = evidence.attempts + 1;
  return [
    records.at(-1)?._tag,
    decideNext(evidence, attemptNumber)._tag,
    explainRecovery(evidence, attemptNumber).decision,
  ];
};

/** Every prefix that ends with an append: nothing else can be found after a crash. */
const prefixes = (store: Store): ReadonlyArray<ReadonlyArray<RunRecord>> =>
  store.appends.map((_, index) => store.appends.slice(0, index + 1).flat());

const one = (name: string) => [toolCalls([{ id: "a", name }]), text("ok")];

describe("the crash table", () => {
  it.effect(
    "[DU-14][DU-04] a run with an uncertain call: asked, declared, prepared, settled, answered, settled",
    () =>
      Effect.gen(function* () {
        const store = yield* play(one("send"));
        assert.deepStrictEqual(prefixes(store).map(afterCrash), [
          ["AttemptStarted", "AskModel", "ask-model-again"],
          ["TurnRecorded", "Execute", "continue-declared-batch"],
          ["ToolCallPrepared", "ClassifyLost", "record-unknown"],
          ["ToolCallSettled", "AskModel", "next-turn"],
          ["TurnRecorded", "Answer", "settle-recorded-outcome"],
          ["RunSettled", "Done", "settle-recorded-outcome"],
        ]);
      }),
  );

  it.effect(
    "[DU-05] prepared and lost: an idempotent call runs again, a readonly one was never prepared",
    () =>
      Effect.gen(function* () {
        const put = yield* play(one("put"));
        assert.deepStrictEqual(afterCrash(prefixes(put)[2] ?? []), [
          "ToolCallPrepared",
          "Execute",
          "rerun-idempotent",
        ]);
        const look = yield* play(one("look"));
        assert.deepStrictEqual(kindOf(look, "ToolCallPrepared"), []);
        assert.deepStrictEqual(afterCrash(prefixes(look)[1] ?? []), [
          "TurnRecorded",
          "Execute",
          "continue-declared-batch",
        ]);
      }),
  );

  it.effect("[A-08] an approval: requested, let go, decided, run", () =>
    Effect.gen(function* () {
      const store = yield* play(one("ask"));
      assert.deepStrictEqual(prefixes(store).slice(1, 4).map(afterCrash), [
        ["ApprovalRequested", "Suspend", "restore-approval-wait"],
        ["RunSuspended", "Suspend", "restore-approval-wait"],
        ["AttemptStarted", "Execute", "apply-decisions"],
      ]);
      // What the attempt wrote down about itself is the same judgement.
      assert.deepStrictEqual(
        kindOf(store, "AttemptStarted").map(({ decision }) => decision),
        ["first-attempt", "apply-decisions"],
      );
    }),
  );

  it.effect("[DU-07] an effect in doubt: recorded, waited for, resolved, applied", () =>
    Effect.gen(function* () {
      const store = yield* play(one("doubt"));
      assert.deepStrictEqual(prefixes(store).slice(3, 6).map(afterCrash), [
        ["ToolCallUnknown", "Suspend", "restore-unknown-wait"],
        ["RunSuspended", "Suspend", "restore-unknown-wait"],
        ["AttemptStarted", "SettleAnswered", "apply-resolutions"],
      ]);
    }),
  );

  it.effect("[DU-12][Z-05] an abort wins at every point but after the settlement", () =>
    Effect.gen(function* () {
      for (const script of [one("send"), one("ask"), one("doubt")]) {
        const store = yield* play(script);
        for (const records of prefixes(store)) {
          const evidence = foldRecords([...records, abort]);
          const next = decideNext(evidence, evidence.attempts + 1);
          if (records.at(-1)?._tag === "RunSettled") assert.strictEqual(next._tag, "Done");
          else
            assert.strictEqual(
              next._tag === "Settle" ? next.settlement.outcome : next._tag,
              "aborted",
            );
        }
      }
    }),
  );

  it.effect(
    "[DU-14] the same records give the same state wherever they are folded, in one piece or in two",
    () =>
      Effect.gen(function* () {
        const store = yield* play([
          toolCalls([
            { id: "a", name: "send" },
            { id: "b", name: "ask" },
          ]),
          text("ok"),
        ]);
        const records = recordsOf(store);
        const whole = foldRecords(records);
        for (let at = 0; at <= records.length; at++) {
          assert.deepStrictEqual(
            foldRecords(records.slice(at), foldRecords(records.slice(0, at))),
            whole,
          );
        }
      }),
  );
});
