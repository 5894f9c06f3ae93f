/**
 * Without cluster settings a host works alone: a session lock in Postgres keeps a
 * second one out, which would not find the first one's threads and only be fenced.
 * The lock goes with its connection, so a killed process leaves nothing behind.
 */
import { Effect, Schedule, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";

/** Another host without cluster settings already works on this database. */
export class HostAlreadyRunning extends Schema.TaggedError<HostAlreadyRunning>()("HostAlreadyRunning", {}) {
  override get message() {
    return "Another host already works on this database. Stop it, or set CLUSTER_ADDRESS on every host so that they share the work.";
  }
}

/** One number for the whole installation; any fixed value serves. */
const lockKey = 7_304_291;

/** Takes the lock for as long as the scope is open; the last holder may take a moment to let go. */
export const holdHostLock = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const connection = yield* sql.reserve;
  const run = (sql: string) => connection.execute(sql, [], undefined);
  const attempt = run(`SELECT pg_try_advisory_lock(${lockKey}) AS locked`).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ locked: Schema.Boolean })]))),
    Effect.flatMap(([{ locked }]) => (locked ? Effect.void : new HostAlreadyRunning())),
  );
  // A host that was just killed may still be leaving: its connection closes within a second or two.
  yield* attempt.pipe(
    Effect.retry({
      schedule: Schedule.max([Schedule.spaced("250 millis"), Schedule.recurs(20)]),
      while: (error) => error instanceof HostAlreadyRunning,
    }),
  );
  yield* Effect.addFinalizer(() => Effect.ignore(run(`SELECT pg_advisory_unlock(${lockKey})`)));
});
