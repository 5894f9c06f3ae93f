/**
 * A member that stands still with calls in flight (SIGSTOP), and one that loses
 * its way to PostgreSQL. Another takes their threads over; when they come back,
 * everything they still want to write is refused (DU-13).
 */
import { afterEach, assert, beforeEach, describe, it } from "vitest";
import { makeTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import type { Script } from "./fleet/agent.ts";
import { bundleFleetHost, freePorts, type Host, startHost, untilReady } from "./fleet/hosts.ts";
import { checkInvariants } from "./fleet/invariants.ts";
import { startPartition, type Partition } from "./fleet/partition.ts";
import { answerOnce, approve, settleAll } from "./fleet/people.ts";
import { type Provider, startProvider } from "./fleet/provider.ts";
import { openStore, type Store } from "./fleet/store.ts";
import { until } from "./fleet/until.ts";

const threads = 12;
const patience = 60_000;

let database: TestDatabase;
let provider: Provider;
let store: Store;
let partition: Partition;
const hosts: Array<Host> = [];

const call = (tool: "charge" | "transfer", amount: number) =>
  ({ tool, params: { amount, beforeMs: 0, afterMs: 0, decline: false } }) as const;

/** Two uncertain calls at once, then a third: the first batch is held at the provider. */
const script = (thread: number): Script => ({
  modelMs: 0,
  turns: [[call("charge", thread), call("transfer", thread)], [call("charge", thread)]],
});

beforeEach(async () => {
  database = await makeTestDatabase();
  provider = await startProvider();
  store = openStore(database.url);
  partition = await startPartition(database.url);
  await store.prepare();
  await bundleFleetHost();
}, 120_000);
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.end("SIGKILL")));
  await partition?.close();
  await store?.close();
  await provider?.close();
  await database?.drop();
});

const startPair = async () => {
  const [port = 0, secondPort = 0] = await freePorts(2);
  // The one that will be lost reaches PostgreSQL through the partition.
  const first = startHost({ databaseUrl: partition.url, provider: provider.url, port });
  const second = startHost({
    databaseUrl: database.url,
    provider: provider.url,
    port: secondPort,
  });
  hosts.push(first, second);
  await Promise.all(hosts.map(untilReady));
  await until("the members share the shards", patience, () => store.isShared(2));
  return first;
};

/** Runs with calls under way in this host, by what the database says of their owner. */
const heldBy = (port: number) => store.ownedBy(`worker-${port}-`);

/**
 * Fills both hosts with calls that the provider has done and not answered, loses
 * the first host, and lets the other one and the people finish everything.
 */
const loseFirstHost = async (lose: (host: Host) => void) => {
  const first = await startPair();
  provider.hold();
  for (let thread = 0; thread < threads; thread++)
    await store.submit(script(thread), `zombie-${thread}`);
  await until("every call is at the provider", patience, () => provider.held() === threads * 2);
  const owned = await heldBy(first.port);
  assert.isAbove(owned.length, 0, "the first host drove nothing, so this would prove nothing");
  lose(first);
  // Its answers arrive where nobody listens; the other host's calls go on.
  provider.release();
  await until("the other host has everything of the lost one", patience, async () => {
    await answerOnce(store, provider, approve);
    return (await heldBy(first.port)).length === 0;
  });
  assert.deepStrictEqual(await settleAll(store, provider, approve, patience), []);
  return { first, owned };
};

const expectRefused = async (
  first: Host,
  owned: ReadonlyArray<string>,
  before: ReadonlyArray<string>,
) => {
  const refusedRuns = () =>
    new Set(
      first.refused().flatMap((line) => (line.error === "FenceRejected" ? [line.runId] : [])),
    );
  await until("the zombie has tried to write to every run it had", patience, () =>
    owned.every((runId) => refusedRuns().has(runId)),
  );
  assert.isTrue(
    first.refused().some((line) => line.kinds.includes("ToolCallSettled")),
    "the late results themselves must be among what was refused",
  );
  assert.deepStrictEqual(await store.digests(), before);
  const report = await checkInvariants(store, provider, false);
  assert.deepStrictEqual(report.findings, []);
  assert.strictEqual(report.effects, threads * 3);
};

describe("a host that comes back from the dead", () => {
  it("[PG-03][DU-04][DU-13][R66] SIGSTOP in the middle of calls, takeover, SIGCONT: every late write is refused, no record changes, each effect happened once", async () => {
    const { first, owned } = await loseFirstHost((host) => host.signal("SIGSTOP"));
    const before = await store.digests();
    first.signal("SIGCONT");
    await expectRefused(first, owned, before);
  }, 180_000);

  it("[PG-03][DU-13][R66] cut off from PostgreSQL in the middle of calls, takeover, healed: every late write is refused, no record changes, each effect happened once", async () => {
    const { first, owned } = await loseFirstHost(() => partition.cut());
    const before = await store.digests();
    partition.heal();
    await expectRefused(first, owned, before);
  }, 180_000);

  it("[DU-13][PG-02] is refused by the epoch alone: another claimed its thread and died before it wrote anything", async () => {
    const [port = 0, secondPort = 0] = await freePorts(2);
    const start = (at: number, killAt?: string) => {
      const host = startHost({
        databaseUrl: database.url,
        provider: provider.url,
        port: at,
        ...(killAt === undefined ? {} : { killAt }),
      });
      hosts.push(host);
      return host;
    };
    const first = start(port);
    await untilReady(first);
    provider.hold();
    await store.submit(script(0), "fence");
    await until("both calls are at the provider", patience, () => provider.held() === 2);
    first.signal("SIGSTOP");
    const before = await store.digests();
    const heir = start(secondPort, "after:claim:1");
    await until("the heir has claimed the thread and is dead", patience, () => !heir.isAlive());
    assert.deepStrictEqual(await store.digests(), before, "the journal ends where it ended");
    provider.release();
    first.signal("SIGCONT");
    await until("the late results were refused", patience, () =>
      first
        .refused()
        .some((line) => line.error === "FenceRejected" && line.kinds.includes("ToolCallSettled")),
    );
    await first.end("SIGKILL");
    const written = await store.digests();
    assert.deepStrictEqual(written.slice(0, before.length), before);
    start(secondPort);
    assert.deepStrictEqual(await settleAll(store, provider, approve, patience), []);
    const report = await checkInvariants(store, provider, false);
    assert.deepStrictEqual(report.findings, []);
    assert.strictEqual(report.effects, 3);
  }, 180_000);
});
