import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import type { RunContext } from "#lib/engine/RunContext.ts";
import { call, caught, makeDesk, makeHandlers, Refused } from "#tests/broker/desk.ts";
import {
  durableRun,
  losesOnce,
  sendTwice,
  told,
  unknownTools,
  withModel,
} from "#tests/broker/durable-run.ts";
import {
  attempt,
  kindOf,
  makeStore,
  openUnknowns,
  resolve,
  type Store,
} from "#tests/engine/durable-harness.ts";

const openUnknownsIn = (store: Store) => {
  const [first, second, ...more] = openUnknowns(store);
  assert.isDefined(first);
  assert.isDefined(second);
  assert.deepStrictEqual(more, []);
  return [first, second] as const;
};

describe("a process that is lost inside a call with calls inside", () => {
  it.effect(
    "[CM-01][DU-14][Z-07] an idempotent outer call that runs again meets recorded inner results: nothing is made or authorized twice",
    () =>
      withModel(
        Effect.gen(function* () {
          const asked: Array<string> = [];
          const context: Partial<RunContext> = {
            authorization: {
              authorize: ({ call: { toolName }, programmatic }) =>
                Effect.sync(() => {
                  asked.push(`${toolName} ${programmatic?.sequenceIndex ?? ""}`.trim());
                  return { _tag: "allowed" };
                }),
            },
          };
          const run = durableRun(
            "idempotent",
            (broker) =>
              Effect.gen(function* () {
                const one = yield* broker.invoke(call("send", "a"));
                const two = yield* broker.invoke(call("look", "b"));
                return `${String(one)}, ${String(two)}`;
              }),
            losesOnce("b"),
          );
          assert.strictEqual(yield* run.next({ context }), "lost");
          assert.strictEqual(yield* run.next({ context }), "completed answered");
          assert.deepStrictEqual(run.log, ["outer", "send a", "look b", "outer", "look b"]);
          assert.deepStrictEqual(asked, ["outer", "send 0", "look 1", "outer", "look 1"]);
          assert.strictEqual(yield* told, "did a, did b");
          assert.strictEqual(kindOf(run.store, "InnerCallDeclared").length, 2);
        }),
      ),
  );

  it.effect(
    "[CM-01][DU-04] an uncertain inner call that had started never runs again by itself, whatever its outer call is",
    () =>
      withModel(
        Effect.gen(function* () {
          const run = durableRun("idempotent", sendTwice, losesOnce("b"));
          yield* run.next();
          for (let restart = 0; restart < 3; restart++)
            assert.strictEqual(yield* run.next(), "suspended");
          assert.deepStrictEqual(run.log, ["outer", "send a", "send b"]);
          assert.deepStrictEqual(unknownTools(run.store), ["send"]);
          const [unknown] = openUnknowns(run.store);
          assert.isDefined(unknown);
          run.store.undelivered.push(resolve(unknown, "completed-with-result", "seen there"));
          assert.strictEqual(yield* run.next(), "completed answered");
          assert.strictEqual(yield* told, "did a, seen there");
          assert.deepStrictEqual(run.log, ["outer", "send a", "send b", "outer"]);
        }),
      ),
  );

  for (const resolution of ["never-happened", "safe-to-retry"] as const) {
    it.effect(
      `[DU-08][CM-01] an inner call that a person resolved as ${resolution} is made exactly once more, with its own key`,
      () =>
        withModel(
          Effect.gen(function* () {
            const run = durableRun("idempotent", sendTwice, losesOnce("b"));
            yield* run.next();
            yield* run.next();
            run.store.undelivered.push(
              ...openUnknowns(run.store).map((unknown) => resolve(unknown, resolution)),
            );
            assert.strictEqual(yield* run.next(), "completed answered");
            assert.deepStrictEqual(run.log, ["outer", "send a", "send b", "outer", "send b"]);
            const keys = run.identities.map(({ idempotencyKey }) => idempotencyKey);
            assert.strictEqual(keys[1], keys[2]);
            assert.notStrictEqual(keys[0], keys[1]);
            assert.deepStrictEqual(
              run.identities.map(({ attempt: number }) => number),
              [1, 1, 2],
            );
          }),
        ),
    );
  }

  it.effect(
    "[DU-05][CM-01] an idempotent inner call of an idempotent outer one simply runs again, with the same key",
    () =>
      withModel(
        Effect.gen(function* () {
          const run = durableRun(
            "idempotent",
            (broker) => broker.invoke(call("put", "a")),
            losesOnce("a"),
          );
          yield* run.next();
          assert.strictEqual(yield* run.next(), "completed answered");
          assert.deepStrictEqual(run.log, ["outer", "put a", "outer", "put a"]);
          assert.strictEqual(new Set(run.identities.map((one) => one.idempotencyKey)).size, 1);
        }),
      ),
  );

  it.effect(
    "[DU-04][DU-07][CM-01] an uncertain outer call is in doubt itself, and so is whatever had started inside; the run waits for both",
    () =>
      withModel(
        Effect.gen(function* () {
          const run = durableRun(
            "uncertain",
            (broker) =>
              Effect.andThen(broker.invoke(call("send", "a")), broker.invoke(call("put", "b"))),
            losesOnce("b"),
          );
          yield* run.next();
          assert.strictEqual(yield* run.next(), "suspended");
          assert.deepStrictEqual(unknownTools(run.store), ["outer", "put"]);
          const [outer, inner] = openUnknownsIn(run.store);
          run.store.undelivered.push(resolve(outer, "completed-with-result", "all is well"));
          assert.strictEqual(yield* run.next(), "suspended");
          run.store.undelivered.push(resolve(inner, "never-happened"));
          assert.strictEqual(yield* run.next(), "completed answered");
          assert.strictEqual(yield* told, "all is well");
          assert.deepStrictEqual(run.log, ["outer", "send a", "put b"]);
        }),
      ),
  );

  it.effect(
    "[DU-08][CM-01] an uncertain outer call that a person lets run again meets what its program had done before",
    () =>
      withModel(
        Effect.gen(function* () {
          const run = durableRun("uncertain", sendTwice, losesOnce("b"));
          yield* run.next();
          yield* run.next();
          const [outer, inner] = openUnknownsIn(run.store);
          run.store.undelivered.push(
            resolve(outer, "safe-to-retry"),
            resolve(inner, "completed-with-result", "b was sent"),
          );
          assert.strictEqual(yield* run.next(), "completed answered");
          assert.deepStrictEqual(run.log, ["outer", "send a", "send b", "outer"]);
          assert.strictEqual(yield* told, "did a, b was sent");
        }),
      ),
  );

  it.effect(
    "[DU-06][CM-01] a reconciler is asked about the inner call by its own key and may prove how it ended",
    () =>
      withModel(
        Effect.gen(function* () {
          const run = durableRun("idempotent", sendTwice, losesOnce("b"));
          yield* run.next();
          const askedFor: Array<string> = [];
          const context: Partial<RunContext> = {
            reconcile: (lost) =>
              Effect.sync(() => {
                askedFor.push(lost.idempotencyKey);
                return { _tag: "completed", result: "found it", isFailure: false };
              }),
          };
          assert.strictEqual(yield* run.next({ context }), "completed answered");
          assert.deepStrictEqual(askedFor, [run.identities[1]?.idempotencyKey]);
          assert.strictEqual(yield* told, "did a, found it");
        }),
      ),
  );

  it.effect(
    "[CM-02] a program that makes another call in the same place ends the run typed, runs nothing, and cannot catch it",
    () =>
      Effect.forEach([call("send", "z"), call("put", "a")], (other) =>
        withModel(
          Effect.gen(function* () {
            let times = 0;
            const run = durableRun(
              "idempotent",
              (broker) =>
                Effect.gen(function* () {
                  const first = times++ === 0 ? call("send", "a") : other;
                  yield* Effect.catchCause(broker.invoke(first), () => Effect.void);
                  yield* Effect.catchCause(broker.invoke(call("look", "b")), () => Effect.void);
                  return "done";
                }),
              losesOnce("b"),
            );
            yield* run.next();
            assert.strictEqual(yield* run.next(), "failed tool-failure");
            assert.deepStrictEqual(run.log, ["outer", "send a", "look b", "outer"]);
            assert.strictEqual(
              kindOf(run.store, "RunSettled")[0]?.failure?.errorTag,
              "ProgrammaticReplayMismatch",
            );
          }),
        ),
      ),
  );

  it.effect(
    "[Z-07][CM-03] what was refused, denied or failed before the crash is so again, whatever policy says now",
    () =>
      withModel(
        Effect.gen(function* () {
          const outcomes: Array<ReadonlyArray<string>> = [];
          const run = durableRun(
            "idempotent",
            (broker) =>
              Effect.gen(function* () {
                const seen = yield* Effect.forEach(
                  [call("send", "a"), call("alien", "x"), call("send", ""), call("soft", "f")],
                  (one) => Effect.map(caught(broker.invoke(one)), (error) => JSON.stringify(error)),
                );
                outcomes.push(seen);
                yield* broker.invoke(call("look", "lost"));
                return "done";
              }),
            (id, process) =>
              id === "f" ? Effect.fail(new Refused({ message: "no" })) : losesLook(id, process),
          );
          const losesLook = losesOnce("lost");
          const deny: Partial<RunContext> = {
            authorization: {
              authorize: ({ programmatic }) =>
                Effect.succeed(
                  programmatic?.sequenceIndex === 0
                    ? { _tag: "denied", reason: "not today" }
                    : { _tag: "allowed" },
                ),
            },
          };
          yield* run.next({ context: deny });
          assert.strictEqual(yield* run.next(), "completed answered");
          assert.strictEqual(outcomes.length, 2);
          assert.deepStrictEqual(outcomes[0], outcomes[1]);
          assert.include(outcomes[0]?.[0], "ProgrammaticToolAuthorizationDenied");
          assert.include(outcomes[0]?.[1], "not-in-allowlist");
          assert.include(outcomes[0]?.[2], "ProgrammaticToolParametersInvalid");
          assert.include(outcomes[0]?.[3], "ProgrammaticToolFailed");
          assert.deepStrictEqual(run.log, ["outer", "soft f", "look lost", "outer", "look lost"]);
        }),
      ),
  );

  it.effect("[CM-05] a call that runs again is not charged twice for what it made before", () =>
    withModel(
      Effect.gen(function* () {
        const desk = makeDesk({ outerClass: "idempotent", policy: { maxToolCalls: 3 } });
        const behave = losesOnce("b");
        const { layer, log } = makeHandlers(
          desk,
          (broker) =>
            Effect.andThen(broker.invoke(call("look", "a")), broker.invoke(call("look", "b"))),
          behave,
        );
        const store = makeStore();
        yield* attempt(store, desk.agent, layer);
        const end = yield* attempt(store, desk.agent, layer);
        assert.strictEqual(end._tag === "settled" ? end.settled.outcome : end._tag, "completed");
        assert.deepStrictEqual(log, ["outer", "look a", "look b", "outer", "look b"]);
      }),
    ),
  );
});
