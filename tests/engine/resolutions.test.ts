import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import {
  abort,
  decide,
  kindOf,
  makeStore,
  openRequests,
  openUnknowns,
  resolve,
} from "#tests/engine/durable-harness.ts";
import { resultsIn } from "#tests/engine/run-agent.ts";
import {
  call,
  makeKeeper,
  next,
  withModel,
  requests,
  outcomeOf,
  idsOf,
} from "#tests/engine/keeper-tools.ts";

describe("resolutions (DU-07, DU-08)", () => {
  const lost = Effect.gen(function* () {
    const store = makeStore();
    const keeper = makeKeeper({ a: "wait", b: "lose" });
    yield* next(store, keeper);
    yield* next(store, keeper);
    const [a, b] = openUnknowns(store);
    assert.isDefined(a);
    assert.isDefined(b);
    return { store, keeper, a, b };
  });
  const twoSends = toolCalls([call("a", "send"), call("b", "send")]);

  it.effect(
    "[scenario 17][DU-08] completed-with-result becomes the result without running anything",
    () =>
      Effect.gen(function* () {
        const { a, b, keeper, store } = yield* lost;
        store.undelivered.push(
          resolve(a, "completed-with-result", { id: 1 }),
          resolve(b, "completed-with-result", { id: 2 }),
        );
        assert.strictEqual(outcomeOf(yield* next(store, keeper)), "completed");
        assert.deepStrictEqual(keeper.log, ["a", "b"]);
        assert.deepStrictEqual(
          resultsIn((yield* requests)[1]).map(([, result]) => result),
          [{ id: 1 }, { id: 2 }],
        );
      }).pipe(withModel(twoSends, text("ok"))),
  );

  for (const kind of ["never-happened", "safe-to-retry"] as const) {
    it.effect(`[scenario 17][DU-08] ${kind} runs that call once more and no other`, () =>
      Effect.gen(function* () {
        const { a, b, keeper, store } = yield* lost;
        store.undelivered.push(resolve(a, kind), resolve(b, "completed-with-result", "seen"));
        assert.strictEqual(outcomeOf(yield* next(store, keeper)), "completed");
        assert.deepStrictEqual(keeper.log, ["a", "b", "a"]);
      }).pipe(withModel(twoSends, text("ok"))),
    );
  }

  it.effect(
    "[scenario 17][DU-08][DU-12] abort-submission settles aborted and the doubt stays on record",
    () =>
      Effect.gen(function* () {
        const { a, keeper, store } = yield* lost;
        store.undelivered.push(resolve(a, "abort-submission"));
        assert.strictEqual(outcomeOf(yield* next(store, keeper)), "aborted");
        assert.deepStrictEqual(keeper.log, ["a", "b"]);
        assert.deepStrictEqual(idsOf(kindOf(store, "ToolCallUnknown")), ["a", "b"]);
      }).pipe(withModel(twoSends)),
  );

  it.effect("[DU-07] with one of two resolved nothing runs and the model is not asked", () =>
    Effect.gen(function* () {
      const { a, keeper, store } = yield* lost;
      store.undelivered.push(resolve(a, "safe-to-retry"));
      assert.deepStrictEqual(yield* next(store, keeper), {
        _tag: "suspended",
        waitingFor: "unknown",
      });
      assert.deepStrictEqual(keeper.log, ["a", "b"]);
      assert.strictEqual((yield* requests).length, 1);
    }).pipe(withModel(twoSends)),
  );

  it.effect("[scenario 17][DU-07] a second, different resolution changes nothing", () =>
    Effect.gen(function* () {
      const { a, b, keeper, store } = yield* lost;
      store.undelivered.push(
        resolve(a, "completed-with-result", "first"),
        resolve(a, "safe-to-retry"),
        resolve(b, "completed-with-result", "seen"),
      );
      assert.strictEqual(outcomeOf(yield* next(store, keeper)), "completed");
      assert.deepStrictEqual(keeper.log, ["a", "b"]);
      assert.strictEqual(resultsIn((yield* requests)[1])[0]?.[1], "first");
    }).pipe(withModel(twoSends, text("ok"))),
  );

  it.effect("[DU-08][Z-07] a call that may run again is authorized by today's policy first", () =>
    Effect.gen(function* () {
      const { a, b, keeper, store } = yield* lost;
      store.undelivered.push(
        resolve(a, "safe-to-retry"),
        resolve(b, "completed-with-result", "seen"),
      );
      const asked: Array<string> = [];
      const before = kindOf(store, "ToolCallPrepared").length;
      const end = yield* next(store, keeper, {
        context: {
          authorization: {
            authorize: ({ call: { toolCallId } }) =>
              Effect.as(
                Effect.sync(() => asked.push(toolCallId)),
                { _tag: "denied", reason: "not today" } as const,
              ),
          },
        },
      });
      assert.strictEqual(end._tag === "settled" ? end.settled.finishReason : end._tag, "denied");
      assert.deepStrictEqual(asked, ["a"]);
      assert.deepStrictEqual(keeper.log, ["a", "b"]);
      assert.strictEqual(kindOf(store, "ToolCallPrepared").length, before);
    }).pipe(withModel(twoSends)),
  );
});

