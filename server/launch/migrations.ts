/** Brings a database to this release's schema; several hosts may start at once. */
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import type * as Redacted from "effect/Redacted";
import { packageRoot } from "#server/package-root.ts";
import * as Database from "#server/postgres/Database.ts";
import * as Migrations from "#server/postgres/Migrations.ts";

/** The number of the newest migration this release brings; 0 when it brings none. */
export const newestMigration = Effect.sync(() => {
  const folder = path.join(packageRoot, "migrations");
  const numbers = existsSync(folder)
    ? readdirSync(folder).map((name) => Number.parseInt(name, 10))
    : [];
  return Math.max(0, ...numbers.filter(Number.isInteger));
});

/** Applies what is missing; another host that starts at the same time waits for this one. */
export const applyMigrations = (url: Redacted.Redacted) =>
  Layer.build(
    Migrations.layer.pipe(Layer.provide(Database.layer({ url, maxConnections: 1 }))),
  ).pipe(Effect.scoped, Effect.asVoid);
