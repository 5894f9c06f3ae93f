import { assert, describe, it } from "@effect/vitest";
import { Deferred, Effect, Exit, Fiber, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { FenceRejected } from "#lib/durable/StoreError.ts";
import {
  type DurableStepError,
  durableStep,
  type ExecutionClass,
  maxStepResultBytes,
  ToolExecutionClass,
} from "#lib/durable-step.ts";
import { RunDurability } from "#lib/engine/RunDurability.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import {
  attempt,
  attemptIn,
  contextOf,
  type CrashPoint,
  kindOf,
  makeProcess,
  makeStore,
  openUnknowns,
  type Process,
  resolve,
} from "#tests/engine/durable-harness.ts";
import { resultsIn, watch } from "#tests/engine/run-agent.ts";

/** What a handler does; its value becomes the call's result as text. */
type Body = (process: Process | undefined) => Effect.Effect<unknown, unknown>;

const make = (executionClass: ExecutionClass, body: Body) => {
  const Work = Tool.make("work", { success: Schema.String, failure: Schema.Unknown }).annotate(
    ToolExecutionClass,
    executionClass,
  );
  const toolkit = Toolkit.make(Work);
  const agent = Agent.make("worker", {
    input: Schema.String,
    output: Schema.String,
    instructions: "Go.",
    toolkit,
  });
  const layer = (process?: Process) =>
    toolkit.toLayer({
      work: () => Effect.map(body(process), (value) => JSON.stringify(value ?? null)),
    });
  return { agent, layer };
};

const once = [toolCalls([{ id: "w", name: "work" }]), text("done")];

/** One ephemeral call of the body; what it gave, or the failure as a value. */
const runBody = (body: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    const { agent, layer } = make("uncertain", () =>
      Effect.catch(body, (error) => Effect.succeed(error)),
    );
    const run = yield* watch(agent, layer(), once);
    return JSON.parse(String(resultsIn(run.requests[1])[0]?.[1]));
  });

const reasonOf = <A, E>(effect: Effect.Effect<A, E | DurableStepError>) =>
  Effect.match(effect, {
    onSuccess: (value): unknown => value,
    onFailure: (error): unknown => Reflect.get(Object(error), "reason") ?? error,
  });

describe("a step of one call", () => {
  it.effect("[DU-18] gives its success as its schema keeps it", () =>
    Effect.gen(function* () {
      const given = yield* runBody(
        Effect.gen(function* () {
          const whole = yield* durableStep("n", Schema.FiniteFromString, Effect.succeed(41));
          const nothing = yield* durableStep("v", Schema.Void, Effect.void);
          return [whole + 1, nothing === undefined];
        }),
      );
      assert.deepStrictEqual(given, [42, true]);
    }),
  );

  it.effect(
    "[DU-18] refuses a name that was taken, is malformed or one too many, typed, and runs no body for it",
    () =>
      Effect.gen(function* () {
        let bodies = 0;
        const body = Effect.sync(() => bodies++);
        const reasons = yield* runBody(
          Effect.gen(function* () {
            const step = (name: string) => reasonOf(durableStep(name, Schema.Int, body));
            const first = yield* step("a");
            const again = yield* step("a");
            const both = yield* Effect.all([step("b"), step("b")], { concurrency: 2 });
            const malformed = yield* Effect.forEach(["", " a", "x".repeat(129)], step);
            for (let number = 0; number < 254; number++) yield* step(`n${number}`);
            const more = yield* step("more");
            return [first, again, both[1], ...malformed, more];
          }),
        );
        assert.deepStrictEqual(reasons, [
          0,
          "duplicate-name",
          "duplicate-name",
          "invalid-name",
          "invalid-name",
          "invalid-name",
          "too-many-steps",
        ]);
        assert.strictEqual(bodies, 256);
      }),
  );

  it.effect("[DU-18] keeps nothing of a failure: the name may be tried again", () =>
    Effect.gen(function* () {
      let times = 0;
      const given = yield* runBody(
        Effect.gen(function* () {
          const flaky = durableStep(
            "flaky",
            Schema.String,
            Effect.suspend(() => (times++ === 0 ? Effect.fail("not yet") : Effect.succeed("done"))),
          );
          const first = yield* reasonOf(flaky);
          return [first, yield* flaky, times];
        }),
      );
      assert.deepStrictEqual(given, ["not yet", "done", 2]);
    }),
  );

  it.effect(
    "[DU-18] a result that its schema refuses, that is no JSON or over 64 KiB is a typed failure after the body",
    () =>
      Effect.gen(function* () {
        const reasons = yield* runBody(
          Effect.all([
            reasonOf(durableStep("a", Schema.Int, Effect.succeed(1.5))),
            reasonOf(durableStep("b", Schema.Any, Effect.succeed(10n))),
            reasonOf(
              durableStep("c", Schema.String, Effect.succeed("x".repeat(maxStepResultBytes))),
            ),
            reasonOf(
              durableStep("d", Schema.String, Effect.succeed("x".repeat(maxStepResultBytes - 2))),
            ).pipe(Effect.map((value) => String(value).length)),
          ]),
        );
        assert.deepStrictEqual(reasons, [
          "invalid-result",
          "invalid-result",
          "result-too-large",
          maxStepResultBytes - 2,
        ]);
      }),
  );

  it.effect("[DU-18] outside of a call, and after it, there are none", () =>
    Effect.gen(function* () {
      const step = reasonOf(durableStep("a", Schema.Int, Effect.succeed(1)));
      assert.strictEqual(yield* step, "outside-call");
      const late = yield* Deferred.make<Fiber.Fiber<unknown>>();
      const go = yield* Deferred.make<void>();
      yield* runBody(
        Effect.gen(function* () {
          const fiber = yield* Effect.forkDetach(Effect.andThen(Deferred.await(go), step));
          yield* Deferred.succeed(late, fiber);
        }),
      );
      yield* Deferred.succeed(go, undefined);
      assert.strictEqual(yield* Fiber.join(yield* Deferred.await(late)), "call-ended");
    }),
  );
});

