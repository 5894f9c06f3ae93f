import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { canonicalJson } from "./canonical-json.ts";
import type { Json } from "./json.ts";

/**
 * SHA-256 of a text's UTF-8 bytes, as 64 lower-case hexadecimal digits. Synchronous and the same in a
 * browser and on a server. Lone surrogates count as U+FFFD, so hash canonical text, which has none.
 */
export const sha256Hex = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)));

/**
 * The digest of a JSON value: {@link sha256Hex} of its canonical text. Equal values have equal digests
 * whatever the order of their keys. Throws `JsonValueInvalid` when the value is not JSON.
 */
export const digestOf = (value: Json): string => sha256Hex(canonicalJson(value));
