import { assert, describe, it } from "@effect/vitest";
import { Effect, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { Digest } from "#lib/contract/ids.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import type { DeclaredCall, RunRecord } from "#lib/contract/records.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import {
  attempt,
  decide,
  kindOf,
  makeStore,
  openRequests,
  recordsOf,
  type Store,
} from "#tests/engine/durable-harness.ts";
import { resultsIn } from "#tests/engine/run-agent.ts";

const Search = Tool.make("search", {
  parameters: Schema.Struct({ query: Schema.NonEmptyString }),
  success: Schema.String,
  failureMode: "return",
});
const Pay = Tool.make("pay", {
  parameters: Schema.Struct({ amount: Schema.Number }),
  success: Schema.String,
});
const Refund = Tool.make("refund", {
  parameters: Schema.Struct({ amount: Schema.Number }),
  success: Schema.String,
  needsApproval: true,
});
const toolkit = Toolkit.make(Search, Pay, Refund);
const agent = Agent.make("payer", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Pay.",
  toolkit,
});

const makePayer = () => {
  const log: Array<string> = [];
  const note = (entry: string) => Effect.sync(() => (log.push(entry), entry));
  const layer = toolkit.toLayer({
    search: ({ query }) => note(`search ${query}`),
    pay: ({ amount }) => note(`pay ${amount}`),
    refund: ({ amount }) => note(`refund ${amount}`),
  });
  return { log, layer };
};

const rejectedAndPay = toolCalls([
  { id: "bad", name: "search", params: { query: "" } },
  { id: "ok", name: "pay", params: { amount: 5 } },
]);

/** The store as somebody with access to it might leave it. */
const tamper = (store: Store, change: (record: RunRecord) => ReadonlyArray<RunRecord>): void => {
  const edited = store.appends.map((append) => append.flatMap(change));
  store.appends.splice(0, store.appends.length, ...edited);
};

const changeCall =
  (callId: string, change: (call: DeclaredCall) => DeclaredCall) =>
  (record: RunRecord): ReadonlyArray<RunRecord> =>
    record._tag === "TurnRecorded"
      ? [
          {
            ...record,
            calls: record.calls.map((call) => (call.callId === callId ? change(call) : call)),
          },
        ]
      : [record];

/** Records up to the stored response, lost before anything of the batch started. */
const stopAfterResponse = Effect.gen(function* () {
  const store = makeStore();
  const payer = makePayer();
  const end = yield* attempt(store, agent, () => payer.layer, {
    crash: { append: 2, landed: true },
  });
  assert.strictEqual(end._tag, "lost");
  assert.deepStrictEqual(payer.log, []);
  return { store, payer };
});

