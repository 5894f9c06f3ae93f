/** The migrated database that every test file clones, so that migrations run once per test run. */
import { existsSync } from "node:fs";
import path from "node:path";
import { NodeServices } from "@effect/platform-node";
import { PgClient } from "@effect/sql-pg";
import * as PgConnection from "@effect/sql-pg/PgConnection";
import { Effect, Layer, Redacted } from "effect";

export interface TestDatabase {
  /** Opens the database as the application's role: no superuser, so row-level security holds in tests too. */
  readonly url: string;
  /** Runs one statement as that role. */
  readonly query: (sql: string) => Promise<void>;
  /** Closes every connection and removes the database. */
  readonly drop: () => Promise<void>;
}

const template = "template_migrated";

const inDatabase = (url: string, database: string): string => {
  const parsed = new URL(url);
  parsed.pathname = `/${database}`;
  return parsed.toString();
};

const statement = (url: string, sql: string): Promise<void> =>
  Effect.runPromise(
    Effect.scoped(
      PgConnection.make({ url: Redacted.make(url) }).pipe(
        Effect.flatMap((connection) => connection.query(sql, [], false)),
        Effect.asVoid,
      ),
    ),
  );

/** Migrations.ts exports a layer named `layer`, or a class `Migrations` with that static. */
const migrationsLayer = async (): Promise<
  Layer.Layer<never, unknown, PgClient.PgClient> | undefined
> => {
  const file = path.resolve(import.meta.dirname, "../../server/postgres/Migrations.ts");
  if (!existsSync(file)) return undefined;
  const module = await import(/* @vite-ignore */ file);
  return module.layer ?? module.Migrations?.layer;
};

const migrate = async (url: string): Promise<void> => {
  const layer = await migrationsLayer();
  if (layer === undefined) return;
  const client = PgClient.layer({ url: Redacted.make(url), maxConnections: 2 });
  await Effect.runPromise(
    Effect.scoped(
      Layer.build(layer.pipe(Layer.provide(client), Layer.provide(NodeServices.layer))),
    ),
  );
};

export const prepareTemplate = async (
  adminUrl: string,
  applicationUrl: string,
): Promise<string> => {
  const owner = new URL(applicationUrl).username;
  await statement(adminUrl, `CREATE DATABASE "${template}" OWNER "${owner}"`);
  await migrate(inDatabase(applicationUrl, template));
  return template;
};

/** Clones the template into a database of its own; `drop` closes every connection to it. */
export const cloneTemplate = async (server: {
  readonly adminUrl: string;
  readonly applicationUrl: string;
  readonly template: string;
  readonly name: string;
}): Promise<TestDatabase> => {
  const owner = new URL(server.applicationUrl).username;
  await statement(
    server.adminUrl,
    `CREATE DATABASE "${server.name}" TEMPLATE "${server.template}" OWNER "${owner}"`,
  );
  const url = inDatabase(server.applicationUrl, server.name);
  return {
    url,
    query: (sql) => statement(url, sql),
    drop: () => statement(server.adminUrl, `DROP DATABASE IF EXISTS "${server.name}" WITH (FORCE)`),
  };
};
