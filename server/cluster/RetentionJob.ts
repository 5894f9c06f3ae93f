/**
 * The singleton that keeps the tables bounded: an hour apart, one pass of retention.
 * It exists only where the settings ask for it, and whatever it meets is tried again
 * by the next pass.
 */
import path from "node:path";
import { Effect, Layer, Option, Schedule } from "effect";
import { type Sharding, Singleton } from "effect/unstable/cluster";
import type { SqlClient } from "effect/unstable/sql/SqlClient";
import type { Audit } from "#lib/durable/Audit.ts";
import { ServerConfig, SettingRefused } from "#server/Config.ts";
import { ageSeconds } from "#server/retention/age.ts";
import { retain, type RetentionOptions } from "#server/retention/retain.ts";

const retentionLayer = (
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

/** Off unless both settings are there; one without the other is refused before anything starts. */
export const retentionOfSettings = Layer.unwrap(
  Effect.gen(function* () {
    const { retentionOlderThan, retentionTo } = yield* ServerConfig;
    const age = Option.flatMapNullishOr(retentionOlderThan, ageSeconds);
    if (Option.isNone(age) && Option.isNone(retentionTo)) return Layer.empty;
    if (Option.isNone(age) || Option.isNone(retentionTo)) {
      const missing = Option.isNone(age) ? "RETENTION_OLDER_THAN" : "RETENTION_TO";
      return yield* new SettingRefused({
        name: missing,
        message: `${missing} must be set too, or neither it nor its companion: retention needs an age and a place. Change it and start again.`,
      });
    }
    const folder = retentionTo.value === "delete" ? undefined : path.resolve(retentionTo.value);
    return retentionLayer({ olderThanSeconds: age.value, folder });
  }),
);
