/** The rows of the crash table about calls inside a call: what is next is asked of every prefix of one real run. */
import { assert, describe, it } from "@effect/vitest";
import { Effect, Schema } from "effect";
import type { RunRecord } from "#lib/contract/records.ts";
import { decideNext, explainRecovery } from "#lib/durable/decide-next.ts";
import { foldRecords } from "#lib/durable/run-state.ts";
import { durableStep, type ExecutionClass } from "#lib/durable-step.ts";
import { ScriptedModel } from "#lib/testing/ScriptedModel.ts";
import { call, makeDesk, makeHandlers, outerOnce } from "#tests/broker/desk.ts";
import { attempt, makeStore } from "#tests/engine/durable-harness.ts";

/** A run whose program looks, takes a step, puts and sends, to its end; every prefix that ends with an append. */
const prefixesOf = (outerClass: ExecutionClass) =>
  Effect.gen(function* () {
    const desk = makeDesk({ outerClass });
    const { layer } = makeHandlers(desk, (broker) =>
      Effect.gen(function* () {
        yield* broker.invoke(call("look", "a"));
        yield* durableStep("note", Schema.String, Effect.succeed("noted"));
        yield* broker.invoke(call("put", "b"));
        yield* broker.invoke(call("send", "c"));
        return "done";
      }),
    );
    const store = makeStore();
    yield* attempt(store, desk.agent, layer);
    return store.appends.map((_, index) => store.appends.slice(0, index + 1).flat());
  }).pipe(Effect.provide(ScriptedModel.layer(outerOnce)));

const afterCrash = (records: ReadonlyArray<RunRecord>) => {
  const evidence = foldRecords(records);
  const next = decideNext(evidence, evidence.attempts + 1);
  const { decision } = explainRecovery(evidence, evidence.attempts + 1);
  const last = records.at(-1);
  return [
    `${last?._tag} ${last !== undefined && "toolName" in last ? last.toolName : ""}`.trim(),
    decision,
    next._tag === "ClassifyLost" ? next.calls.map(({ declared }) => declared.toolName).join() : "",
  ];
};

describe("the crash table inside a call", () => {
  it.effect(
    "[DU-14][CM-01] an idempotent outer call runs again from every place but one: an uncertain call inside it that had started",
    () =>
      Effect.gen(function* () {
        const prefixes = yield* prefixesOf("idempotent");
        assert.deepStrictEqual(prefixes.slice(2).map(afterCrash), [
          ["ToolCallPrepared outer", "rerun-idempotent", ""],
          ["InnerCallDeclared", "rerun-idempotent", ""],
          ["ToolCallSettled look", "rerun-idempotent", ""],
          ["StepRecorded outer", "rerun-idempotent", ""],
          ["ToolCallPrepared put", "rerun-idempotent", ""],
          ["ToolCallSettled put", "rerun-idempotent", ""],
          ["ToolCallPrepared send", "record-unknown", "send"],
          ["ToolCallSettled send", "rerun-idempotent", ""],
          ["ToolCallSettled outer", "next-turn", ""],
          ["TurnRecorded", "settle-recorded-outcome", ""],
          ["RunSettled", "settle-recorded-outcome", ""],
        ]);
      }),
  );

  it.effect(
    "[DU-04][CM-01] an uncertain outer call is in doubt from every place, with whatever had started inside it",
    () =>
      Effect.gen(function* () {
        const prefixes = yield* prefixesOf("uncertain");
        assert.deepStrictEqual(
          prefixes.slice(2, 10).map((records) => afterCrash(records)[2]),
          ["outer", "outer", "outer", "outer", "outer,put", "outer", "outer,send", "outer"],
        );
      }),
  );
});
