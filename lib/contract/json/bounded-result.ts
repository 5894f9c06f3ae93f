import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { canonicalJson } from "./canonical-json.ts";
import type { Json } from "./json.ts";
import { checkJsonBounds, isSmallJson } from "./json-bounds.ts";
import { utf8ByteLength } from "./utf8.ts";

/** Default size of one tool result in UTF-8 bytes of its JSON text: 50 KiB (T-18). */
export const defaultResultBytes = 51_200;

/** Smallest size that can be asked for; a smaller one is raised to it (T-18). */
export const minResultBytes = 256;

/** Where the whole text of a bounded result can be read: the call to make, from where the head ended. */
export const ReadOn = Schema.Struct({
  tool: Schema.String,
  /** As the call takes them, so that a model can copy them. */
  parameters: Schema.Struct({
    resultId: Schema.String,
    /** In UTF-16 code units of what head and tail are of; never inside a surrogate pair. */
    offset: Schema.Number,
  }),
  /** Set where only so many UTF-8 bytes of the beginning are kept. */
  keptBytes: Schema.optionalKey(Schema.Number),
});
export type ReadOn = typeof ReadOn.Type;

/**
 * What stands in for a tool result that is too large: its beginning, its end and its true size. The
 * same in the event, the record and the prompt (T-18, R52). One that is small and yet too deep or too
 * wide to be stored as a value is shown as text in the same way (PG-06, R54).
 */
export const TruncatedResult = Schema.Struct({
  truncated: Schema.Literal(true),
  /** `text`: head and tail are of the string itself. `json`: they are of the value's JSON text. */
  format: Schema.Literals(["text", "json"]),
  /** UTF-8 bytes of the whole result's JSON text. */
  originalBytes: Schema.Number,
  head: Schema.String,
  tail: Schema.String,
  /** Only where the model was offered the tool that it names. */
  readOn: Schema.optionalKey(ReadOn),
});
export type TruncatedResult = typeof TruncatedResult.Type;

/**
 * Bounds an encoded tool result, once, at settlement.
 *
 * @param encoded the result as JSON
 * @param maxBytes most UTF-8 bytes of JSON text, envelope and escapes included; at least 256, default 50 KiB
 * @param readOn what the envelope says about reading on; its offset is added here
 * @returns the same value when it fits and keeps the limits of stored values, else a {@link TruncatedResult} that fits and never splits a character
 */
export const boundResult = (
  encoded: Json,
  maxBytes: number = defaultResultBytes,
  readOn?: Pick<ReadOn, "tool" | "keptBytes"> & { readonly resultId: string },
): Json => measureResult(encoded, maxBytes, readOn).result;

/** {@link boundResult} together with the true size, which the text that is made for it tells. */
export const measureResult = (
  encoded: Json,
  maxBytes: number = defaultResultBytes,
  readOn?: Parameters<typeof boundResult>[2],
): { readonly result: Json; readonly originalBytes: number } => {
  const limit = Number.isFinite(maxBytes)
    ? Math.max(minResultBytes, Math.floor(maxBytes))
    : defaultResultBytes;
  const text = canonicalJson(encoded);
  const originalBytes = utf8ByteLength(text);
  if (
    originalBytes <= limit &&
    (isSmallJson(encoded, text.length) || Result.isSuccess(checkJsonBounds(encoded)))
  )
    return { result: encoded, originalBytes };
  const source = typeof encoded === "string" ? encoded : text;
  const envelope: TruncatedResult = {
    truncated: true,
    format: typeof encoded === "string" ? "text" : "json",
    originalBytes,
    head: "",
    tail: "",
    // No offset is longer than the last one.
    ...readOnFrom(readOn, source.length),
  };
  const budget = limit - utf8ByteLength(canonicalJson(envelope));
  // The beginning says more than the end: two thirds to one.
  const headEnd = fitForwards(source, 0, Math.floor((budget * 2) / 3));
  const headCost = escapedLength(source.slice(0, headEnd));
  const tailStart = fitBackwards(source, headEnd, budget - headCost);
  const result = {
    ...envelope,
    head: source.slice(0, headEnd),
    tail: source.slice(tailStart),
    ...readOnFrom(readOn, headEnd),
  };
  return { result, originalBytes };
};

const readOnFrom = (
  readOn: Parameters<typeof boundResult>[2],
  offset: number,
): Pick<TruncatedResult, "readOn"> => {
  if (readOn === undefined) return {};
  const { resultId, ...rest } = readOn;
  return { readOn: { ...rest, parameters: { resultId, offset } } };
};

/** UTF-8 bytes of a text inside a JSON string, without the quotes. */
const escapedLength = (text: string): number => utf8ByteLength(JSON.stringify(text)) - 2;

/** The end of the longest run of whole characters from `start` whose escaped size fits. */
export const fitForwards = (source: string, start: number, budget: number): number => {
  let left = budget;
  let index = start;
  while (index < source.length) {
    // The index is inside the text, so there is a code point.
    const character = String.fromCodePoint(source.codePointAt(index) ?? 0);
    left -= escapedLength(character);
    if (left < 0) return index;
    index += character.length;
  }
  return index;
};

/** The start of the longest run of whole characters up to the end, not before `floor`, whose escaped size fits. */
const fitBackwards = (source: string, floor: number, budget: number): number => {
  let left = budget;
  let index = source.length;
  while (index > floor) {
    const unit = source.charCodeAt(index - 1);
    const before = source.charCodeAt(index - 2);
    const isPair =
      unit >= 0xdc00 &&
      unit <= 0xdfff &&
      before >= 0xd800 &&
      before <= 0xdbff &&
      index - 2 >= floor;
    const start = isPair ? index - 2 : index - 1;
    left -= escapedLength(source.slice(start, index));
    if (left < 0) return index;
    index = start;
  }
  return index;
};
