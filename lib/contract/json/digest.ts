import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { canonicalJson } from "./canonical-json.ts";
import type { Json } from "./json.ts";

const hexOfText = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)));

type HashText = (algorithm: "sha256", text: string, encoding: "hex") => string;

/** What Node has among its globals. The library is compiled without Node's types, because a browser has none of it. */
interface MaybeNode {
  readonly process?: {
    readonly getBuiltinModule?: (name: string) => { readonly hash?: HashText } | undefined;
  };
}

/** Node's own hash in one step, where the text is hashed on a server: a tenth of the time. Asked for by name, so that no bundle for a browser holds it. */
const nativeHexOfText = (): ((text: string) => string) | undefined => {
  // Every field is optional and looked at before it is used: true of any global object.
  const { process } = globalThis as MaybeNode;
  const hash = process?.getBuiltinModule?.("node:crypto")?.hash;
  return hash === undefined ? undefined : (text) => hash("sha256", text, "hex");
};

/**
 * SHA-256 of a text's UTF-8 bytes, as 64 lower-case hexadecimal digits. Synchronous and the same in a
 * browser and on a server. Lone surrogates count as U+FFFD, so hash canonical text, which has none.
 */
export const sha256Hex: (text: string) => string = nativeHexOfText() ?? hexOfText;

/**
 * The digest of a JSON value: {@link sha256Hex} of its canonical text. Equal values have equal digests
 * whatever the order of their keys. Throws `JsonValueInvalid` when the value is not JSON.
 */
export const digestOf = (value: Json): string => sha256Hex(canonicalJson(value));
