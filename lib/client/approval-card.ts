/** An approval as its card needs it: the view, and the arguments read from the answer's own text. */
import type { ApprovalDetail } from "../contract/approval-views.ts";
import { type ExactJson, exactAt, exactFromValue, parseExactJson } from "./exact-json.ts";
import type { Answer } from "./request.ts";

export interface ApprovalCard {
  readonly detail: ApprovalDetail;
  /** What will run, digit by digit as the server wrote it. */
  readonly effectiveParameters: ExactJson;
  /** What the model wrote, before decoding and defaults. */
  readonly declaredParameters: ExactJson;
  /** What a denial suggested to the model. */
  readonly suggestion?: ExactJson;
}

export const approvalCard = (answer: Answer<ApprovalDetail>): ApprovalCard => {
  const whole = parseExactJson(answer.text);
  const { content, suggestion } = answer.value;
  return {
    ...(suggestion === null
      ? {}
      : { suggestion: exactAt(whole, ["suggestion"]) ?? exactFromValue(suggestion) }),
    detail: answer.value,
    effectiveParameters:
      exactAt(whole, ["content", "effectiveParameters"]) ??
      exactFromValue(content.effectiveParameters),
    declaredParameters:
      exactAt(whole, ["content", "parameters"]) ?? exactFromValue(content.parameters),
  };
};
