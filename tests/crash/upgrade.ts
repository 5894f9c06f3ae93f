/**
 * Two releases on one database: the old one works, this one starts beside it and
 * migrates, both serve, the old one is told to stop. The old release is a real
 * checkout, so everything is asked over HTTP and read from the tables.
 */
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import {
  buildOnce,
  type LaunchedServer,
  launchReady,
  launchServer,
} from "#tests/support/launched-server.ts";
import { freePorts } from "./fleet/hosts.ts";
import { until } from "./fleet/until.ts";

const root = path.resolve(import.meta.dirname, "../..");
const patience = 60_000;
const token = "upgrade-administrator-token-of-a-drill";
/** Ended, or in doubt until somebody looks at the destination. */
const isOver = (state: string): boolean => !["queued", "running", "waiting"].includes(state);

interface Example {
  readonly id: string;
  readonly input: string;
}

/** Rows of one statement, asked of the database that both releases share. */
export type Ask = (statement: string) => Promise<ReadonlyArray<Record<string, unknown>>>;

export interface UpgradeReport {
  readonly lines: ReadonlyArray<string>;
  /** What was not as it should be. */
  readonly findings: ReadonlyArray<string>;
}

const api = async (host: LaunchedServer, route: string, body?: object, key?: string) => {
  const response = await fetch(`${host.origin}/api/v1${route}`, {
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
  });
  if (!response.ok) throw new Error(`${route}: ${response.status} ${await response.text()}`);
  return response.json();
};

interface UpgradeOptions {
  /** A built checkout of the older release. */
  readonly from: string;
  readonly databaseUrl: string;
  readonly dataFolder: string;
  readonly ask: Ask;
}

/** Throws when something that has to happen does not. */
export const drillUpgrade = async (options: UpgradeOptions): Promise<UpgradeReport> => {
  const leaving: Array<() => unknown> = [];
  try {
    return await drill(options, leaving);
  } finally {
    for (const leave of leaving.toReversed()) await leave();
  }
};

