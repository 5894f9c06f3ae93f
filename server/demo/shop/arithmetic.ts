/**
 * Arithmetic for the `calculate` tool: numbers, + - * / and parentheses, parsed
 * by jsep and evaluated with exact decimals. Every other expression that jsep
 * knows (names, calls, members) is refused; nothing is ever run as code.
 */
import { BigDecimal, Effect, Option, Result } from "effect";
import jsep from "jsep";

import { refuse, type Refusal } from "./Refusal.ts";

const maxCharacters = 1_000;
const maxDepth = 200;
const allowedCharacters = /^[0-9+\-*/(). ]*$/;

type Evaluated = Result.Result<BigDecimal.BigDecimal, Refusal>;

const failed = (reason: string): Evaluated => Result.fail(refuse(reason));

const apply = (
  operator: string,
  left: BigDecimal.BigDecimal,
  right: BigDecimal.BigDecimal,
): Evaluated => {
  switch (operator) {
    case "+":
      return Result.succeed(BigDecimal.sum(left, right));
    case "-":
      return Result.succeed(BigDecimal.subtract(left, right));
    case "*":
      return Result.succeed(BigDecimal.multiply(left, right));
    case "/":
      return Option.match(BigDecimal.divide(left, right), {
        onNone: () => failed("division by zero"),
        onSome: (quotient) => Result.succeed(quotient),
      });
    default:
      return failed(`the operator ${operator} is not supported, only + - * /`);
  }
};

const isBinary = (node: jsep.Expression): node is jsep.BinaryExpression =>
  node.type === "BinaryExpression";
const isUnary = (node: jsep.Expression): node is jsep.UnaryExpression =>
  node.type === "UnaryExpression";
const isLiteral = (node: jsep.Expression): node is jsep.Literal => node.type === "Literal";

const evaluate = (node: jsep.Expression, depth: number): Evaluated => {
  if (depth > maxDepth) return failed(`the expression is nested deeper than ${maxDepth} levels`);
  if (isLiteral(node)) {
    return Result.fromOption(BigDecimal.fromString(node.raw), () =>
      refuse(`${node.raw} is not a number`),
    );
  }
  if (isUnary(node)) {
    const argument = evaluate(node.argument, depth + 1);
    if (node.operator === "+") return argument;
    return node.operator === "-"
      ? Result.map(argument, BigDecimal.negate)
      : failed(`the operator ${node.operator} is not supported`);
  }
  if (isBinary(node)) {
    const left = evaluate(node.left, depth + 1);
    const right = evaluate(node.right, depth + 1);
    return Result.flatMap(left, (a) => Result.flatMap(right, (b) => apply(node.operator, a, b)));
  }
  return failed("the expression is not arithmetic");
};

/** The value rounded to cents, as text. */
export const evaluateArithmetic = (expression: string): Effect.Effect<string, Refusal> => {
  if (expression.length > maxCharacters) {
    return Effect.fail(refuse(`the expression is longer than ${maxCharacters} characters`));
  }
  if (!allowedCharacters.test(expression))
    return Effect.fail(refuse("invalid characters in expression"));
  return Effect.try({
    try: () => jsep(expression),
    catch: () => refuse("the expression cannot be read"),
  }).pipe(
    Effect.flatMap((tree) => Effect.fromResult(evaluate(tree, 0))),
    Effect.map((value) =>
      BigDecimal.format(BigDecimal.round(value, { scale: 2, mode: "half-from-zero" })),
    ),
  );
};
