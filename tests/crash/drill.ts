/**
 * The crash drill: kills a host at one failpoint, starts it again, and asks the
 * provider what really happened. A real process, a real SIGKILL, a real database.
 */
import { spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { Effect, Redacted, Schema } from "effect";
import { SqlClient, SqlSchema } from "effect/unstable/sql";
import type { Failpoint } from "#lib/testing/failpoints.ts";
import * as Database from "#server/postgres/Database.ts";
import { loadTarget } from "./drill-subject.ts";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
/** Of this process alone: another run, or a clone that shares these files, must not change the hosts of this one. */
const bundle = path.join(root, `node_modules/.cache/drill/drill-host-${process.pid}.mjs`);
process.once("exit", () => rmSync(bundle, { force: true }));

export interface DrillRow {
  readonly failpoint: Failpoint;
  /** The process really died there. */
  readonly killed: boolean;
  readonly effects: number;
  readonly duplicated: number;
  /** Effects that a completed run claims and the provider does not know. */
  readonly lost: number;
  readonly settlements: number;
  readonly unknowns: number;
  /** How often the body of the one step ran. */
  readonly bodies: number;
  readonly stuck: boolean;
  readonly outcome: string;
}

/** The host as one file, so that a start takes a second; packages stay external. */
export const bundleHost = async (): Promise<void> => {
  mkdirSync(path.dirname(bundle), { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: ["tests/crash/drill-host.ts"],
    outfile: bundle,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["effect-agent-source"],
    logLevel: "warning",
  });
};

/**
 * The module of a person's own target as one file, like the host.
 *
 * @param named `MODULE#export`, the module's path from the working folder
 * @returns what `drillAt` takes as its target
 */
export const bundleTarget = async (named: string): Promise<string> => {
  const split = named.lastIndexOf("#");
  if (split < 1 || split === named.length - 1)
    throw new Error(`A target is named MODULE#export, and this is ${JSON.stringify(named)}.`);
  const outfile = path.join(path.dirname(bundle), `drill-target-${process.pid}.mjs`);
  process.once("exit", () => rmSync(outfile, { force: true }));
  await build({
    absWorkingDir: process.cwd(),
    entryPoints: [named.slice(0, split)],
    outfile,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["effect-agent-source"],
    logLevel: "warning",
  });
  const bundled = `${outfile}${named.slice(split)}`;
  await loadTarget(bundled);
  return bundled;
};

const start = (environment: Readonly<Record<string, string>>) =>
  new Promise<{
    readonly code: number | null;
    readonly signal: string | null;
    readonly output: string;
  }>((resolve) => {
    const child = spawn(process.execPath, [bundle], {
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.on("data", (chunk) => (output += String(chunk)));
    child.stderr.on("data", (chunk) => (output += String(chunk)));
    child.on("exit", (code, signal) => resolve({ code, signal, output }));
  });

/** Which story passes this failpoint. */
const scenarioOf = (failpoint: Failpoint): string => {
  if (failpoint.endsWith("append:AuthorizationDenied") || failpoint.endsWith("acknowledge-denial"))
    return "deny";
  if (failpoint.endsWith("wake-run")) return "wake";
  if (failpoint.endsWith("retry-run")) return "retry";
  if (failpoint.endsWith("append:AuthorizationCheckFailed")) return "check-fail";
  if (failpoint.endsWith("append:AbortRequested") || failpoint.endsWith("abort-run"))
    return "abort";
  return "work";
};

/** What has to fail first so that an effect in doubt is resolved at all. */
const needsDoubt = (failpoint: Failpoint): boolean =>
  failpoint.includes("ToolCallUnknown") ||
  failpoint.includes("UnknownProbed") ||
  failpoint.includes("UnknownResolved") ||
  failpoint.includes("resolve-unknown") ||
  failpoint.includes("probe-unknown") ||
  failpoint.startsWith("probe:");

const Facts = Schema.Struct({
  effects: Schema.Int,
  duplicated: Schema.Int,
  lost: Schema.Int,
  settlements: Schema.Int,
  unknowns: Schema.Int,
  bodies: Schema.Int,
  outcome: Schema.String,
});

const factsOf = (url: string, key: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    const facts = SqlSchema.findOne({
      Request: Schema.String,
      Result: Facts,
      execute: (one) => sql`
        WITH run AS (SELECT k.tenant_id, k.run_id, k.thread_id, r.state FROM idempotency_keys k
            JOIN runs r ON r.tenant_id = k.tenant_id AND r.run_id = k.run_id WHERE k.key = ${one}),
          done AS (SELECT e.key, count(*)::int AS times FROM drill_effects e JOIN run USING (run_id) GROUP BY e.key)
        SELECT coalesce((SELECT sum(times) FROM done), 0)::int AS effects,
          coalesce((SELECT sum(times - 1) FROM done), 0)::int AS duplicated,
          (SELECT count(*) FROM tool_calls t JOIN run USING (tenant_id, run_id)
            WHERE t.tool_name NOT IN ('look', 'bundle') AND t.state = 'succeeded'
              AND NOT EXISTS (SELECT FROM done WHERE done.key = t.idempotency_key))::int AS lost,
          (SELECT count(*) FROM journal_records j JOIN run ON run.tenant_id = j.tenant_id AND run.thread_id = j.thread_id
            WHERE j.kind = 'RunSettled')::int AS settlements,
          (SELECT count(*) FROM unknown_outcomes u JOIN run USING (tenant_id, run_id))::int AS unknowns,
          (SELECT count(*) FROM drill_bodies b JOIN run USING (run_id))::int AS bodies,
          (SELECT state FROM run) AS outcome`,
    });
    return yield* facts(key);
  }).pipe(
    Effect.provide(Database.layer({ url: Redacted.make(url), maxConnections: 2 })),
    Effect.runPromise,
  );

const TargetCall = Schema.Struct({ key: Schema.NullOr(Schema.String), state: Schema.String });

/** What the person's own destination says of the calls of this run. */
const targetFactsOf = async (url: string, key: string, named: string) => {
  const target = await loadTarget(named);
  return Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    const calls = yield* SqlSchema.findAll({
      Request: Schema.String,
      Result: TargetCall,
      execute: (one) => sql`
        SELECT t.idempotency_key AS key, t.state FROM tool_calls t
        JOIN idempotency_keys k ON k.tenant_id = t.tenant_id AND k.run_id = t.run_id WHERE k.key = ${one}`,
    })(key);
    const counts = { effects: 0, duplicated: 0, lost: 0 };
    for (const call of calls) {
      // A readonly call is never prepared, has no key, and may run as often as it likes.
      if (call.key === null) continue;
      const times = yield* target.timesDone(call.key);
      counts.effects += times;
      counts.duplicated += Math.max(0, times - 1);
      if (call.state === "succeeded" && times === 0) counts.lost += 1;
    }
    return counts;
  }).pipe(
    Effect.provide(Database.layer({ url: Redacted.make(url), maxConnections: 2 })),
    Effect.runPromise,
  );
};

