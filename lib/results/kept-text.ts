/**
 * What is kept of a result that is too large for the model, and how it is read:
 * the canonical JSON text, or its beginning where it passes a bound (R52). Pure.
 */
import type { Json } from "#lib/contract/json/json.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import { sha256Hex } from "#lib/contract/json/digest.ts";
import { utf8Beginning, utf8ByteLength } from "#lib/contract/json/utf8.ts";
import { Digest, type ResultId, type ToolCallId } from "#lib/contract/ids.ts";
import type { RunRecord } from "#lib/contract/records.ts";

/** Most UTF-8 bytes that are kept of one result: 8 MiB. */
export const maxKeptResultBytes = 8_388_608;

/** Most UTF-8 bytes that are kept of all results of one run: 32 MiB. */
export const maxKeptRunBytes = 33_554_432;

/** A text that is stored in the same append as the settlement that names it. */
export interface ResultToKeep {
  readonly resultId: ResultId;
  readonly turn: number;
  readonly callId: ToolCallId;
  /** UTF-8 bytes of the whole result's canonical JSON text. */
  readonly originalBytes: number;
  /** UTF-8 bytes of `text`. */
  readonly bytes: number;
  /** SHA-256 of `text`. */
  readonly digest: Digest;
  /** The canonical JSON text, or its beginning. */
  readonly text: string;
}

/**
 * @param place which call's result it is
 * @param room how many bytes the run may still keep
 * @returns the whole text where it fits, else the longest beginning that can be read by itself
 */
export const keepText = (
  place: Pick<ResultToKeep, "resultId" | "turn" | "callId">,
  encoded: Json,
  room: number,
): ResultToKeep => {
  const whole = canonicalJson(encoded);
  const originalBytes = utf8ByteLength(whole);
  const limit = Math.min(maxKeptResultBytes, room);
  const text = originalBytes <= limit ? whole : beginningOf(whole, limit);
  return {
    ...place,
    originalBytes,
    bytes: text === whole ? originalBytes : utf8ByteLength(text),
    digest: Digest.make(sha256Hex(text)),
    text,
  };
};

const isStringText = (text: string): boolean => text.startsWith('"');

/** A string's text that was cut is closed before it is read. */
const readString = (text: string): unknown => JSON.parse(`${text}"`);

const isReadable = (text: string): boolean => {
  try {
    readString(text);
    return true;
  } catch {
    return false;
  }
};

/** Never cuts a character, nor an escape of a string: the longest has six characters. */
const beginningOf = (whole: string, maxBytes: number): string => {
  let text = utf8Beginning(whole, Math.max(0, maxBytes));
  if (!isStringText(text)) return text;
  while (text !== "" && !isReadable(text)) text = text.slice(0, -1);
  return text;
};

/**
 * What head, tail and pages are cut from: a string result as the string itself,
 * every other as its JSON text.
 */
export const sourceOf = ({
  bytes,
  originalBytes,
  text,
}: Pick<ResultToKeep, "bytes" | "originalBytes" | "text">): string => {
  if (!isStringText(text)) return text;
  return String(bytes === originalBytes ? JSON.parse(text) : readString(text));
};

/** The bytes that a run has kept so far. */
export const keptBytesOf = (records: ReadonlyArray<RunRecord>): number =>
  records.reduce(
    (bytes, record) =>
      record._tag === "ToolCallSettled" && record.kept !== undefined
        ? bytes + record.kept.bytes
        : bytes,
    0,
  );