/** Two steps around which processes are lost; `bodies` counts how often each body really ran. */
const twoSteps = () => {
  const bodies: Array<string> = [];
  const step = (name: string) =>
    durableStep(
      name,
      Schema.String,
      Effect.sync(() => `${name} ${bodies.push(name)}`),
    );
  return { bodies, body: Effect.all([step("one"), step("two")]) };
};

const playing = <A, E, R>(effect: Effect.Effect<A, E, R | ScriptedModel>) =>
  Effect.provide(effect, ScriptedModel.layer(once));

const told = Effect.map(
  Effect.flatMap(ScriptedModel, (model) => model.requests),
  (requests) => JSON.parse(String(resultsIn(requests[1])[0]?.[1])),
);

/** The append that holds the record of the first step: opening, turn, preparation, step. */
const stepAppend = 4;

describe("a step of a fiber that outlives its handler", () => {
  it.effect("[DU-18][DU-10] is not recorded: nothing is written behind the end of its run", () =>
    playing(
      Effect.gen(function* () {
        const go = yield* Deferred.make<void>();
        const late = yield* Deferred.make<Fiber.Fiber<unknown, unknown>>();
        const step = durableStep("late", Schema.Void, Deferred.await(go));
        const { agent, layer } = make("idempotent", () =>
          Effect.gen(function* () {
            const fiber = yield* Effect.forkDetach(step, { startImmediately: true });
            yield* Deferred.succeed(late, fiber);
          }),
        );
        const store = makeStore();
        assert.strictEqual((yield* attempt(store, agent, layer))._tag, "settled");
        yield* Deferred.succeed(go, undefined);
        const exit = yield* Fiber.await(yield* Deferred.await(late));
        assert.isTrue(Exit.hasDies(exit));
        assert.deepStrictEqual(kindOf(store, "StepRecorded"), []);
      }),
    ),
  );
});

