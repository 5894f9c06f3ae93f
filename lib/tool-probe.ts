/**
 * A tool's read-only question to the destination: "do you know this idempotency
 * key?" The answer is evidence for the person who settles an effect in doubt;
 * only a rule that the tool declares beside it lets an answer settle the call.
 *
 * @example
 * ```ts
 * const probes = {
 *   issue_refund: {
 *     ask: ({ idempotencyKey }) => findAtProvider(idempotencyKey),
 *     settles: { notFound: "safe-to-retry" },
 *   },
 * } satisfies Readonly<Record<string, ToolProbe>>;
 * ```
 */
import type * as Effect from "effect/Effect";
import type { Json } from "#lib/contract/json/json.ts";

/** A call that had started and has no result. */
export interface LostCall {
  readonly toolName: string;
  readonly callId: string;
  readonly turn: number;
  /** Encoded, as the handler was started with them. */
  readonly parameters: Json;
  readonly idempotencyKey: string;
}

/**
 * What the destination says. `detail` is one sentence for operators, at most
 * 2,000 characters are kept, no secrets. `result` is the call's encoded result as
 * its schema has it, where the destination knows it; at most 64 KiB are kept.
 */
export type ProbeAnswer =
  | {
      readonly _tag: "found";
      readonly detail: string;
      readonly result?: Json;
      /** The result is the tool's own failure, not its success. Default false. */
      readonly isFailure?: boolean;
    }
  | { readonly _tag: "not-found"; readonly detail: string }
  | { readonly _tag: "inconclusive"; readonly detail: string };

/**
 * Which answers settle a call; absent ones never do. `found` takes the answer's
 * result when the tool's schema accepts it. `notFound` is for destinations that
 * cannot still be about to act on the request.
 */
export interface ProbeRule {
  readonly found?: "completed-with-result";
  readonly notFound?: "never-happened" | "safe-to-retry";
}

/** How a tool's destination is asked about a call in doubt, and what its answer may settle (DU-04, DU-06). */
export interface ToolProbe {
  /** Must only read. It is given up after 10 seconds; a failure or a defect is recorded as "the probe failed" and settles nothing. */
  readonly ask: (call: LostCall) => Effect.Effect<ProbeAnswer, unknown>;
  readonly settles?: ProbeRule;
}
