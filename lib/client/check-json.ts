/**
 * What is wrong with a JSON text that a person types, line by line, while they type: the syntax, what a
 * reader would silently change, and what the schema plainly refuses. The server checks again, all of it.
 */
import { parseJson } from "../contract/json/secure-parse.ts";
import { type ExactJson, ExactJsonUnreadable, parseExactJson } from "./exact-json.ts";
import { offsetsOf, placeAt, type TextPlace } from "./json-place.ts";
import { schemaFaults } from "./schema-faults.ts";

export interface JsonProblem extends TextPlace {
  readonly message: string;
}

export type CheckedJson =
  | { readonly value: ExactJson; readonly problems: ReadonlyArray<JsonProblem> }
  | { readonly value: undefined; readonly problems: ReadonlyArray<JsonProblem> };

/** @param schema the JSON Schema that the value must meet, as far as it is understood here */
export const checkJson = (text: string, schema: unknown): CheckedJson => {
  const at = (offset: number, message: string): CheckedJson => ({
    value: undefined,
    problems: [{ ...placeAt(text, offset), message }],
  });
  if (text.trim() === "") return at(0, "There is no value yet.");
  let value: ExactJson;
  try {
    value = parseExactJson(text);
  } catch (error) {
    return error instanceof ExactJsonUnreadable
      ? at(error.offset, error.message.replace(/ at character \d+$/, "."))
      : at(0, "The text cannot be read.");
  }
  const parsed = parseJson(text);
  if (parsed._tag === "Failure") {
    const { failure } = parsed;
    const offset =
      failure._tag === "JsonTextInvalid" && failure.offset !== undefined ? failure.offset : 0;
    return at(offset, failure.message);
  }
  const offsets = offsetsOf(text);
  return {
    value,
    problems: schemaFaults(value, schema).map(({ path, message }) => ({
      ...placeAt(text, offsets.get(path) ?? 0),
      message,
    })),
  };
};

/** The path that a decoder's sentence names, such as `at ["items"][2]`, as `$.items[2]`; `$` for none. */
export const pathInMessage = (message: string): string => {
  const named = /\bat ((?:\["(?:[^"\\]|\\.)*"\]|\[\d+\])+)/.exec(message)?.[1] ?? "";
  return `$${named.replaceAll(/\["([A-Za-z_$][A-Za-z0-9_$]*)"\]/g, ".$1")}`;
};
