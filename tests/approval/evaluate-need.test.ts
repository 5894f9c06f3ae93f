import { assert, describe, it } from "@effect/vitest";
import { Cause, Effect, Exit, Fiber, Schema } from "effect";
import { TestClock } from "effect/testing";
import { Prompt, Tool } from "effect/unstable/ai";
import { type ApprovalNeed, evaluateNeed } from "#lib/approval/evaluate-need.ts";

const Refund = Tool.make("refund", {
  parameters: Schema.Struct({ amount: Schema.FiniteFromString }),
});
const messages = Prompt.make("please refund").content;
const ask = (tool: Tool.Any, amount = 1) =>
  evaluateNeed(tool, { toolCallId: "c1", decodedParameters: { amount }, messages });

const assertFailedClosed = (need: ApprovalNeed, words: string) => {
  assert.strictEqual(need._tag, "needed");
  if (need._tag !== "needed" || need.because !== "ruleFailed")
    return assert.fail(`expected a failed rule, got ${JSON.stringify(need)}`);
  assert.strictEqual(need.failure._tag, "ApprovalPolicyError");
  assert.strictEqual(need.failure.part, "need");
  assert.strictEqual(need.failure.toolName, "refund");
  assert.include(need.failure.message, words);
};

describe("evaluateNeed", () => {
  it.effect("[A-01] a tool that says nothing or false asks nobody, and true always asks", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ask(Refund), { _tag: "notNeeded" });
      assert.deepStrictEqual(yield* ask(Refund.setNeedsApproval(false)), { _tag: "notNeeded" });
      assert.deepStrictEqual(yield* ask(Refund.setNeedsApproval(true)), {
        _tag: "needed",
        because: "declared",
      });
    }),
  );

  it.effect(
    "[A-01] a rule sees decoded parameters, the call id and the conversation: 100 passes, 101 asks",
    () =>
      Effect.gen(function* () {
        const seen: Array<unknown> = [];
        const tool = Refund.setNeedsApproval((params, context) => {
          seen.push([params.amount, context.toolCallId, context.messages.length]);
          return params.amount > 100;
        });
        assert.deepStrictEqual(yield* ask(tool, 100), { _tag: "notNeeded" });
        assert.deepStrictEqual(yield* ask(tool, 101), { _tag: "needed", because: "rule" });
        assert.deepStrictEqual(seen, [
          [100, "c1", 1],
          [101, "c1", 1],
        ]);
      }),
  );

  it.effect("[A-01] a rule may answer with an effect", () =>
    Effect.gen(function* () {
      const tool = (answer: boolean) =>
        Refund.setNeedsApproval(() => Effect.delay(Effect.succeed(answer), "1 millis"));
      for (const answer of [true, false]) {
        const fiber = yield* Effect.forkChild(ask(tool(answer)));
        yield* TestClock.adjust("1 second");
        assert.strictEqual((yield* Fiber.join(fiber))._tag, answer ? "needed" : "notNeeded");
      }
    }),
  );

  it.effect(
    "[A-01] a rule that throws, dies, fails or interrupts itself asks a person and keeps its cause",
    () =>
      Effect.gen(function* () {
        const broken: ReadonlyArray<readonly [unknown, string]> = [
          [
            () => {
              throw new Error("rule broke");
            },
            "threw",
          ],
          [() => Effect.die("rule broke"), "threw"],
          [() => Effect.fail("rule broke"), "failed"],
          [() => Effect.interrupt, "interrupted itself"],
        ];
        for (const [rule, words] of broken) {
          const need = yield* ask(Refund.setNeedsApproval(rule as never));
          assertFailedClosed(need, words);
          if (need._tag === "needed" && need.because === "ruleFailed")
            assert.isTrue(Cause.isCause(need.failure.cause));
        }
      }),
  );

  it.effect(
    "[A-01] an answer that is no boolean, like a promise, nothing or 0, asks a person",
    () =>
      Effect.gen(function* () {
        for (const answer of [undefined, null, 0, "", "false", Promise.resolve(false), {}]) {
          assertFailedClosed(
            yield* ask(Refund.setNeedsApproval((() => answer) as never)),
            "in place of true or false",
          );
        }
      }),
  );

  it.effect(
    "[A-01] a rule that has not answered after 10 seconds asks a person, even if it cannot be interrupted",
    () =>
      Effect.gen(function* () {
        for (const slow of [Effect.never, Effect.uninterruptible(Effect.sleep("1 minute"))]) {
          const fiber = yield* Effect.forkChild(
            ask(Refund.setNeedsApproval((() => slow) as never)),
          );
          yield* TestClock.adjust("9 seconds");
          assert.isUndefined(fiber.pollUnsafe());
          yield* TestClock.adjust("2 seconds");
          // An uninterruptible rule is left to end by itself; time goes on for it.
          yield* TestClock.adjust("1 minute");
          assertFailedClosed(yield* Fiber.join(fiber), "in time");
        }
      }),
  );

  it.effect(
    "[B-07] interrupting the run while a rule thinks is an interruption of the run and of the rule",
    () =>
      Effect.gen(function* () {
        let interrupted = false;
        const rule = Effect.onInterrupt(Effect.never, () =>
          Effect.sync(() => (interrupted = true)),
        );
        const fiber = yield* Effect.forkChild(ask(Refund.setNeedsApproval((() => rule) as never)));
        yield* TestClock.adjust("1 second");
        yield* Fiber.interrupt(fiber);
        const exit = yield* Fiber.await(fiber);
        assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause));
        assert.isTrue(interrupted);
      }),
  );
});
