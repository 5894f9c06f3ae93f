import type { InnerCallView } from "#lib/contract/run-views.ts";

/** What is known of how long a call went on. */
export type CallSpan = Pick<InnerCallView, "state" | "endedAt" | "doubt" | "broke">;

/**
 * When a call stopped, or null while it goes on. Nobody knows when one in doubt did: it stands still from the
 * moment that the doubt was recorded, whether or not a person has answered it since (C074).
 */
export const callEnd = ({ doubt, endedAt, state }: CallSpan): number | null =>
  endedAt ?? (state === "unknown" ? (doubt?.since ?? null) : null);