describe("stored rejections (F-08, F-09)", () => {
  it.effect(
    "[scenario 3][F-08][F-09][DU-14] lost after the response: the same failure, no second request, the other call runs once",
    () =>
      Effect.gen(function* () {
        const { payer, store } = yield* stopAfterResponse;
        const end = yield* attempt(store, agent, () => payer.layer);
        assert.strictEqual(end._tag === "settled" ? end.settled.outcome : end._tag, "completed");
        assert.deepStrictEqual(payer.log, ["pay 5"]);
        const requests = yield* Effect.flatMap(ScriptedModel, (model) => model.requests);
        assert.strictEqual(requests.length, 2);
        const failed = resultsIn(requests[1]).filter(([, , isFailure]) => isFailure);
        assert.strictEqual(failed.length, 1);
        assert.include(JSON.stringify(failed[0]), "ToolParameterValidationError");
        assert.deepStrictEqual(
          kindOf(store, "TurnRecorded")[0]?.rejections.map(({ callId, parameters }) => [
            callId as string,
            parameters,
          ]),
          [["bad", { query: "" }]],
        );
      }).pipe(Effect.provide(ScriptedModel.layer([rejectedAndPay, text("paid")]))),
  );

  it.effect("[F-09] a store that kept only the rejection gives the same failed result again", () =>
    Effect.gen(function* () {
      const { payer, store } = yield* stopAfterResponse;
      tamper(store, (record) => (record._tag === "ToolCallSettled" ? [] : [record]));
      const end = yield* attempt(store, agent, () => payer.layer);
      assert.strictEqual(end._tag === "settled" ? end.settled.outcome : end._tag, "completed");
      assert.deepStrictEqual(payer.log, ["pay 5"]);
    }).pipe(Effect.provide(ScriptedModel.layer([rejectedAndPay, text("paid")]))),
  );

  const tamperings: ReadonlyArray<
    readonly [string, (record: RunRecord) => ReadonlyArray<RunRecord>]
  > = [
    [
      "the arguments of a call that passed validation are changed",
      changeCall("ok", (call) => ({
        ...call,
        parameters: { amount: 999_999 },
        effectiveParameters: { amount: 999_999 },
      })),
    ],
    [
      "arguments and their digest are changed together, but not the stored response",
      changeCall("ok", (call) => ({
        ...call,
        parameters: { amount: 999_999 },
        effectiveParameters: { amount: 999_999 },
        parametersDigest: Digest.make(digestOf({ amount: 999_999 })),
      })),
    ],
    [
      "the rejection is deleted and only its failed result is left",
      (record) => (record._tag === "TurnRecorded" ? [{ ...record, rejections: [] }] : [record]),
    ],
    [
      "the rejected call's arguments are changed",
      changeCall("bad", (call) => ({ ...call, parameters: { query: "shoes" } })),
    ],
    [
      "a rejection is added to a call that was valid",
      (record) =>
        record._tag === "TurnRecorded"
          ? [
              {
                ...record,
                rejections: record.calls.map(({ callId, parameters }) => ({
                  callId,
                  parameters,
                  encodedError: "no",
                })),
              },
            ]
          : [record],
    ],
    [
      "the validated arguments of a call are taken away",
      changeCall("ok", ({ effectiveParameters: _, ...call }) => call),
    ],
  ];
  for (const [name, change] of tamperings) {
    it.effect(`[scenario 4][F-08] ${name}: a typed failure, no handler, no request`, () =>
      Effect.gen(function* () {
        const { payer, store } = yield* stopAfterResponse;
        tamper(store, change);
        const end = yield* attempt(store, agent, () => payer.layer);
        assert.strictEqual(
          end._tag === "settled" ? end.settled.finishReason : end._tag,
          "corrupt-evidence",
        );
        assert.deepStrictEqual(payer.log, []);
        const requests = yield* Effect.flatMap(ScriptedModel, (model) => model.requests);
        assert.strictEqual(requests.length, 1);
      }).pipe(Effect.provide(ScriptedModel.layer([rejectedAndPay, text("never")]))),
    );
  }

  it.effect("[F-08] a complete turn is checked too before the model is asked again", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const payer = makePayer();
      yield* attempt(store, agent, () => payer.layer, { crash: { append: 2, landed: true } });
      tamper(store, (record) =>
        record._tag === "TurnRecorded" ? [{ ...record, rejections: [] }] : [record],
      );
      const end = yield* attempt(store, agent, () => payer.layer);
      assert.strictEqual(
        end._tag === "settled" ? end.settled.finishReason : end._tag,
        "corrupt-evidence",
      );
    }).pipe(
      Effect.provide(
        ScriptedModel.layer([
          toolCalls([{ id: "bad", name: "search", params: { query: "" } }]),
          text("never"),
        ]),
      ),
    ),
  );
});

