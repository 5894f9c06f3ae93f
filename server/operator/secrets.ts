/**
 * Secrets that the server hands out: shown once, kept only as a digest. They
 * carry 256 bits of the system's randomness, so a plain SHA-256 cannot be
 * searched; passwords, which people choose, go through `passwords.ts`.
 */
import { createHash, randomBytes } from "node:crypto";
import * as Effect from "effect/Effect";

/** The prefix says what a leaked secret opens, so that scanners can find it. */
export type SecretKind = "eas" | "eal" | "eat";

/** `eas_` sign-in cookie, `eal_` one-time link, `eat_` bearer token; 43 characters of base64url after it. */
export const newSecret = (kind: SecretKind): Effect.Effect<string> =>
  Effect.sync(() => `${kind}_${randomBytes(32).toString("base64url")}`);

/** 32 lower-case hexadecimal characters of the system's randomness, for ids that nobody may guess. */
export const newId = (prefix: string): Effect.Effect<string> =>
  Effect.sync(() => `${prefix}_${randomBytes(16).toString("hex")}`);

/** Rows are found by this digest, so no comparison ever runs over the secret itself. */
export const secretDigest = (secret: string): string =>
  createHash("sha256").update(secret, "utf8").digest("hex");
