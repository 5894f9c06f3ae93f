import { assert, describe, it } from "@effect/vitest";
import { Deferred, Effect, Fiber, Layer, Ref, Schema } from "effect";
import { TestClock } from "effect/testing";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { register } from "#lib/host/AgentRegistry.ts";
import { MemoryHost } from "#lib/testing/MemoryHost.ts";
import { ScriptedModel, text, toolCalls, type TurnScript } from "#lib/testing/ScriptedModel.ts";
import { ApprovalRule } from "#lib/tool-approval.ts";
import { unknownOutcome } from "#lib/unknown-outcome.ts";

const Charge = Tool.make("charge", {
  parameters: Schema.Struct({ amount: Schema.Int }),
  success: Schema.String,
});
const Refund = Tool.make("refund", {
  parameters: Schema.Struct({ amount: Schema.Int }),
  success: Schema.String,
  needsApproval: true,
});
const toolkit = Toolkit.make(Charge, Refund);
const cashier = Agent.make("cashier", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Handle money.",
  toolkit,
});

const call = (name: "charge" | "refund", amount: number) =>
  toolCalls([{ id: "c1", name, params: { amount } }]);

/** `charge` does what the test says; `refund` notes that it ran. */
const withHost = <A, E>(
  script: ReadonlyArray<TurnScript>,
  body: (ran: Ref.Ref<number>) => Effect.Effect<A, E, MemoryHost>,
  charge: Effect.Effect<string> = Effect.succeed("charged"),
) =>
  Effect.gen(function* () {
    const ran = yield* Ref.make(0);
    const counted = <B>(effect: Effect.Effect<B>) =>
      Effect.andThen(
        Ref.update(ran, (times) => times + 1),
        effect,
      );
    const handlers = toolkit.toLayer({
      charge: () => counted(charge),
      refund: ({ amount }) => counted(Effect.succeed(`refunded ${amount}`)),
    });
    const layer = MemoryHost.layer(Effect.all([register(Agent.bind(cashier, handlers))])).pipe(
      Layer.provide(ScriptedModel.layer(script)),
    );
    return yield* body(ran).pipe(Effect.provide(layer));
  });

const tags = (records: ReadonlyArray<{ readonly _tag: string }>) => records.map((row) => row._tag);

