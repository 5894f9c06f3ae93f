/**
 * What the shop says when it will not do a thing: an expected outcome that the
 * model reads and can act on, not a breakdown. Outside it is the plain text
 * `Error: <reason>`, as the public retail data sets record it.
 */
import { Schema, SchemaGetter } from "effect";

export class Refusal extends Schema.TaggedError<Refusal>()("Refusal", { reason: Schema.String }) {
  override get message(): string {
    return `Error: ${this.reason}`;
  }
}

const prefix = "Error: ";

/** The failure schema of every tool of the desk. */
export const RefusalText = Schema.String.pipe(
  Schema.decodeTo(Refusal, {
    decode: SchemaGetter.transform((text: string) => ({
      _tag: "Refusal" as const,
      reason: text.startsWith(prefix) ? text.slice(prefix.length) : text,
    })),
    encode: SchemaGetter.transform(
      (refusal: { readonly reason: string }) => `${prefix}${refusal.reason}`,
    ),
  }),
);

/** Refuses with `reason`, which the model sees after `Error: `. */
export const refuse = (reason: string) => new Refusal({ reason });
