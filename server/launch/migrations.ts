/** Brings a database to this release's schema; several hosts may start at once. */
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import * as Effect from "effect/Effect";
import type * as Redacted from "effect/Redacted";
import { packageRoot } from "#server/package-root.ts";

/** The number of the newest migration this release brings; 0 when it brings none. */
export const newestMigration = Effect.sync(() => {
  const folder = path.join(packageRoot, "migrations");
  const numbers = existsSync(folder)
    ? readdirSync(folder).map((name) => Number.parseInt(name, 10))
    : [];
  return Math.max(0, ...numbers.filter(Number.isInteger));
});

// ponytail: until server/postgres/Migrations.ts exists this applies nothing.
export const applyMigrations = (_url: Redacted.Redacted) => Effect.void;
