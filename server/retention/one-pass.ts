/** Passes of several processes would write the same archives twice: a lock of the database lets one work. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import { transition } from "#server/postgres/Database.ts";

export class RetentionBusy extends Schema.TaggedError<RetentionBusy>()("RetentionBusy", {}) {
  override get message() {
    return "Another process archives or deletes on this database at this moment; try again when it is done.";
  }
}

/** One number for the whole installation; any fixed value serves. */
const lockKey = 7_517_023;

const Answer = Schema.Tuple([Schema.Struct({ locked: Schema.Boolean })]);

/** The lock is held on a connection of its own and goes with it, also when the process is killed. */
export const onePass = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient;
      const connection = yield* transition("Retention.lock", sql.reserve);
      const run = (statement: string) => connection.execute(statement, [], undefined);
      const [{ locked }] = yield* transition(
        "Retention.lock",
        Effect.flatMap(
          run(`SELECT pg_try_advisory_lock(${lockKey}) AS locked`),
          Schema.decodeUnknownEffect(Answer),
        ),
      );
      if (!locked) return yield* new RetentionBusy();
      yield* Effect.addFinalizer(() => Effect.ignore(run(`SELECT pg_advisory_unlock(${lockKey})`)));
      return yield* work;
    }),
  );
