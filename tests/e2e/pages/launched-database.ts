/** The bundled database of a launched product, for what no operator can do: time that passes, a shop that breaks. */
import { readFileSync } from "node:fs";
import path from "node:path";
import * as PgConnection from "@effect/sql-pg/PgConnection";
import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";
import { urlOf } from "#server/postgres/embedded/bootstrap.ts";

/** Runs one statement as the application's role and answers its rows. */
export const inDatabaseOf = (
  dataFolder: string,
  statement: string,
  parameters: ReadonlyArray<unknown> = [],
): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> => {
  const kept = (name: string): string =>
    readFileSync(path.join(dataFolder, "postgres", name), "utf8").trim();
  const url = urlOf({
    port: Number(kept("port")),
    username: "effect_agent",
    password: kept("password"),
    database: "effect_agent",
  });
  return Effect.runPromise(
    Effect.scoped(
      PgConnection.make({ url: Redacted.make(url) }).pipe(
        Effect.flatMap((connection) => connection.query(statement, parameters)),
        Effect.map(({ rows }) => rows),
      ),
    ),
  );
};
