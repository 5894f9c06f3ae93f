/**
 * Three members of one cluster on one database: one dies with SIGKILL, one has a
 * clock that is an hour ahead. `MEMBER_THREADS=500` for the full size; CI runs
 * a smaller one.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import { makeTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import type { Script } from "./fleet/agent.ts";
import { bundleFleetHost, freePorts, type Host, startHost, untilReady } from "./fleet/hosts.ts";
import { checkInvariants } from "./fleet/invariants.ts";
import { approve, settleAll } from "./fleet/people.ts";
import { type Provider, startProvider } from "./fleet/provider.ts";
import { openStore, type Store } from "./fleet/store.ts";
import { until } from "./fleet/until.ts";

const threads = Number(process.env["MEMBER_THREADS"] ?? "60");
const hour = 3_600_000;
/** Two loaded cores settle a handful of threads a second. */
const patience = 60_000 + threads * 500;

let database: TestDatabase;
let provider: Provider;
let store: Store;
let hosts: ReadonlyArray<Host> = [];

const params = (amount: number, afterMs: number) => ({
  amount,
  beforeMs: 2,
  afterMs,
  decline: false,
});

const script = (thread: number): Script => ({
  modelMs: 5,
  turns: [
    [
      { tool: "charge", params: params(thread, 20) },
      { tool: "look" },
      { tool: "mark", params: params(thread, 5) },
    ],
    [{ tool: "transfer", params: params(thread, 20) }],
  ],
});

beforeAll(async () => {
  database = await makeTestDatabase();
  provider = await startProvider();
  store = openStore(database.url);
  await store.prepare();
  await bundleFleetHost();
}, 120_000);
afterAll(async () => {
  await Promise.all(hosts.map((host) => host.end("SIGKILL")));
  await store?.close();
  await provider?.close();
  await database?.drop();
});

describe("three members on one database", () => {
  it(
    "[PG-03][DU-10][DU-13][R66][R67] spread the threads; with one killed and one an hour ahead each uncertain effect happens at most once and each submission is settled",
    async () => {
      const ports = await freePorts(3);
      hosts = ports.map((port, index) =>
        startHost({
          databaseUrl: database.url,
          provider: provider.url,
          port,
          clockSkewMillis: index === 1 ? hour : 0,
        }),
      );
      await Promise.all(hosts.map(untilReady));
      await until("the members share the shards", patience, () => store.isShared(3));
      for (let thread = 0; thread < threads; thread++)
        await store.submit(script(thread), `member-${thread}`);
      await until(
        "a third of the work is done",
        patience,
        () => provider.effects.length >= threads,
      );
      await hosts[0]?.end("SIGKILL");
      const left = await settleAll(store, provider, approve, patience);
      assert.deepStrictEqual(left, []);
      const report = await checkInvariants(store, provider, false);
      assert.deepStrictEqual(report.findings, []);
      assert.strictEqual(report.settled, threads);
    },
    180_000 + threads * 1_000,
  );

  it("[A-07][PG-03] a host whose clock is an hour ahead asks people, and stops asking, by the database's time", async () => {
    await Promise.all(hosts.map((host) => host.end("SIGKILL")));
    const [port = 0] = await freePorts(1);
    const host = startHost({
      databaseUrl: database.url,
      provider: provider.url,
      port,
      isAlone: true,
      clockSkewMillis: hour,
    });
    hosts = [host];
    await store.submit(
      { modelMs: 0, turns: [[{ tool: "refund", params: params(1, 0) }]] },
      "member-skewed",
    );
    await until("the request is stored", patience, async () => (await store.pending()).length > 0);
    const [times] = await store.approvalTimes();
    // The one minute is for a loaded machine; an hour would be the host's clock.
    assert.isBelow(Math.abs(times?.askedSecondsAgo ?? hour), 60);
    assert.isBelow(Math.abs((times?.openForSeconds ?? 0) - 86_400), 60);
  }, 180_000);
});