describe("a step of a call whose process is lost", () => {
  const cases: ReadonlyArray<readonly [string, CrashPoint, ReadonlyArray<string>]> = [
    ["before its record", { append: stepAppend, landed: false }, ["one", "one", "two"]],
    ["after its record", { append: stepAppend, landed: true }, ["one", "two"]],
  ];
  for (const [when, crash, expected] of cases) {
    it.effect(
      `[DU-18][DU-05] an idempotent call that runs again ${when} takes the recorded success and runs the other bodies`,
      () =>
        playing(
          Effect.gen(function* () {
            const { bodies, body } = twoSteps();
            const { agent, layer } = make("idempotent", () => body);
            const store = makeStore();
            assert.strictEqual((yield* attempt(store, agent, layer, { crash }))._tag, "lost");
            const end = yield* attempt(store, agent, layer);
            assert.strictEqual(end._tag, "settled");
            assert.deepStrictEqual(bodies, expected);
            assert.deepStrictEqual(
              kindOf(store, "StepRecorded").map(({ name, result }) => [name, result]),
              [
                ["one", crash.landed ? "one 1" : "one 2"],
                ["two", crash.landed ? "two 2" : "two 3"],
              ],
            );
            assert.deepStrictEqual(yield* told, [
              crash.landed ? "one 1" : "one 2",
              crash.landed ? "two 2" : "two 3",
            ]);
          }),
        ),
    );
  }

  it.effect(
    "[DU-18][DU-08] an uncertain call is in doubt as ever; one that a person lets run again skips its recorded steps",
    () =>
      playing(
        Effect.gen(function* () {
          const { bodies, body } = twoSteps();
          const { agent, layer } = make("uncertain", () => body);
          const store = makeStore();
          yield* attempt(store, agent, layer, { crash: { append: stepAppend, landed: true } });
          assert.strictEqual((yield* attempt(store, agent, layer))._tag, "suspended");
          assert.deepStrictEqual(bodies, ["one"]);
          store.undelivered.push(
            ...openUnknowns(store).map((unknown) => resolve(unknown, "safe-to-retry")),
          );
          assert.strictEqual((yield* attempt(store, agent, layer))._tag, "settled");
          assert.deepStrictEqual(bodies, ["one", "two"]);
        }),
      ),
  );

  it.effect("[DU-18] a success is recorded whole even where it is interrupted meanwhile", () =>
    playing(
      Effect.gen(function* () {
        const recording = yield* Deferred.make<void>();
        const { agent, layer } = make("idempotent", () =>
          Effect.gen(function* () {
            const one = durableStep("one", Schema.String, Effect.succeed("done"));
            const fiber = yield* Effect.forkChild(one);
            yield* Deferred.await(recording);
            yield* Fiber.interrupt(fiber);
            return yield* reasonOf(one);
          }),
        );
        const store = makeStore();
        const process = yield* makeProcess(store, undefined);
        const context = yield* contextOf(agent, layer(process), store);
        const slow = RunDurability.of({
          ...process.durability,
          record: (records, diagnostics) =>
            records.some((record) => record._tag === "StepRecorded")
              ? Deferred.succeed(recording, undefined).pipe(
                  Effect.andThen(Effect.yieldNow),
                  Effect.andThen(Effect.yieldNow),
                  Effect.andThen(Effect.yieldNow),
                  Effect.andThen(process.durability.record(records, diagnostics)),
                )
              : process.durability.record(records, diagnostics),
        });
        yield* attemptIn(store, context, { ...process, durability: slow });
        assert.deepStrictEqual(
          kindOf(store, "StepRecorded").map(({ result }) => result),
          ["done"],
        );
        assert.strictEqual(yield* told, "duplicate-name");
      }),
    ),
  );

  it.effect(
    "[DU-18][DU-13] where the record is refused because a newer owner has the thread, the call ends and no handler can go on from it",
    () =>
      playing(
        Effect.gen(function* () {
          let wentOn = false;
          const { agent, layer } = make("idempotent", () =>
            Effect.gen(function* () {
              yield* Effect.catchCause(
                durableStep("one", Schema.String, Effect.succeed("x")),
                () => Effect.void,
              );
              yield* durableStep(
                "two",
                Schema.String,
                Effect.sync(() => "y"),
              );
              wentOn = true;
            }),
          );
          const store = makeStore();
          const process = yield* makeProcess(store, undefined);
          const context = yield* contextOf(agent, layer(process), store);
          const fenced = RunDurability.of({
            ...process.durability,
            record: (records, diagnostics) =>
              records.some((record) => record._tag === "StepRecorded")
                ? Effect.fail(
                    new FenceRejected({ threadId: "thread-1", epoch: 1, currentEpoch: 2 }),
                  )
                : process.durability.record(records, diagnostics),
          });
          const end = yield* attemptIn(store, context, { ...process, durability: fenced });
          assert.strictEqual(end._tag, "died");
          assert.include(String(end._tag === "died" ? end.cause : ""), "FenceRejected");
          assert.isFalse(wentOn);
          assert.deepStrictEqual(kindOf(store, "ToolCallSettled"), []);
        }),
      ),
  );
});
