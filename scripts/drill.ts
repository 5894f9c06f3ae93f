/**
 * `npm run drill [-- --failpoint NAME] [--tool MODULE#export]`: kills a host at every failpoint on a throw-away
 * PostgreSQL and prints what the provider saw. `--tool` names a target of your own (lib/testing/DrillTarget.ts);
 * places that its calls never come to, such as those of an approval, say that they were not reached.
 */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import * as NodeRuntime from "@effect/platform-node/NodeRuntime";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Console, Effect, Layer, Redacted } from "effect";
import { failpoints } from "#lib/testing/failpoints.ts";
import * as Database from "#server/postgres/Database.ts";
import { start } from "#server/postgres/embedded/EmbeddedPostgres.ts";
import * as Migrations from "#server/postgres/Migrations.ts";
import {
  bundleHost,
  bundleTarget,
  drillAt,
  drillSummary,
  type DrillRow,
  prepareDrill,
} from "#tests/crash/drill.ts";

const { values } = parseArgs({
  options: { failpoint: { type: "string", multiple: true }, tool: { type: "string" } },
});

const lineOf = (row: DrillRow): string =>
  [
    row.failpoint.padEnd(42),
    row.killed ? "killed" : "NOT REACHED",
    `effects ${row.effects}`,
    `settlements ${row.settlements}`,
    `unknowns ${row.unknowns}`,
    row.stuck ? "STUCK" : row.outcome,
  ].join("  ");

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(os.tmpdir(), "effect-agent-drill-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true })),
);

const main = Effect.gen(function* () {
  const server = yield* start({ folder: yield* temporaryFolder, name: "effect_agent" });
  yield* Layer.build(
    Migrations.layer.pipe(
      Layer.provide(Database.layer({ url: Redacted.make(server.url), maxConnections: 1 })),
    ),
  ).pipe(Effect.scoped);
  yield* Effect.promise(bundleHost);
  const { tool } = values;
  const target = tool === undefined ? undefined : yield* Effect.promise(() => bundleTarget(tool));
  yield* Effect.promise(() => prepareDrill(server.url));
  const places = failpoints.filter(
    (place) => values.failpoint === undefined || values.failpoint.includes(place),
  );
  const rows: Array<DrillRow> = [];
  for (const [number, failpoint] of places.entries()) {
    const row = yield* Effect.promise(() => drillAt(server.url, failpoint, number, target));
    rows.push(row);
    yield* Console.log(lineOf(row));
  }
  yield* Console.log(drillSummary(rows));
}).pipe(Effect.scoped, Effect.provide(NodeServices.layer));

NodeRuntime.runMain(main);
