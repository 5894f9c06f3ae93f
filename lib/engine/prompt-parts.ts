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

const encodeMessage = Schema.encodeUnknownEffect(Prompt.AssistantMessage);
const encodePart = Schema.encodeUnknownEffect(Prompt.AssistantMessagePart);

const hasOptions = (options: object): boolean => Object.keys(options).length > 0;

const encodedPart = (
  part: Prompt.AssistantMessagePart,
): Effect.Effect<object, Schema.SchemaError> => {
  if (part.type !== "tool-call" || hasOptions(part.options)) return encodePart(part);
  const { id, name, params, providerExecuted, type } = part;
  return Effect.succeed({ type, id, name, params, providerExecuted, options: {} });
};

type EncodedParts = Effect.Effect<ReadonlyArray<object>, Schema.SchemaError>;

/** The assistant's parts of a response as upstream makes and encodes them; nothing but calls, as of most batches, are the same few fields. */
export const encodeResponse = (parts: ReadonlyArray<Response.AnyPart>): EncodedParts => {
  const calls = parts.map(encodedCall).filter((call) => call !== undefined);
  if (calls.length === parts.length) return Effect.succeed(calls);
  const message = Prompt.fromResponseParts(parts).content.find(({ role }) => role === "assistant");
  return message?.role === "assistant" ? encodeAssistantParts(message) : Effect.succeed([]);
};

const encodedCall = (part: Response.AnyPart): object | undefined => {
  if (part.type !== "tool-call" || hasOptions(part.metadata)) return undefined;
  const { id, name, params, providerExecuted = false, type } = part;
  return { type, id, name, params, providerExecuted, options: {} };
};

/** The parts of an assistant message as upstream's schema encodes them. */
export const encodeAssistantParts = (message: Prompt.AssistantMessage): EncodedParts =>
  message.content.some(({ type }) => type === "tool-call")
    ? Effect.forEach(message.content, encodedPart)
    : Effect.map(encodeMessage(message), ({ content }) =>
        typeof content === "string" ? [{ type: "text", text: content }] : [...content],
      );

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

/** A text, a call or a result with nothing particular about it; undefined for what only the schema can tell. */
const plainPart = (part: EncodedPart): PlainPart | undefined => {
  if (typeof part !== "object" || part === null) return undefined;
  if (part.type === "text")
    return typeof part.text === "string" && isPlain(part.options)
      ? Prompt.textPart({ text: part.text })
      : undefined;
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
      ? Prompt.toolCallPart({ id, name, params: part.params, providerExecuted })
      : undefined;
  const { isFailure, result } = part;
  return "result" in part && typeof isFailure === "boolean"
    ? Prompt.toolResultPart({ id, name, isFailure, result, providerExecuted })
    : undefined;
};

const plainMessage = (message: Prompt.MessageEncoded): Prompt.Message | undefined => {
  if (message.role !== "assistant" && message.role !== "tool") return undefined;
  if (typeof message.content === "string" || !isPlain(message.options)) return undefined;
  const content: Array<PlainPart> = [];
  for (const part of message.content) {
    const plain = plainPart(part);
    if (plain === undefined) return undefined;
    content.push(plain);
  }
  // A tool message of upstream's has results only, and its parts are read as such.
  return message.role === "assistant"
    ? Prompt.assistantMessage({ content })
    : content.every((part) => part.type === "tool-result")
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