const drill = async (
  { ask, databaseUrl, dataFolder, from }: UpgradeOptions,
  leaving: Array<() => unknown>,
): Promise<UpgradeReport> => {
  const lines: Array<string> = [];
  const findings: Array<string> = [];
  const [oldPort = 0, newPort = 0] = await freePorts(2);
  const settings = (port: number) => ({
    dataFolder,
    env: {
      DATABASE_URL: databaseUrl,
      ADMIN_TOKEN: token,
      CLUSTER_ADDRESS: `127.0.0.1:${port}`,
      // Nothing is old enough; passes of retention begin beside the migration all the same.
      RETENTION_OLDER_THAN: "1d",
      RETENTION_TO: "delete",
    },
  });
  const count = async (statement: string) => Number((await ask(statement))[0]?.["n"] ?? 0);
  const schema = () => count("SELECT max(migration_id)::int AS n FROM effect_sql_migrations");
  const pending = "SELECT request_id AS id FROM approval_requests WHERE state = 'pending'";

  await buildOnce();
  const old = await launchReady({ ...settings(oldPort), release: from });
  leaving.push(() => old.end("SIGKILL"));
  const schemaOfOld = await schema();
  const { items } = await api(old, "/agents");
  const examples: ReadonlyArray<Example> = items[0].examples;
  const ready = examples.find(({ id }) => id === "where-is-my-order");
  if (ready === undefined) throw new Error("The old release has no request of that name.");
  const runs: Array<string> = [];
  const sentAgain: Array<string> = [];
  const submit = async (host: LaunchedServer, input: string) => {
    const key = `upgrade-key-${runs.length}-${Math.round(performance.now() * 1_000)}`;
    const send = () => api(host, "/submissions", { agentId: "retail-desk", input }, key);
    // As a client does that is told that nothing was changed: the same key again.
    const receipt = await send().catch((error) => {
      sentAgain.push(String(error));
      return new Promise((resolve) => setTimeout(resolve, 500)).then(send);
    });
    runs.push(receipt.runId);
    return String(receipt.runId);
  };
  const decide = async (host: LaunchedServer, requestId: unknown, decision: string) => {
    const request = await api(host, `/approvals/${String(requestId)}`);
    await api(host, `/approvals/${String(requestId)}/decision`, {
      commandId: `upgrade-${String(requestId)}`,
      decision,
      reason: "upgrade drill",
      parametersDigest: request.content.parametersDigest,
    });
  };

  for (const example of examples) await submit(old, example.input);
  await until(
    "the old release asks people",
    patience,
    async () => (await ask(pending)).length >= 4,
  );
  const askedByOld = await ask(pending);

  // People go on working while the new release starts: nobody is turned away.
  const refused: Array<string> = [];
  let hosts = [old];
  let turn = 0;
  const working = setInterval(() => {
    const host = hosts[turn++ % hosts.length];
    if (host !== undefined)
      void submit(host, ready.input).catch((error) => refused.push(String(error)));
  }, 150);
  leaving.push(() => clearInterval(working));
  const begun = performance.now();
  const next = await launchReady(settings(newPort));
  leaving.push(() => next.end("SIGTERM"));
  const readyAfter = performance.now() - begun;
  hosts = [old, next];
  lines.push(
    `schema ${schemaOfOld} to ${await schema()} in a start of ${Math.round(readyAfter)} ms`,
  );

  const migratedAt = (await ask("SELECT now()::text AS at"))[0]?.["at"];
  const completedBy = (port: number) =>
    count(`SELECT count(*)::int AS n FROM threads t JOIN runs r USING (tenant_id, thread_id)
      WHERE r.state = 'completed' AND r.created_at > '${String(migratedAt)}'
        AND t.worker_id LIKE 'worker-127.0.0.1-${port}-%'`);
  for (const port of [oldPort, newPort])
    await until(
      `the ${port === oldPort ? "old" : "new"} release completes runs on the new schema`,
      patience,
      async () => (await completedBy(port)) >= 3,
    );
  for (const [index, { id }] of askedByOld.entries())
    await decide(next, id, index === 0 ? "denied" : "approved");
  await submit(next, examples.find(({ id }) => id === "cancel-order")?.input ?? ready.input);
  await until("somebody is asked again", patience, async () => (await ask(pending)).length > 0);
  const askedLater = await ask(pending);
  for (const { id } of askedLater) await decide(old, id, "approved");
  lines.push(
    `${askedByOld.length} requests asked before were decided on the new release, ${askedLater.length} asked later on the old one`,
  );
  const shares = [await completedBy(oldPort), await completedBy(newPort)];
  lines.push(`completed beside each other on the new schema: ${shares.join(" old, ")} new`);

  hosts = [next];
  await Promise.all(Array.from({ length: 12 }, () => submit(old, ready.input)));
  const inFlight = await count(`SELECT count(*)::int AS n FROM submissions s
    JOIN threads t ON t.tenant_id = s.tenant_id AND t.thread_id = s.thread_id
    WHERE s.state = 'running' AND t.worker_id LIKE 'worker-127.0.0.1-${oldPort}-%'`);
  const { code, millis } = await old.end("SIGTERM");
  clearInterval(working);
  lines.push(
    `the old release, told to stop with ${inFlight} runs in its hands, ended with ${code} after ${Math.round(millis)} ms`,
  );
  if (code !== 0) findings.push(`The old release ended with ${code}.`);
  lines.push(`${sentAgain.length} submissions had to be sent a second time`);
  for (const words of refused) findings.push(`A submission was refused: ${words}`);

  const states = async () =>
    ask("SELECT run_id AS id, state FROM runs ORDER BY run_id").then((rows) =>
      rows.map(({ id, state }) => ({ id: String(id), state: String(state) })),
    );
  await until("every run has ended or is in doubt", patience, async () => {
    for (const { id } of await ask(pending)) await decide(next, id, "approved");
    return (await states()).every(({ state }) => isOver(state));
  });
  for (const { id, digest } of await ask(
    "SELECT unknown_id AS id, parameters_digest AS digest FROM unknown_outcomes WHERE state = 'open'",
  ))
    await api(next, `/unknowns/${String(id)}/resolution`, {
      commandId: `upgrade-${String(id)}`,
      resolution: "abort-submission",
      parametersDigest: digest,
      reason: "upgrade drill",
      evidence: "the provider's own book",
    });
  await until("nothing is in doubt", patience, async () =>
    (await states()).every(({ state }) => ["completed", "failed", "aborted"].includes(state)),
  );
  const tally = new Map<string, number>();
  for (const { state } of await states()) tally.set(state, (tally.get(state) ?? 0) + 1);
  lines.push(
    `${runs.length} runs: ${[...tally].map(([state, times]) => `${times} ${state}`).join(", ")}`,
  );
  const found = new Set((await states()).map(({ id }) => id));
  for (const id of runs) if (!found.has(id)) findings.push(`${id} was promised and is not there.`);
  const twice = `SELECT count(*)::int AS n FROM (SELECT 1 FROM provider.ledger WHERE outcome = 'completed'
    GROUP BY kind, order_id, amount_cents HAVING count(*) > 1) AS t`;
  if ((await count(twice)) > 0) findings.push("The provider booked something twice.");
  const settlements = `SELECT count(*)::int AS n FROM (SELECT 1 FROM journal_records WHERE kind = 'RunSettled'
    GROUP BY run_id HAVING count(*) > 1) AS t`;
  if ((await count(settlements)) > 0) findings.push("A run was settled twice.");

  const again = await launchServer({ ...settings(oldPort), release: from });
  const said = again._tag === "ready" ? "it started" : again.output.trim().split("\n").at(-1);
  lines.push(`the old release started again: ${said?.trim()}`);
  if (again._tag === "ready") {
    findings.push("The old release started on the new one's database.");
    await again.server.end("SIGKILL");
  }
  const verified = await promisify(execFile)(
    process.execPath,
    ["--import", "tsx", path.join(root, "scripts/verify-journal.ts")],
    { cwd: root, env: { ...process.env, DATABASE_URL: databaseUrl } },
  ).catch((error: { readonly stdout: string }) => error);
  const verdict = verified.stdout.trim().split("\n").at(-1) ?? "";
  lines.push(verdict);
  if (!verdict.endsWith(" 0 faults")) findings.push(verdict);
  return { lines, findings };
};
