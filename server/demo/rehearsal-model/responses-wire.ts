/**
 * The part of OpenAI's Responses protocol that the rehearsal model speaks, as
 * `@effect/ai-openai` sends it. What it does not use is let through unread.
 */
import { Schema } from "effect";

const ContentPart = Schema.Struct({ type: Schema.String, text: Schema.optionalKey(Schema.String) });
const Content = Schema.Union([Schema.String, Schema.Array(ContentPart)]);

const Message = Schema.Struct({
  type: Schema.optionalKey(Schema.Literal("message")),
  role: Schema.Literals(["system", "developer", "user", "assistant"]),
  content: Content,
});

const FunctionCall = Schema.Struct({
  type: Schema.Literal("function_call"),
  call_id: Schema.String,
  name: Schema.String,
  arguments: Schema.String,
});

const FunctionCallOutput = Schema.Struct({
  type: Schema.Literal("function_call_output"),
  call_id: Schema.String,
  output: Content,
});

const OtherItem = Schema.Struct({ type: Schema.String });

export const InputItem = Schema.Union([FunctionCall, FunctionCallOutput, Message, OtherItem]);
export type InputItem = typeof InputItem.Type;

const FunctionTool = Schema.Struct({
  type: Schema.Literal("function"),
  name: Schema.String,
  parameters: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))),
});
export type FunctionTool = typeof FunctionTool.Type;

export const ResponsesRequest = Schema.Struct({
  model: Schema.optionalKey(Schema.String),
  input: Schema.Union([Schema.String, Schema.Array(InputItem)]),
  tools: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Union([FunctionTool, OtherItem])))),
  tool_choice: Schema.optionalKey(Schema.Unknown),
  stream: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
});
export type ResponsesRequest = typeof ResponsesRequest.Type;

/** Text of a message's or an output's content. */
export const contentText = (content: typeof Content.Type): string =>
  typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("");

/** What the model does with its turn: calls, or a last word. */
export type Turn =
  | { readonly _tag: "Calls"; readonly calls: ReadonlyArray<PlannedCall> }
  | { readonly _tag: "Answer"; readonly text: string };

export interface PlannedCall {
  readonly tool: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}
