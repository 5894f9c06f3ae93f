/**
 * `npm run soak [-- --submissions N]`: one host settles N runs (default 5,000) on a
 * PostgreSQL of its own. Its memory must be flat after the first fifth, the tables
 * that hold work must be empty at the end, and the journal may only grow with the runs.
 */
import { parseArgs } from "node:util";
import { Effect, Schema } from "effect";
import { SqlClient, SqlSchema } from "effect/unstable/sql";
import { Int8 } from "#server/postgres/columns.ts";
import { startChaosPostgres } from "#tests/crash/chaos/chaos-postgres.ts";
import type { Script } from "#tests/crash/fleet/agent.ts";
import {
  bundleFleetHost,
  freePorts,
  type Host,
  startHost,
  untilReady,
} from "#tests/crash/fleet/hosts.ts";
import { checkInvariants } from "#tests/crash/fleet/invariants.ts";
import { startProvider } from "#tests/crash/fleet/provider.ts";
import { openStore, type Store } from "#tests/crash/fleet/store.ts";
import { until } from "#tests/crash/fleet/until.ts";

const { values } = parseArgs({ options: { submissions: { type: "string", default: "5000" } } });
const total = Number(values.submissions);
if (!Number.isInteger(total) || total < 10) {
  console.error("--submissions takes a whole number of at least 10.");
  process.exit(2);
}
/** Open at once: memory must not follow from how much waits. */
const maxOpen = 100;
const samples = 5;
/** Growth of the heap between the first and the last sample that counts as flat. */
const maxHeapGrowth = 0.15;
const maxRssGrowth = 0.25;

const params = (amount: number) => ({ amount, beforeMs: 0, afterMs: 0, decline: false });
const script = (index: number): Script => ({
  modelMs: 0,
  turns: [
    [
      { tool: "charge", params: params(index) },
      { tool: "look" },
      { tool: "mark", params: params(index) },
    ],
  ],
});

const Counts = Schema.Struct({
  settled: Int8,
  open: Int8,
  inbox: Int8,
  workers: Int8,
  idle: Int8,
  journalBytes: Int8,
  allBytes: Int8,
});
const countsOf = (store: Store) =>
  store.run(
    SqlSchema.findOne({
      Request: Schema.Void,
      Result: Counts,
      execute: () =>
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`SELECT
            (SELECT count(*) FROM submissions WHERE state = 'settled') AS settled,
            (SELECT count(*) FROM submissions WHERE state <> 'settled') AS open,
            (SELECT count(*) FROM event_inbox) AS inbox,
            (SELECT count(*) FROM workers) AS workers,
            (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%') AS idle,
            pg_total_relation_size('journal_records') AS "journalBytes",
            pg_database_size(current_database()) AS "allBytes"`,
        ),
    })(),
  );

const memoryOf = async (host: Host) => {
  const before = host.lines.length;
  host.signal("SIGUSR2");
  await until("the host says how much memory it has", 30_000, () =>
    host.lines.slice(before).some((line) => line._tag === "memory"),
  );
  const said = host.lines.findLast((line) => line._tag === "memory");
  if (said?._tag !== "memory") throw new Error("no memory line");
  return said;
};

const mebibytes = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MiB`;

await bundleFleetHost();
const postgres = await startChaosPostgres();
const database = await postgres.database();
const provider = await startProvider();
const store = openStore(database.url);
const hosts: Array<Host> = [];
try {
  await store.prepare();
  const [port = 0] = await freePorts(1);
  const host = startHost({
    databaseUrl: database.url,
    provider: provider.url,
    port,
    isAlone: true,
  });
  hosts.push(host);
  await untilReady(host);
  const start = await countsOf(store);
  const begun = performance.now();
  const memory: Array<{ readonly rss: number; readonly heap: number }> = [];
  let submitted = 0;
  for (let sample = 1; sample <= samples; sample++) {
    const goal = Math.floor((total * sample) / samples);
    while (submitted < goal) {
      const { settled } = await countsOf(store);
      const room = Math.min(maxOpen - (submitted - settled), goal - submitted);
      for (let one = 0; one < room; one++) {
        await store.submit(script(submitted), `soak-${submitted}`);
        submitted += 1;
      }
      if (room <= 0) await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await until(
      `${goal} runs are settled`,
      600_000,
      async () => (await countsOf(store)).settled >= goal,
    );
    const now = await memoryOf(host);
    memory.push(now);
    const counts = await countsOf(store);
    console.log(
      `${String(goal).padStart(6)} settled  ${((performance.now() - begun) / 1_000).toFixed(0).padStart(4)} s  heap ${mebibytes(now.heap)}  rss ${mebibytes(now.rss)}  journal ${mebibytes(counts.journalBytes)}  open ${counts.open}  inbox ${counts.inbox}  workers ${counts.workers}`,
    );
  }
  await until("every event has its place", 30_000, async () => (await countsOf(store)).inbox === 0);
  const end = await countsOf(store);
  const report = await checkInvariants(store, provider, false);
  const findings = [...report.findings];
  const [first] = memory;
  const last = memory.at(-1);
  if (first === undefined || last === undefined) throw new Error("no samples");
  if (last.heap > first.heap * (1 + maxHeapGrowth))
    findings.push(`The heap grew from ${mebibytes(first.heap)} to ${mebibytes(last.heap)}.`);
  if (last.rss > first.rss * (1 + maxRssGrowth))
    findings.push(
      `The resident memory grew from ${mebibytes(first.rss)} to ${mebibytes(last.rss)}.`,
    );
  if (end.open !== 0 || end.workers !== 1 || end.idle !== 0)
    findings.push(
      `${end.open} submissions are open, ${end.workers} workers are registered, ${end.idle} transactions are idle.`,
    );
  for (const finding of findings) console.log(`BROKEN ${finding}`);
  console.log(
    `soak: ${total} submissions in ${((performance.now() - begun) / 1_000).toFixed(0)} s, heap ${mebibytes(first.heap)} -> ${mebibytes(last.heap)}, rss ${mebibytes(first.rss)} -> ${mebibytes(last.rss)}, journal ${Math.round((end.journalBytes - start.journalBytes) / total)} bytes a run, database ${Math.round((end.allBytes - start.allBytes) / total)} bytes a run, ${report.records} records, ${findings.length} broken`,
  );
  process.exitCode = findings.length === 0 ? 0 : 1;
} finally {
  await Promise.all(hosts.map((host) => host.end("SIGKILL")));
  await store.close();
  await provider.close();
  await postgres.stop();
}
