/** A host that is told to stop while calls are in flight: what can end ends, what cannot is in doubt, nothing happens twice. */
import { afterEach, assert, beforeEach, describe, it } from "vitest";
import { makeTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import type { Script } from "./fleet/agent.ts";
import { bundleFleetHost, freePorts, type Host, startHost, untilReady } from "./fleet/hosts.ts";
import { type Provider, startProvider } from "./fleet/provider.ts";
import { openStore, type Store } from "./fleet/store.ts";
import { until } from "./fleet/until.ts";

const patience = 60_000;

let database: TestDatabase;
let provider: Provider;
let store: Store;
let hosts: Array<Host> = [];

const launch = async (): Promise<Host> => {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error("no free port");
  const host = startHost({
    databaseUrl: database.url,
    provider: provider.url,
    port,
    isAlone: true,
  });
  hosts.push(host);
  await untilReady(host);
  return host;
};

/** One uncertain call whose answer takes so long after the effect has happened. */
const charging = (amount: number, afterMs: number): Script => ({
  modelMs: 0,
  turns: [
    [{ tool: "charge", params: { amount, beforeMs: 0, afterMs, decline: false } }],
    [{ tool: "charge", params: { amount: amount + 100, beforeMs: 0, afterMs: 0, decline: false } }],
  ],
});

beforeEach(async () => {
  hosts = [];
  database = await makeTestDatabase();
  provider = await startProvider();
  store = openStore(database.url);
  await store.prepare();
  await bundleFleetHost();
}, 120_000);
afterEach(async () => {
  await Promise.all(hosts.map((host) => host.end("SIGKILL")));
  await store?.close();
  await provider?.close();
  await database?.drop();
});

describe("SIGTERM with calls in flight", () => {
  it("[DU-04][PG-03] a call that ends within the drain is recorded, one that does not is in doubt after the next start, queued work waits, and no effect happens twice", async () => {
    const first = await launch();
    const never = await store.submit(charging(2, 120_000), "stop-never");
    const queued = await store.submit(charging(3, 0), "stop-queued", never.threadId);
    await until("the long call is in flight", patience, () => provider.effects.length === 1);
    // Submitted last, so that a slow machine does not let it end before the signal.
    const soon = await store.submit(charging(1, 800), "stop-soon");
    await until("both calls are in flight", patience, () => provider.effects.length === 2);
    await first.end("SIGTERM");
    assert.notInclude(first.output(), "No healthy runners");
    assert.notInclude(first.output(), "ERROR");
    // The first call's result was stored on the way out; only its run's next turn is left.
    const stateOf = async (runId: string) =>
      (await store.states()).find((row) => row.runId === runId)?.state;
    assert.deepStrictEqual(await store.unknowns(), []);
    assert.strictEqual(provider.effects.length, 2);

    const second = await launch();
    await until(
      "what was in flight is settled or in doubt, and the queue has moved",
      patience,
      async () => {
        const states = await Promise.all([soon, never, queued].map(({ runId }) => stateOf(runId)));
        return states.join() === "completed,unknown,completed";
      },
    );
    const doubts = await store.unknowns();
    assert.deepStrictEqual(
      doubts.map(({ runId }) => runId),
      [never.runId],
    );
    // Two calls of the first run, the one in doubt, two of the queued run: each once.
    assert.strictEqual(provider.effects.length, 5);
    assert.strictEqual(new Set(provider.effects.map(({ key }) => key)).size, 5);
    assert.deepStrictEqual(second.refused(), []);
  }, 180_000);
});
