/** The floor that no durable call can beat here: two bare commits on one connection. */
import * as PgConnection from "@effect/sql-pg/PgConnection";
import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";

export const bareCommits = Effect.fnUntraced(function* (url: string) {
  const connection = yield* PgConnection.make({ url: Redacted.make(url) });
  yield* connection.query(
    "CREATE TABLE floor_rows (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text)",
    [],
  );
  const commit = connection.query("INSERT INTO floor_rows (body) VALUES ($1)", ["x".repeat(200)]);
  /** Milliseconds per pair of commits, over `count` pairs. */
  return (count: number) =>
    Effect.gen(function* () {
      const from = performance.now();
      for (let index = 0; index < count; index++) {
        yield* commit;
        yield* commit;
      }
      return (performance.now() - from) / count;
    });
});