describe("stored approvals (A-09, A-12)", () => {
  const suspended = Effect.gen(function* () {
    const store = makeStore();
    const payer = makePayer();
    const end = yield* attempt(store, agent, () => payer.layer);
    assert.deepStrictEqual(end, { _tag: "suspended", waitingFor: "approval" });
    return { store, payer };
  });
  const refundTurn = toolCalls([{ id: "r", name: "refund", params: { amount: 5 } }]);

  it.effect("[R04][A-09] arguments changed after people saw them never run, approved or not", () =>
    Effect.gen(function* () {
      const { payer, store } = yield* suspended;
      const [request] = openRequests(store);
      assert.isDefined(request);
      store.undelivered.push(decide(request, "approved"));
      const amount = { amount: 999_999 };
      tamper(store, (record) =>
        changeCall("r", (call) => ({
          ...call,
          parameters: amount,
          effectiveParameters: amount,
          parametersDigest: Digest.make(digestOf(amount)),
        }))(record).map((changed) =>
          changed._tag === "TurnRecorded"
            ? {
                ...changed,
                response: changed.response.map((part) => ({ ...Object(part), params: amount })),
              }
            : changed,
        ),
      );
      const end = yield* attempt(store, agent, () => payer.layer);
      assert.strictEqual(
        end._tag === "settled" ? end.settled.finishReason : end._tag,
        "corrupt-evidence",
      );
      assert.deepStrictEqual(payer.log, []);
    }).pipe(Effect.provide(ScriptedModel.layer([refundTurn]))),
  );

  it.effect("[R04] a decision made for other arguments is refused", () =>
    Effect.gen(function* () {
      const { payer, store } = yield* suspended;
      const [request] = openRequests(store);
      assert.isDefined(request);
      store.undelivered.push({
        ...decide(request, "approved"),
        parametersDigest: Digest.make("a".repeat(64)),
      });
      const end = yield* attempt(store, agent, () => payer.layer);
      assert.strictEqual(
        end._tag === "settled" ? end.settled.finishReason : end._tag,
        "corrupt-evidence",
      );
      assert.deepStrictEqual(payer.log, []);
    }).pipe(Effect.provide(ScriptedModel.layer([refundTurn]))),
  );

  it.effect("[R05] a request taken out of the store does not set the call free", () =>
    Effect.gen(function* () {
      const { payer, store } = yield* suspended;
      tamper(store, (record) => (record._tag === "ApprovalRequested" ? [] : [record]));
      const end = yield* attempt(store, agent, () => payer.layer);
      assert.strictEqual(
        end._tag === "settled" ? end.settled.finishReason : end._tag,
        "corrupt-evidence",
      );
      assert.deepStrictEqual(payer.log, []);
    }).pipe(Effect.provide(ScriptedModel.layer([refundTurn]))),
  );

  it.effect("[R05] a decision about a call that the model never made changes nothing", () =>
    Effect.gen(function* () {
      const { payer, store } = yield* suspended;
      const [request] = openRequests(store);
      assert.isDefined(request);
      store.undelivered.push({
        ...decide(request, "approved"),
        callId: "forged" as typeof request.callId,
      });
      const end = yield* attempt(store, agent, () => payer.layer);
      assert.deepStrictEqual(end, { _tag: "suspended", waitingFor: "approval" });
      assert.deepStrictEqual(payer.log, []);
    }).pipe(Effect.provide(ScriptedModel.layer([refundTurn]))),
  );

  it.effect("[R01][A-09] a second decision never replaces the first", () =>
    Effect.gen(function* () {
      const { payer, store } = yield* suspended;
      const [request] = openRequests(store);
      assert.isDefined(request);
      store.undelivered.push(decide(request, "denied", "too much"), decide(request, "approved"));
      const end = yield* attempt(store, agent, () => payer.layer);
      assert.strictEqual(end._tag === "settled" ? end.settled.outcome : end._tag, "completed");
      assert.deepStrictEqual(payer.log, []);
      assert.strictEqual(kindOf(store, "ToolCallSettled")[0]?.kind, "denied-by-person");
    }).pipe(Effect.provide(ScriptedModel.layer([refundTurn, text("understood")]))),
  );

  it.effect("[DU-14] a second result for one call never replaces the first", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const payer = makePayer();
      yield* attempt(store, agent, () => payer.layer, { crash: { append: 4, landed: true } });
      const [settled] = kindOf(store, "ToolCallSettled");
      assert.isDefined(settled);
      store.appends.push([{ ...settled, result: "forged" }]);
      yield* attempt(store, agent, () => payer.layer);
      const requests = yield* Effect.flatMap(ScriptedModel, (model) => model.requests);
      assert.deepStrictEqual(resultsIn(requests[1]), [["p", "pay 1", false]]);
      assert.isDefined(recordsOf(store));
    }).pipe(
      Effect.provide(
        ScriptedModel.layer([
          toolCalls([{ id: "p", name: "pay", params: { amount: 1 } }]),
          text("ok"),
        ]),
      ),
    ),
  );
});
