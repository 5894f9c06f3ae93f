import { assert, describe, it } from "@effect/vitest";
import { Deferred, Effect, Fiber, Schema } from "effect";
import { TestClock } from "effect/testing";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import type { RunContext } from "#lib/engine/RunContext.ts";
import { text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import type { LostCall, ProbeAnswer, ProbeRule, ToolProbe } from "#lib/tool-probe.ts";
import {
  attempt,
  kindOf,
  makeStore,
  openUnknowns,
  resolve,
} from "#tests/engine/durable-harness.ts";
import {
  Ask,
  Break,
  call,
  Look,
  makeKeeper,
  next,
  outcomeOf,
  Put,
  withModel,
} from "#tests/engine/keeper-tools.ts";

/** A probe of `send` that notes the keys it was asked for. */
const probeOf = (answer: Effect.Effect<ProbeAnswer, unknown>, settles?: ProbeRule) => {
  const asked: Array<string> = [];
  const send: ToolProbe = {
    ask: ({ idempotencyKey }) =>
      Effect.andThen(
        Effect.sync(() => asked.push(idempotencyKey)),
        answer,
      ),
    ...(settles === undefined ? {} : { settles }),
  };
  return { asked, context: { probes: { send } } satisfies Partial<RunContext> };
};

const found = (result?: string): Effect.Effect<ProbeAnswer> =>
  Effect.succeed({
    _tag: "found",
    detail: "Entry 7 of today.",
    ...(result === undefined ? {} : { result }),
  });
const notFound: Effect.Effect<ProbeAnswer> = Effect.succeed({
  _tag: "not-found",
  detail: "No entry under this key.",
});

const waits = { _tag: "suspended", waitingFor: "unknown" } as const;
const oneSend = toolCalls([call("a", "send")]);

/** The process was lost inside `send`; the next attempt asks the probe. */
const recovered = Effect.fnUntraced(function* (context: Partial<RunContext>) {
  const store = makeStore();
  const keeper = makeKeeper({ a: "lose" });
  yield* next(store, keeper);
  const end = yield* next(store, keeper, { context });
  return { store, keeper, end };
});

describe("probes (DU-04, DU-06)", () => {
  it.effect(
    "[DU-06][R04] a probe or reconciler that changes the parameters it was given changes no record",
    () =>
      Effect.gen(function* () {
        const meddle = ({ parameters }: LostCall) =>
          Effect.sync(() => void Object.assign(Object(parameters), { amount: 999_999 }));
        const { store } = yield* recovered({
          probes: { send: { ask: (lost) => Effect.andThen(meddle(lost), notFound) } },
          reconcile: (lost) => Effect.as(meddle(lost), { _tag: "uncertain" }),
        });
        assert.strictEqual(kindOf(store, "UnknownProbed").length, 1);
        assert.notInclude(JSON.stringify(store.appends), "999999");
      }).pipe(withModel(oneSend)),
  );

  it.effect(
    "[DU-06] without a rule an answer is evidence: recorded once, with its time, and it settles nothing",
    () =>
      Effect.gen(function* () {
        const probe = probeOf(found("did a"));
        const { store, keeper, end } = yield* recovered(probe.context);
        assert.deepStrictEqual(end, waits);
        assert.deepStrictEqual(yield* next(store, keeper, { context: probe.context }), waits);
        assert.deepStrictEqual(probe.asked, [kindOf(store, "ToolCallPrepared")[0]?.idempotencyKey]);
        const [probed, ...others] = kindOf(store, "UnknownProbed");
        assert.deepStrictEqual(others, []);
        const evidence: Record<string, unknown> = { ...probed };
        assert.deepInclude(evidence, {
          finding: "found",
          detail: "Entry 7 of today.",
          result: "did a",
          settles: false,
          unknownId: openUnknowns(store)[0]?.unknownId,
          askedAt: 0,
          answeredAt: 0,
        });
        assert.deepStrictEqual(kindOf(store, "UnknownResolved"), []);
        assert.deepStrictEqual(keeper.log, ["a"]);
      }).pipe(withModel(oneSend)),
  );

  it.effect(
    "[DU-06] with a rule a found result becomes the call's result, and no handler runs",
    () =>
      Effect.gen(function* () {
        const { store, keeper, end } = yield* recovered(
          probeOf(found("did a"), { found: "completed-with-result" }).context,
        );
        assert.strictEqual(outcomeOf(end), "completed");
        assert.deepStrictEqual(keeper.log, ["a"]);
        assert.deepInclude(kindOf(store, "ToolCallSettled")[0], {
          source: "probe",
          result: "did a",
        });
        assert.deepInclude(kindOf(store, "UnknownResolved")[0], {
          resolution: "completed-with-result",
          evidence: "Entry 7 of today.",
          actor: { kind: "policy", id: "probe", name: "Probe" },
        });
      }).pipe(withModel(oneSend, text("ok"))),
  );

  for (const rule of ["never-happened", "safe-to-retry"] as const) {
    it.effect(
      `[DU-06][DU-08] a rule that takes not-found as ${rule} runs that call once more, with the same key`,
      () =>
        Effect.gen(function* () {
          const { keeper, end } = yield* recovered(probeOf(notFound, { notFound: rule }).context);
          assert.strictEqual(outcomeOf(end), "completed");
          assert.deepStrictEqual(keeper.log, ["a", "a"]);
          assert.strictEqual(keeper.keys[0], keeper.keys[1]);
        }).pipe(withModel(oneSend, text("ok"))),
    );
  }

  it.effect("[DU-07] a result that the tool's schema refuses settles nothing and says why", () =>
    Effect.gen(function* () {
      const answer = Effect.succeed<ProbeAnswer>({
        _tag: "found",
        detail: "Entry 7.",
        result: { id: 7 },
      });
      const { store, end } = yield* recovered(
        probeOf(answer, { found: "completed-with-result" }).context,
      );
      assert.deepStrictEqual(end, waits);
      const [probed] = kindOf(store, "UnknownProbed");
      assert.include(
        probed?.detail,
        "Nothing was settled: The result does not fit the success schema of send",
      );
      assert.isFalse(probed?.settles);
    }).pipe(withModel(oneSend)),
  );

  const rules: ProbeRule = { found: "completed-with-result", notFound: "safe-to-retry" };
  for (const [name, answer] of [
    ["fails", Effect.fail(new Error("refused"))],
    ["breaks", Effect.die(new Error("down"))],
    ["interrupts itself", Effect.interrupt],
  ] as const) {
    it.effect(`[DU-04] a probe that ${name} settles nothing`, () =>
      Effect.gen(function* () {
        const { store, keeper, end } = yield* recovered(probeOf(answer, rules).context);
        assert.deepStrictEqual(end, waits);
        assert.deepStrictEqual(
          kindOf(store, "UnknownProbed").map(({ finding }) => finding),
          ["failed"],
        );
        assert.deepStrictEqual(keeper.log, ["a"]);
      }).pipe(withModel(oneSend)),
    );
  }

  it.effect("[DU-04] a probe that does not answer is given up and settles nothing", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>();
      const silent = Effect.andThen(Deferred.succeed(asked, undefined), Effect.never);
      const running = yield* Effect.forkChild(recovered(probeOf(silent, rules).context));
      yield* Deferred.await(asked);
      yield* TestClock.adjust("11 seconds");
      const { store, end } = yield* Fiber.join(running);
      assert.deepStrictEqual(end, waits);
      assert.deepInclude(kindOf(store, "UnknownProbed")[0], {
        finding: "timed-out",
        answeredAt: 10_000,
      });
    }).pipe(withModel(oneSend)),
  );

  it.effect("[DU-04] the host's interruption ends a probe and records nothing of it", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper({ a: "lose" });
      yield* next(store, keeper);
      const asked = yield* Deferred.make<void>();
      const probe = probeOf(Effect.andThen(Deferred.succeed(asked, undefined), Effect.never));
      const running = yield* Effect.forkChild(next(store, keeper, { context: probe.context }));
      yield* Deferred.await(asked);
      yield* Fiber.interrupt(running);
      assert.deepStrictEqual(kindOf(store, "UnknownProbed"), []);
      assert.deepStrictEqual(kindOf(store, "RunSuspended"), []);
    }).pipe(withModel(oneSend)),
  );

  it.effect("[DU-04] what a handler says it does not know is asked about in the same attempt", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper({ a: "unsure" });
      const { context } = probeOf(found("did a"), { found: "completed-with-result" });
      assert.strictEqual(outcomeOf(yield* next(store, keeper, { context })), "completed");
      assert.deepStrictEqual(keeper.log, ["a"]);
    }).pipe(withModel(oneSend, text("ok"))),
  );

  it.effect(
    "[DU-08] a rule lets a call that always ends in doubt start three times, and then a person looks",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const keeper = makeKeeper({ a: "never-sure" });
        // A probe that breaks in the end, so that the test ends where the bound is missing.
        const answer = Effect.suspend(() =>
          keeper.log.length > 9 ? Effect.die(new Error("too often")) : notFound,
        );
        const probe = probeOf(answer, { notFound: "safe-to-retry" });
        assert.deepStrictEqual(yield* next(store, keeper, { context: probe.context }), waits);
        assert.deepStrictEqual(keeper.log, ["a", "a", "a"]);
        assert.include(
          kindOf(store, "UnknownProbed").at(-1)?.detail,
          "the call has started 3 times, and a rule lets it start at most 3 times",
        );
        assert.strictEqual(openUnknowns(store).length, 1);
      }).pipe(withModel(oneSend)),
  );

  it.effect("[DU-08] a call that ends in doubt again is asked about again", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper({ a: "lose" });
      yield* next(store, keeper);
      const probe = probeOf(notFound);
      assert.deepStrictEqual(yield* next(store, keeper, { context: probe.context }), waits);
      store.undelivered.push(...openUnknowns(store).map((one) => resolve(one, "safe-to-retry")));
      yield* next(store, keeper, { context: probe.context, crash: { append: 3, landed: false } });
      assert.deepStrictEqual(yield* next(store, keeper, { context: probe.context }), waits);
      assert.strictEqual(kindOf(store, "UnknownProbed").length, 2);
      assert.strictEqual(
        new Set(kindOf(store, "UnknownProbed").map(({ probeId }) => probeId)).size,
        2,
      );
    }).pipe(withModel(oneSend)),
  );
});

