/**
 * The singleton that keeps what is no history from growing: answers of commands that
 * nobody repeats any more, failed sign-ins past their window, hosts that are long
 * gone. Always on; what is history is `RetentionJob`'s, and the audit log is kept.
 */
import { Effect, type Layer, Schedule, Schema } from "effect";
import { type Sharding, Singleton } from "effect/unstable/cluster";
import { SqlClient } from "effect/unstable/sql";
import { transition } from "#server/postgres/Database.ts";

/** For so long a command id is known: a repeat of the same command answers as the first did. */
export const commandDays = 30;
/** A host that nobody has heard of for so long is forgotten; its work was taken over within seconds. */
export const workerDays = 7;
/** Failed sign-ins count for minutes. */
const attemptDays = 1;

/** Rows that go in one statement, so that no lock is held for long. */
const rowsAtOnce = 5_000;

const Gone = Schema.Tuple([Schema.Struct({ gone: Schema.Int })]);

/** One pass over the three tables; answers how many rows are gone. */
export const tidy = Effect.fn("Housekeeping.tidy")(function* () {
  const sql = yield* SqlClient.SqlClient;
  const olderThan = (days: number) => sql`now() - ${days} * interval '1 day'`;
  const statements = [
    sql`
      WITH old AS (
        SELECT tenant_id, command_id FROM operator_commands
        WHERE answered_at < ${olderThan(commandDays)} ORDER BY answered_at LIMIT ${rowsAtOnce}
      ), gone AS (
        DELETE FROM operator_commands c USING old o
        WHERE c.tenant_id = o.tenant_id AND c.command_id = o.command_id RETURNING 1
      ) SELECT count(*)::integer AS gone FROM gone`,
    sql`
      WITH gone AS (
        DELETE FROM workers WHERE heartbeat_at < ${olderThan(workerDays)} RETURNING 1
      ) SELECT count(*)::integer AS gone FROM gone`,
    sql`
      WITH old AS (
        SELECT ctid FROM sign_in_attempts
        WHERE attempted_at < ${olderThan(attemptDays)} LIMIT ${rowsAtOnce}
      ), gone AS (
        DELETE FROM sign_in_attempts a USING old o WHERE a.ctid = o.ctid RETURNING 1
      ) SELECT count(*)::integer AS gone FROM gone`,
  ];
  let total = 0;
  for (const statement of statements) {
    let gone: number;
    do {
      [{ gone }] = yield* transition(
        "Housekeeping.tidy",
        Effect.flatMap(statement, Schema.decodeUnknownEffect(Gone)),
      );
      total += gone;
    } while (gone >= rowsAtOnce);
  }
  return total;
});

export const housekeepingLayer: Layer.Layer<never, never, Sharding.Sharding | SqlClient.SqlClient> =
  Singleton.make(
    "Housekeeping",
    tidy().pipe(
      Effect.catchCause((cause) =>
        Effect.logWarning("Tidying up ended early and is tried again", cause),
      ),
      Effect.repeat(Schedule.spaced("1 hour")),
      Effect.asVoid,
    ),
  );