describe("ends (DU-09, DU-10, DU-12, Z-05)", () => {
  it.effect(
    "[DU-09] a denial of a resumed batch records the idempotent call that had started",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const keeper = makeKeeper({ a: "lose" });
        yield* next(store, keeper);
        const end = yield* next(store, keeper, {
          context: {
            authorization: {
              authorize: () => Effect.succeed({ _tag: "denied", reason: "revoked" }),
            },
          },
        });
        assert.strictEqual(end._tag === "settled" ? end.settled.finishReason : end._tag, "denied");
        assert.deepStrictEqual(
          kindOf(store, "ToolCallUnknown").map(({ afterSettlement, callId }) => [
            callId as string,
            afterSettlement,
          ]),
          [["a", true]],
        );
      }).pipe(withModel(toolCalls([call("a", "put")]))),
  );

  it.effect(
    "[scenario 25][DU-12] work aborted while it is queued settles aborted and never runs",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const keeper = makeKeeper();
        store.undelivered.push(abort);
        assert.strictEqual(outcomeOf(yield* next(store, keeper)), "aborted");
        assert.deepStrictEqual(keeper.log, []);
        assert.strictEqual((yield* requests).length, 0);
      }).pipe(withModel()),
  );

  it.effect(
    "[scenario 25][DU-12] an abort while an approval waits settles aborted; a later approval runs nothing",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const keeper = makeKeeper();
        yield* next(store, keeper);
        const [request] = openRequests(store);
        assert.isDefined(request);
        store.undelivered.push(abort);
        assert.strictEqual(outcomeOf(yield* next(store, keeper)), "aborted");
        store.undelivered.push(decide(request, "approved"));
        assert.strictEqual(outcomeOf(yield* next(store, keeper)), "aborted");
        assert.deepStrictEqual(keeper.log, []);
        assert.strictEqual(kindOf(store, "RunSettled").length, 1);
      }).pipe(withModel(toolCalls([call("a", "ask")]))),
  );

  it.effect(
    "[scenario 25][Z-05][DU-12] an abort on record wins over a policy that would deny",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const keeper = makeKeeper();
        yield* next(store, keeper, { crash: { append: 2, landed: true } });
        store.undelivered.push(abort);
        const end = yield* next(store, keeper, {
          context: {
            authorization: { authorize: () => Effect.succeed({ _tag: "denied", reason: "no" }) },
          },
        });
        assert.strictEqual(outcomeOf(end), "aborted");
        assert.deepStrictEqual(kindOf(store, "AuthorizationDenied"), []);
      }).pipe(withModel(toolCalls([call("a", "send")]))),
  );

  it.effect(
    "[DU-12][DU-09] an abort records what had started as in doubt and claims no rollback",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const keeper = makeKeeper({ a: "lose" });
        yield* next(store, keeper);
        store.undelivered.push(abort);
        assert.strictEqual(outcomeOf(yield* next(store, keeper)), "aborted");
        assert.deepStrictEqual(idsOf(kindOf(store, "ToolCallUnknown")), ["a"]);
        assert.deepStrictEqual(keeper.log, ["a"]);
      }).pipe(withModel(toolCalls([call("a", "send")]))),
  );

  it.effect("[scenario 25][DU-12] an abort after completion changes nothing", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper();
      assert.strictEqual(outcomeOf(yield* next(store, keeper)), "completed");
      store.undelivered.push(abort);
      assert.strictEqual(outcomeOf(yield* next(store, keeper)), "completed");
      assert.strictEqual(kindOf(store, "RunSettled").length, 1);
    }).pipe(withModel(text("done"))),
  );
});
