/**
 * `npm run upgrade-drill -- --from FOLDER`: the release in FOLDER (a checkout with its packages, built) works on a
 * throw-away PostgreSQL, this one starts beside it and migrates, both serve, and the old one is told to stop. Says
 * what was seen, and ends with 1 where it is not what docs/production.md says of an upgrade without a pause.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import * as NodeRuntime from "@effect/platform-node/NodeRuntime";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Console, Effect, Redacted } from "effect";
import { SqlClient } from "effect/unstable/sql";
import * as Database from "#server/postgres/Database.ts";
import { start } from "#server/postgres/embedded/EmbeddedPostgres.ts";
import { drillUpgrade } from "#tests/crash/upgrade.ts";

const { values } = parseArgs({ options: { from: { type: "string" } } });

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(path.join(os.tmpdir(), "effect-agent-upgrade-"));
    chmodSync(folder, 0o755);
    return folder;
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true })),
);

const main = Effect.gen(function* () {
  if (values.from === undefined)
    return yield* Effect.fail("Say which release: npm run upgrade-drill -- --from FOLDER");
  const from = path.resolve(values.from);
  const folder = yield* temporaryFolder;
  const { url } = yield* start({ folder: path.join(folder, "database"), name: "effect_agent" });
  const report = yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    const context = yield* Effect.context<never>();
    return yield* Effect.promise(() =>
      drillUpgrade({
        from,
        databaseUrl: url,
        dataFolder: folder,
        ask: (statement) =>
          Effect.runPromiseWith(context)(sql.unsafe<Record<string, unknown>>(statement)),
      }),
    );
  }).pipe(Effect.provide(Database.layer({ url: Redacted.make(url), maxConnections: 2 })));
  for (const line of [...report.lines, ...report.findings.map((finding) => `NOT SO: ${finding}`)])
    yield* Console.log(line);
  yield* Console.log(`upgrade: ${report.findings.length} findings`);
  if (report.findings.length > 0) yield* Effect.sync(() => (process.exitCode = 1));
}).pipe(Effect.scoped, Effect.provide(NodeServices.layer));

NodeRuntime.runMain(main);
