/**
 * Without cluster settings a host works alone: a session lock in Postgres keeps a
 * second one out, which would not find the first one's threads and only be fenced.
 * The lock goes with its connection, so a killed process leaves nothing behind.
 */
import { Deferred, Effect, Schedule, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";

/** Another host without cluster settings already works on this database. */
export class HostAlreadyRunning extends Schema.TaggedError<HostAlreadyRunning>()(
  "HostAlreadyRunning",
  {},
) {
  override get message() {
    return "Another host already works on this database. Stop it, or set CLUSTER_ADDRESS on every host so that they share the work.";
  }
}

/** One number for the whole installation; any fixed value serves. */
const lockKey = 7_304_291;

const Answer = Schema.Tuple([Schema.Struct({ locked: Schema.Boolean })]);

/** Holds the lock on a connection of its own until that connection fails; `held` is told once it is taken. */
const holdOnce = Effect.fnUntraced(function* (held: Effect.Effect<unknown>) {
  const sql = yield* SqlClient.SqlClient;
  const connection = yield* sql.reserve;
  const run = (statement: string) => connection.execute(statement, [], undefined);
  yield* run(`SELECT pg_try_advisory_lock(${lockKey}) AS locked`).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Answer)),
    Effect.flatMap(([{ locked }]) => (locked ? Effect.void : new HostAlreadyRunning())),
    // A host that was just killed may still be leaving: its connection closes within a second or two.
    Effect.retry({
      schedule: Schedule.max([Schedule.spaced("250 millis"), Schedule.recurs(20)]),
      while: (error) => error instanceof HostAlreadyRunning,
    }),
  );
  yield* Effect.addFinalizer(() => Effect.ignore(run(`SELECT pg_advisory_unlock(${lockKey})`)));
  yield* held;
  return yield* run("SELECT 1").pipe(Effect.delay("5 seconds"), Effect.forever);
}, Effect.scoped);

/**
 * Takes the lock for as long as the scope is open. A database that restarts
 * forgets it, so it is taken again on a new connection; until then the epochs
 * alone keep two hosts from writing over each other.
 */
export const holdHostLock = Effect.gen(function* () {
  const taken = yield* Deferred.make<void, Effect.Error<ReturnType<typeof holdOnce>>>();
  const hold = holdOnce(Deferred.succeed(taken, undefined)).pipe(
    Effect.tapError((error) => Deferred.fail(taken, error)),
    Effect.tapError((error) =>
      Effect.logWarning("The host lock is lost and is taken again", error.message),
    ),
    Effect.retry(Schedule.spaced("2 seconds")),
  );
  yield* Effect.forkScoped(hold);
  yield* Deferred.await(taken);
});
