/** One throw-away PostgreSQL with the durability of the default settings (fsync on), and databases on it. */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import * as PgConnection from "@effect/sql-pg/PgConnection";
import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";
import { start } from "#server/postgres/embedded/EmbeddedPostgres.ts";

const databaseUrl = (url: string, name: string): string => {
  const parsed = new URL(url);
  parsed.pathname = `/${name}`;
  return parsed.toString();
};

/** Makes a database of its own for each runtime that is measured; lives as long as the scope. */
export const benchServer = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(path.join(os.tmpdir(), "effect-agent-bench-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true })),
  );
  const server = yield* start({ folder, name: "bench" });
  const admin = yield* PgConnection.make({ url: Redacted.make(server.adminUrl) });
  const owner = new URL(server.url).username;
  return {
    makeDatabase: (name: string) =>
      // Names and owner are this file's own, never a caller's text.
      Effect.as(
        admin.query(`CREATE DATABASE "${name}" OWNER "${owner}"`),
        databaseUrl(server.url, name),
      ),
  };
});
