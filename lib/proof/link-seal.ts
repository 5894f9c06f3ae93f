/**
 * How a record of another run joins a pack's chain without a word of what it says.
 *
 * A row's digest is the SHA-256 of canonical JSON in which `body` comes first. So the state of the hash after
 * the block in which the body ends is enough to make the digest again from the row's place, and it binds the
 * body as its own digest would. Nothing about stored records changes: every journal, old ones too, has it.
 * Up to 63 bytes behind the body lie in that same block: of the place, the epoch and at most 34 of the 64
 * digits of `previousDigest` are then bound inside the state and not made again in the open. Pure.
 */
import { _SHA256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import * as Schema from "effect/Schema";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";

/** Eight words of 32 bits, as hexadecimal digits, and where in the digested text the body ends. */
export const LinkSeal = Schema.Struct({
  state: Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)),
  /** Bytes of the digested text up to the end of the body: its length is the one thing told of it. */
  bytes: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER - 64 })),
});
export type LinkSeal = typeof LinkSeal.Type;

/** A row's place in its thread's chain. */
export interface LinkPlace {
  readonly threadId: string;
  readonly epoch: number;
  readonly sequence: number;
  readonly previousDigest: string;
}

const blockBytes = 64;
const wordDigits = 8;

/** A SHA-256 that can be put down between two blocks and taken up again elsewhere. */
class PausableSha256 extends _SHA256 {
  /** The state; of whole blocks only, so the length given to `update` before must be a multiple of 64. */
  state(): string {
    return this.get()
      .map((word) => (word >>> 0).toString(16).padStart(wordDigits, "0"))
      .join("");
  }

  static resumed(state: string, length: number): PausableSha256 {
    const word = (index: number): number =>
      Number.parseInt(state.slice(index * wordDigits, (index + 1) * wordDigits), 16) | 0;
    const hash = new PausableSha256();
    hash.set(word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7));
    hash.length = length;
    return hash;
  }
}

/** What follows the body in the text that `rowDigest` digests. */
const behindBody = ({ epoch, previousDigest, sequence, threadId }: LinkPlace): Uint8Array =>
  utf8ToBytes(`,${canonicalJson({ epoch, previousDigest, sequence, threadId }).slice(1)}`);

/** Bytes of the place that share the body's last block. */
const sharedBytes = (bytes: number): number => (blockBytes - (bytes % blockBytes)) % blockBytes;

/** The seal of a stored row; together with its place it gives the row's digest again. */
export const sealOf = (row: LinkPlace & { readonly body: string }): LinkSeal => {
  const body = utf8ToBytes(`{"body":${canonicalJson(row.body)}`);
  const hash = new PausableSha256();
  hash.update(body).update(behindBody(row).subarray(0, sharedBytes(body.length)));
  return { state: hash.state(), bytes: body.length };
};

/** The digest that a row of this place and this body has. */
export const sealedDigest = (place: LinkPlace, { bytes, state }: LinkSeal): string => {
  const shared = sharedBytes(bytes);
  const hash = PausableSha256.resumed(state, bytes + shared);
  return bytesToHex(hash.update(behindBody(place).subarray(shared)).digest());
};
