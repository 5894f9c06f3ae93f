/** Pages of a kept result: exact, bounded in bytes, and never in the middle of a character. Pure. */
import * as Schema from "effect/Schema";
import { fitForwards } from "#lib/contract/json/bounded-result.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import { utf8ByteLength } from "#lib/contract/json/utf8.ts";

/** A part of a kept result; offsets count UTF-16 code units, as the envelope's do. */
export const ResultPage = Schema.Struct({
  text: Schema.String,
  /** Where `text` begins: what was asked, or the beginning of the character it fell into. */
  offset: Schema.Int,
  /** Where to read on; null at the end of what is kept. */
  nextOffset: Schema.NullOr(Schema.Int),
  /** The length of what is kept. */
  totalLength: Schema.Int,
  /** Set where the end of what is kept is not the end of the result. */
  notice: Schema.optionalKey(Schema.String),
});
export type ResultPage = typeof ResultPage.Type;

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Whether a cut here would part the two halves of one character. */
const parts = (source: string, index: number): boolean =>
  isHigh(source.charCodeAt(index - 1)) && isLow(source.charCodeAt(index));

/**
 * @param source the kept text
 * @param offset inside the text
 * @param length most code units wanted; at least one character comes
 * @param maxBytes most UTF-8 bytes of the page's own JSON text, at least 256
 * @param notice what is said of a text of which only the beginning is kept
 */
export const pageOf = (
  source: string,
  offset: number,
  length: number,
  maxBytes: number,
  notice?: string,
): ResultPage => {
  const start = parts(source, offset) ? offset - 1 : offset;
  const page = {
    offset: start,
    totalLength: source.length,
    ...(notice === undefined ? {} : { notice }),
  };
  // No offset is longer than the last one, and `null` takes as much as four digits.
  const empty = canonicalJson({ ...page, text: "", nextOffset: Math.max(source.length, 1_000) });
  const wanted = Math.min(source.length, start + Math.max(1, length));
  const whole = parts(source, wanted) ? (wanted - 1 > start ? wanted - 1 : wanted + 1) : wanted;
  const fitting = fitForwards(source, start, maxBytes - utf8ByteLength(empty));
  const end = Math.min(whole, fitting);
  return {
    ...page,
    text: source.slice(start, end),
    nextOffset: end < source.length ? end : null,
  };
};