/** Makes the provider's table; once per database. */
export const prepareDrill = (url: string): Promise<void> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    yield* sql`INSERT INTO tenants (tenant_id, name) VALUES ('default', 'Default') ON CONFLICT DO NOTHING`;
    yield* sql`INSERT INTO operators (tenant_id, operator_id, name, email, role)
      VALUES ('default', 'opr_drill', 'Drill', 'drill@localhost', 'admin') ON CONFLICT DO NOTHING`;
    yield* sql`CREATE TABLE IF NOT EXISTS drill_effects (
      run_id text NOT NULL, tool text NOT NULL, key text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp())`;
    yield* sql`CREATE TABLE IF NOT EXISTS drill_bodies (run_id text NOT NULL)`;
  }).pipe(
    Effect.asVoid,
    Effect.provide(Database.layer({ url: Redacted.make(url), maxConnections: 1 })),
    Effect.runPromise,
  );

/** Kills at the failpoint, starts again until the run is at its end, and counts. */
export const drillAt = async (
  url: string,
  failpoint: Failpoint,
  number: number,
  target?: string,
): Promise<DrillRow> => {
  const key = `drill-key-${number}-${process.pid}`;
  const environment = {
    DRILL_URL: url,
    DRILL_KEY: key,
    DRILL_SCENARIO: scenarioOf(failpoint),
    DRILL_TARGET: target ?? "",
  };
  if (needsDoubt(failpoint))
    await start({ ...environment, DRILL_FAILPOINT: "handler:after-effect" });
  const first = await start({
    ...environment,
    DRILL_FAILPOINT: failpoint,
    ...(needsDoubt(failpoint) ? { DRILL_RESOLVE: "1" } : {}),
  });
  const second = await start({ ...environment, DRILL_RESOLVE: "1" });
  const facts = {
    ...(await factsOf(url, key)),
    ...(target === undefined ? {} : await targetFactsOf(url, key, target)),
  };
  const isStuck = second.code !== 0 || !["completed", "failed", "aborted"].includes(facts.outcome);
  if (isStuck) console.error(second.output.slice(-2_000));
  return { failpoint, killed: first.signal === "SIGKILL", stuck: isStuck, ...facts };
};

/** The last line of a drill. */
export const drillSummary = (rows: ReadonlyArray<DrillRow>): string => {
  const sum = (pick: (row: DrillRow) => number) =>
    rows.reduce((total, row) => total + pick(row), 0);
  return `drill: ${rows.filter((row) => row.killed).length} failpoints, ${sum((row) => row.duplicated)} duplicated, ${sum((row) => row.lost)} lost, ${sum((row) => (row.stuck ? 1 : 0))} stuck`;
};