describe("what speaks for a lost call (DU-06, DU-19)", () => {
  it.effect(
    "[DU-06] a reconciler's result that the tool's schema refuses leaves the call open and says why",
    () =>
      Effect.gen(function* () {
        const { store, end } = yield* recovered({
          reconcile: () =>
            Effect.succeed({ _tag: "completed", result: { id: 7 }, isFailure: false }),
        });
        assert.deepStrictEqual(end, waits);
        assert.include(
          openUnknowns(store)[0]?.detail,
          "was not taken: The result does not fit the success schema of send",
        );
        assert.deepStrictEqual(kindOf(store, "UnknownResolved"), []);
      }).pipe(withModel(oneSend)),
  );

  it.effect(
    "[DU-19] neither reconciler nor probe of a changed tool speaks for a call of the old one",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        yield* next(store, makeKeeper({ a: "lose" }));
        const Changed = Tool.make("send", { success: Schema.Struct({ id: Schema.String }) });
        const changed = Toolkit.make(Look, Put, Changed, Ask, Break);
        const agent = Agent.make("keeper", {
          input: Schema.String,
          output: Schema.String,
          instructions: "Go.",
          toolkit: changed,
        });
        const none = () => Effect.succeed("");
        const handlers = () =>
          changed.toLayer({
            look: none,
            put: none,
            send: () => Effect.succeed({ id: "new" }),
            ask: none,
            break: () => Effect.fail("broken"),
          });
        const probe = probeOf(notFound, { notFound: "safe-to-retry" });
        let reconciled = 0;
        const end = yield* attempt(store, agent, handlers, {
          context: {
            ...probe.context,
            reconcile: () =>
              Effect.sync(() => ((reconciled += 1), { _tag: "safe-to-retry" as const })),
          },
        });
        assert.deepStrictEqual(end, waits);
        assert.deepStrictEqual([reconciled, probe.asked], [0, []]);
        assert.include(openUnknowns(store)[0]?.detail, "has changed since this call was declared");
      }).pipe(withModel(oneSend)),
  );
});
