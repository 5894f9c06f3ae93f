import { assert, describe, it } from "@effect/vitest";
import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { CurrentToolCall } from "#lib/current-tool-call.ts";
import { ToolExecutionClass, executionClassOf } from "#lib/durable-step.ts";
import { ApprovalRule, approvalRule, approvalRuleOf } from "#lib/tool-approval.ts";

const Refund = Tool.make("refund", {
  parameters: Schema.Struct({ orderId: Schema.String, amount: Schema.FiniteFromString }),
  needsApproval: true,
});

describe("tool annotations", () => {
  it("[T-11] the execution class is its own annotation, uncertain by default, and no hint changes it", () => {
    assert.strictEqual(executionClassOf(Refund), "uncertain");
    const hinted = Refund.annotate(Tool.Readonly, true)
      .annotate(Tool.Idempotent, true)
      .annotate(Tool.Destructive, false);
    assert.strictEqual(executionClassOf(hinted), "uncertain");
    assert.strictEqual(
      executionClassOf(Refund.annotate(ToolExecutionClass, "readonly")),
      "readonly",
    );
  });

  it("[A-02] a rule is typed by the tool's decoded parameters and leaves the tool what it was", () => {
    const annotated = approvalRule(Refund, {
      risk: "high",
      summary: ({ orderId, amount }) => `${orderId}: ${amount.toFixed(2)}`,
    });
    const name: "refund" = annotated.name;
    assert.strictEqual(name, "refund");
    assert.isTrue(annotated.needsApproval);
    const rule = approvalRuleOf(annotated) as {
      summary: (params: Tool.Parameters<typeof Refund>) => string;
      risk: string;
    };
    assert.strictEqual(rule.summary({ orderId: "W1", amount: 2 }), "W1: 2.00");
    assert.deepStrictEqual(approvalRuleOf(Refund), {});
    assert.strictEqual(
      approvalRuleOf(Refund.annotate(ApprovalRule, { denial: "terminal" })).denial,
      "terminal",
    );
  });

  it.effect("outside of a handler there is no current tool call", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* CurrentToolCall);
    }),
  );
});
