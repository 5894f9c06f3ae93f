import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { evaluateArithmetic } from "../shop/arithmetic.ts";
import { RefusalText } from "../shop/Refusal.ts";

export const Calculate = Tool.make("calculate", {
  description: "Calculate the result of a mathematical expression.",
  parameters: Schema.Struct({
    expression: Schema.String.annotate({
      description:
        "The mathematical expression to calculate, such as '2 + 2'. The expression can contain numbers, operators (+, -, *, /), parentheses, and spaces.",
    }),
  }),
  success: Schema.String,
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "payments")
  .annotate(ToolExecutionClass, "readonly");

export const calculate = Effect.fn("calculate")(
  ({ expression }: Tool.Parameters<typeof Calculate>) => evaluateArithmetic(expression),
);