describe("a durable host in memory", () => {
  it.effect("[DU-10] works without people: submitted, run, settled once", () =>
    withHost([call("charge", 5), text("done")], (ran) =>
      Effect.gen(function* () {
        const host = yield* MemoryHost;
        const receipt = yield* host.submit({ agentId: "cashier", input: "charge five" });
        assert.strictEqual((yield* host.look(receipt)).state, "queued");
        const done = yield* host.work(receipt);
        assert.strictEqual(done.state, "completed");
        assert.strictEqual(done.output, "done");
        assert.deepStrictEqual((yield* host.work(receipt)).records, done.records);
        assert.strictEqual(yield* Ref.get(ran), 1);
      }),
    ),
  );

  it.effect(
    "[A-06][A-08] waits for a person, and goes on with the same batch when one approves",
    () =>
      withHost([call("refund", 7), text("done")], (ran) =>
        Effect.gen(function* () {
          const host = yield* MemoryHost;
          const receipt = yield* host.submit({ agentId: "cashier", input: "refund seven" });
          const waiting = yield* host.work(receipt);
          assert.strictEqual(waiting.state, "waiting");
          assert.strictEqual(yield* Ref.get(ran), 0);
          const [request] = waiting.approvals;
          assert.isDefined(request);
          yield* host.approve(request);
          const done = yield* host.work(receipt);
          assert.strictEqual(done.state, "completed");
          assert.strictEqual(yield* Ref.get(ran), 1);
          assert.strictEqual(
            tags(done.records).filter((tag) => tag === "ApprovalDecided").length,
            1,
          );
          const again = yield* Effect.flip(host.approve(request));
          assert.strictEqual(again._tag, "ApprovalAlreadyDecided");
        }),
      ),
  );

  it.effect("[A-06] a denial reaches the model and nothing runs", () =>
    withHost([call("refund", 7), text("as you wish")], (ran) =>
      Effect.gen(function* () {
        const host = yield* MemoryHost;
        const receipt = yield* host.submit({ agentId: "cashier", input: "refund seven" });
        const [request] = (yield* host.work(receipt)).approvals;
        assert.isDefined(request);
        yield* host.deny(request, "too much");
        assert.strictEqual((yield* host.work(receipt)).output, "as you wish");
        assert.strictEqual(yield* Ref.get(ran), 0);
      }),
    ),
  );

  it.effect("[A-07] an approval that nobody gives expires by the runtime's clock", () => {
    const Quick = Tool.make("refund", {
      parameters: Schema.Struct({ amount: Schema.Int }),
      success: Schema.String,
      needsApproval: true,
    }).annotate(ApprovalRule, { expiresAfter: "1 minute" });
    const quick = Toolkit.make(Quick);
    const agent = Agent.make("quick", {
      input: Schema.String,
      output: Schema.String,
      instructions: "Handle money.",
      toolkit: quick,
    });
    const handlers = quick.toLayer({ refund: () => Effect.succeed("refunded") });
    return Effect.gen(function* () {
      const host = yield* MemoryHost;
      const receipt = yield* host.submit({ agentId: "quick", input: "refund" });
      assert.strictEqual((yield* host.work(receipt)).state, "waiting");
      yield* TestClock.adjust("59 seconds");
      assert.strictEqual((yield* host.work(receipt)).state, "waiting");
      yield* TestClock.adjust("2 seconds");
      const done = yield* host.work(receipt);
      assert.strictEqual(done.output, "too late");
    }).pipe(
      Effect.provide(
        MemoryHost.layer(Effect.all([register(Agent.bind(agent, handlers))])).pipe(
          Layer.provide(ScriptedModel.layer([call("refund", 1), text("too late")])),
        ),
      ),
    );
  });

  it.effect(
    "[DU-04][DU-07] an effect in doubt stops the run, and a person's word goes on with it",
    () =>
      withHost(
        [call("charge", 5), text("done")],
        (ran) =>
          Effect.gen(function* () {
            const host = yield* MemoryHost;
            const receipt = yield* host.submit({ agentId: "cashier", input: "charge five" });
            const doubtful = yield* host.work(receipt);
            assert.strictEqual(doubtful.state, "unknown");
            const [unknown] = doubtful.unknowns;
            assert.isDefined(unknown);
            yield* host.resolve(unknown, {
              resolution: "completed-with-result",
              result: "charged",
            });
            assert.strictEqual((yield* host.work(receipt)).state, "completed");
            assert.strictEqual(yield* Ref.get(ran), 1);
          }),
        unknownOutcome("no answer"),
      ),
  );

  it.effect(
    "[DU-04] a call whose process goes away is in doubt, and is never run again by itself",
    () =>
      Effect.gen(function* () {
        const begun = yield* Deferred.make<void>();
        yield* withHost(
          [call("charge", 5), text("done")],
          (ran) =>
            Effect.gen(function* () {
              const host = yield* MemoryHost;
              const receipt = yield* host.submit({ agentId: "cashier", input: "charge five" });
              const working = yield* Effect.forkChild(host.work(receipt));
              yield* Deferred.await(begun);
              yield* Fiber.interrupt(working);
              const after = yield* host.work(receipt);
              assert.strictEqual(after.state, "unknown");
              assert.strictEqual(after.unknowns.length, 1);
              assert.strictEqual(yield* Ref.get(ran), 1);
            }),
          Effect.andThen(Deferred.succeed(begun, undefined), Effect.never),
        );
      }),
  );

  it.effect(
    "[DU-12] an abort ends a run that waits for a person, and its request is withdrawn",
    () =>
      withHost([call("refund", 7)], () =>
        Effect.gen(function* () {
          const host = yield* MemoryHost;
          const receipt = yield* host.submit({ agentId: "cashier", input: "refund seven" });
          const waiting = yield* host.work(receipt);
          yield* host.abort(receipt, "changed my mind");
          const ended = yield* host.work(receipt);
          assert.strictEqual(ended.state, "aborted");
          assert.deepStrictEqual(ended.approvals, []);
          assert.strictEqual(waiting.approvals.length, 1);
          assert.strictEqual(
            (yield* Effect.flip(host.abort(receipt, "again")))._tag,
            "RunAlreadySettled",
          );
        }),
      ),
  );

  it.effect(
    "[DU-15] a thread's submissions run in their order, the later one with the earlier in its history",
    () =>
      withHost([text("first"), text("second")], () =>
        Effect.gen(function* () {
          const host = yield* MemoryHost;
          const first = yield* host.submit({ agentId: "cashier", input: "one" });
          const { threadId } = first;
          const second = yield* host.submit({ agentId: "cashier", input: "two", threadId });
          assert.strictEqual((yield* host.work(first)).output, "first");
          assert.strictEqual((yield* host.look(second)).output, "second");
        }),
      ),
  );
});
