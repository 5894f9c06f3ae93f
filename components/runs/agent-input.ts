/** How an agent's input is typed: as plain words where its schema is one text, otherwise as JSON. Pure. */
import type { Json } from "#lib/contract/json/json.ts";
import { parseJson } from "#lib/contract/json/secure-parse.ts";

/** `field` is the one text field of an object input; undefined when the input itself is a text. */
export type InputKind =
  | { readonly kind: "words"; readonly field: string | undefined }
  | { readonly kind: "json" };

export interface InputProblem {
  readonly problem: string;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** @param schema the agent's input as JSON Schema */
export const inputKind = (schema: unknown): InputKind => {
  const own = isObject(schema) && isObject(schema["schema"]) ? schema["schema"] : schema;
  if (!isObject(own)) return { kind: "json" };
  if (own["type"] === "string") return { kind: "words", field: undefined };
  const properties = own["properties"];
  if (own["type"] !== "object" || !isObject(properties)) return { kind: "json" };
  const required = Array.isArray(own["required"]) ? own["required"] : [];
  const texts = Object.entries(properties).filter(
    ([, value]) => isObject(value) && value["type"] === "string",
  );
  const [only] = texts;
  return only !== undefined && texts.length === 1 && required.every((name) => name === only[0])
    ? { kind: "words", field: only[0] }
    : { kind: "json" };
};

/** The text that an input is typed as. */
export const startingText = (kind: InputKind, input?: unknown): string => {
  if (kind.kind === "json")
    return input === undefined ? "{\n  \n}" : JSON.stringify(input, null, 2);
  if (input === undefined) return "";
  const words = kind.field !== undefined && isObject(input) ? input[kind.field] : input;
  return typeof words === "string" ? words : JSON.stringify(words);
};

/** The input that a text stands for, or what is wrong with it in a sentence. */
export const inputOfText = (
  kind: InputKind,
  text: string,
): { readonly input: Json } | InputProblem => {
  if (kind.kind === "words") {
    return { input: kind.field === undefined ? text : { [kind.field]: text } };
  }
  const read = parseJson(text);
  return read._tag === "Success" ? { input: read.success } : { problem: read.failure.message };
};
