/**
 * The singleton that keeps the tables bounded: an hour apart, one pass of retention.
 * It exists only where the settings ask for it, and whatever it meets is tried again
 * by the next pass.
 */
import { Effect, Layer, Schedule } from "effect";
import { type Sharding, Singleton } from "effect/unstable/cluster";
import type { SqlClient } from "effect/unstable/sql/SqlClient";
import type { Audit } from "#lib/durable/Audit.ts";
import { retain, type RetentionOptions } from "#server/retention/retain.ts";

export const retentionLayer = (
  options: Omit<RetentionOptions, "onProgress">,
): Layer.Layer<never, never, Audit | Sharding.Sharding | SqlClient> =>
  Singleton.make(
    "Retention",
    retain({ ...options, onProgress: (line) => Effect.logInfo(`Retention: ${line}`) }).pipe(
      Effect.catchCause((cause) =>
        Effect.logWarning("A retention pass ended early and is tried again", cause),
      ),
      Effect.repeat(Schedule.spaced("1 hour")),
      Effect.asVoid,
    ),
  );
