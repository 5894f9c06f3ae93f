/**
 * Parts of prompts between upstream's own values and the form that is stored. Upstream's
 * schemas say both; a text, a call and a result, of which a batch has many, are nothing but a
 * few fields, and passing them through the schema of all parts costs more than the rest
 * of a call's way into the next prompt. tests/engine/prompt-parts.test.ts compares with
 * upstream's schemas and fails when an upgrade changes them.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as Prompt from "effect/unstable/ai/Prompt";
import type * as Response from "effect/unstable/ai/Response";
import type { Json } from "#lib/contract/json/json.ts";

const encodeMessage = Schema.encodeUnknownEffect(Prompt.AssistantMessage);
const encodePart = Schema.encodeUnknownEffect(Prompt.AssistantMessagePart);

const hasOptions = (options: object): boolean => Object.keys(options).length > 0;

const encodedPart = (
  part: Prompt.AssistantMessagePart,
): Effect.Effect<object, Schema.SchemaError> => {
  if (hasOptions(part.options)) return encodePart(part);
  if (part.type === "text")
    return Effect.succeed({ type: part.type, text: part.text, options: {} });
  if (part.type !== "tool-call") return encodePart(part);
  const { id, name, params, providerExecuted, type } = part;
  return Effect.succeed({ type, id, name, params, providerExecuted, options: {} });
};

type EncodedParts = Effect.Effect<ReadonlyArray<object>, Schema.SchemaError>;

/** The assistant's parts of a response as upstream makes and encodes them. */
export const encodeResponse = (parts: ReadonlyArray<Response.AnyPart>): EncodedParts => {
  const message = Prompt.fromResponseParts(parts).content.find(({ role }) => role === "assistant");
  return message?.role === "assistant" ? encodeAssistantParts(message) : Effect.succeed([]);
};

type PlainCall = Response.ToolCallPart<string, unknown>;

/** The calls of a response that is nothing else, as most batches are; undefined where there is more to encode. */
export const plainCalls = (
  parts: ReadonlyArray<Response.AnyPart>,
): ReadonlyArray<PlainCall> | undefined => {
  const calls: Array<PlainCall> = [];
  for (const part of parts) {
    if (part.type !== "tool-call" || hasOptions(part.metadata)) return undefined;
    calls.push(part);
  }
  return calls;
};

/** Such a call as upstream encodes it, with the given arguments. */
export const encodePlainCall = (
  { id, name, providerExecuted = false, type }: PlainCall,
  params: Json,
): Json => ({ type, id, name, params, providerExecuted, options: {} });

/** The parts of an assistant message as upstream's schema encodes them. */
export const encodeAssistantParts = (message: Prompt.AssistantMessage): EncodedParts => {
  const { content } = message;
  const [first] = content;
  if (content.length === 1 && first?.type === "text" && !hasOptions(first.options))
    return Effect.succeed([{ type: "text", text: first.text }]);
  return content.some(({ type }) => type === "tool-call")
    ? Effect.forEach(content, encodedPart)
    : Effect.map(encodeMessage(message), (encoded) =>
        typeof encoded.content === "string"
          ? [{ type: "text", text: encoded.content }]
          : [...encoded.content],
      );
};

type EncodedPart = Extract<
  Prompt.MessageEncoded,
  { readonly role: "assistant" | "tool" }
>["content"][number];

const isPlain = (options: unknown): boolean =>
  options === undefined ||
  (typeof options === "object" &&
    options !== null &&
    !Array.isArray(options) &&
    !hasOptions(options));

type PlainPart = Prompt.TextPart | Prompt.ToolCallPart | Prompt.ToolResultPart;

/** By this upstream knows its parts. Written out in each, since its constructors copy what they are given, which shows in a batch. */
const mark = "~effect/ai/Prompt/Part";

/** A text, a call or a result with nothing particular about it; undefined for what only the schema can tell. */
const plainPart = (part: EncodedPart): PlainPart | undefined => {
  if (typeof part !== "object" || part === null) return undefined;
  if (part.type === "text") {
    const { options, text, type } = part;
    return typeof text === "string" && isPlain(options)
      ? { [mark]: mark, type, text, options: {} }
      : undefined;
  }
  if (part.type !== "tool-call" && part.type !== "tool-result") return undefined;
  const { id, name, options, providerExecuted = false, type } = part;
  if (
    typeof id !== "string" ||
    typeof name !== "string" ||
    typeof providerExecuted !== "boolean" ||
    !isPlain(options)
  )
    return undefined;
  if (type === "tool-call")
    return "params" in part
      ? { [mark]: mark, type, id, name, params: part.params, providerExecuted, options: {} }
      : undefined;
  const { isFailure, result } = part;
  return "result" in part && typeof isFailure === "boolean"
    ? { [mark]: mark, type, id, name, isFailure, result, providerExecuted, options: {} }
    : undefined;
};

const plainMessage = (message: Prompt.MessageEncoded): Prompt.Message | undefined => {
  if (!isPlain(message.options)) return undefined;
  if (message.role === "system")
    return typeof message.content === "string"
      ? Prompt.systemMessage({ content: message.content })
      : undefined;
  if (typeof message.content === "string") return undefined;
  const content: Array<PlainPart> = [];
  for (const part of message.content) {
    const plain = plainPart(part);
    if (plain === undefined) return undefined;
    content.push(plain);
  }
  if (message.role === "assistant") return Prompt.assistantMessage({ content });
  // Upstream's other messages hold one kind of these parts each, and read nothing else.
  if (message.role === "user")
    return content.every((part) => part.type === "text")
      ? Prompt.userMessage({ content })
      : undefined;
  return message.role === "tool" && content.every((part) => part.type === "tool-result")
    ? Prompt.toolMessage({ content })
    : undefined;
};

/** Messages that were decoded: a conversation repeats them in every request of a run, as the same values. */
const decoded = new WeakMap<Prompt.MessageEncoded, Prompt.Message>();

const decodeMessages = Schema.decodeSync(Schema.Array(Prompt.Message));

/** The prompt of these messages, as `Prompt.make` decodes it. */
export const promptOf = (messages: ReadonlyArray<Prompt.MessageEncoded>): Prompt.Prompt =>
  Prompt.fromMessages(
    messages.flatMap((message) => {
      const known = decoded.get(message) ?? plainMessage(message);
      const made = known === undefined ? decodeMessages([message], { errors: "all" }) : [known];
      if (made[0] !== undefined) decoded.set(message, made[0]);
      return made;
    }),
  );
