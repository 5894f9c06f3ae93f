/**
 * Two real hosts on one database: work is shared, the one that is left has everything
 * of a killed one within ten seconds, and finishes it.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Effect } from "effect";
import { SqlClient } from "effect/unstable/sql";
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import { type LaunchedServer, launchReady } from "#tests/support/launched-server.ts";
import { makeTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { freePorts } from "./fleet/hosts.ts";
import { openStore, type Store } from "./fleet/store.ts";
import { until } from "./fleet/until.ts";

const token = "takeover-administrator-token-of-a-test";

const patience = 60_000;
/** From the kill until the last thread of the killed host has another owner. */
const takeoverMillis = 10_000;

let database: TestDatabase;
let store: Store;
let secondPort: number;
let folder: string;
let first: LaunchedServer;
let second: LaunchedServer;

const launch = (clusterPort: number) =>
  launchReady({
    dataFolder: folder,
    env: {
      DATABASE_URL: database.url,
      ADMIN_TOKEN: token,
      CLUSTER_ADDRESS: `127.0.0.1:${clusterPort}`,
    },
  });

const api = async (host: LaunchedServer, route: string, init: RequestInit = {}) => {
  const response = await fetch(`${host.origin}/api/v1${route}`, {
    ...init,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      ...init.headers,
    },
  });
  assert.isTrue(response.ok, `${route} answered ${response.status}`);
  return response.json();
};

const submit = async (host: LaunchedServer, input: string, key: string): Promise<string> =>
  (
    await api(host, "/submissions", {
      method: "POST",
      headers: { "idempotency-key": key },
      body: JSON.stringify({ agentId: "retail-desk", input }),
    })
  ).runId;

const statesOf = (
  host: LaunchedServer,
  runs: ReadonlyArray<string>,
): Promise<ReadonlyArray<string>> =>
  Promise.all(runs.map(async (runId) => (await api(host, `/runs/${runId}`)).state));

const ofSecond = () => `worker-127.0.0.1-${secondPort}-`;

/** No run is still the killed host's, and none waits in a thread that only it would have driven. */
const nobodyWaits = () =>
  store.run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient;
      const left = yield* sql`SELECT FROM submissions s
        JOIN threads t ON t.tenant_id = s.tenant_id AND t.thread_id = s.thread_id
        WHERE s.state = 'ready' OR (s.state = 'running' AND starts_with(t.worker_id, ${ofSecond()}))`;
      return left.length === 0;
    }),
  );

beforeAll(async () => {
  database = await makeTestDatabase();
  store = openStore(database.url);
  folder = mkdtempSync(path.join(os.tmpdir(), "effect-agent-takeover-"));
  chmodSync(folder, 0o755);
  const [firstPort = 0, nextPort = 0] = await freePorts(2);
  secondPort = nextPort;
  first = await launch(firstPort);
  second = await launch(secondPort);
}, 400_000);
afterAll(async () => {
  await first?.end("SIGTERM");
  await second?.end("SIGKILL");
  await store?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

describe("two hosts on one database", () => {
  it("[PG-03][DU-13][R66][C074] share the threads; everything of one that is killed has another owner within ten seconds, and every run is settled once", async () => {
    const { items } = await api(first, "/agents");
    const { input } = items[0].examples.find(
      (one: { readonly title: string }) => one.title === "Where is my order?",
    );
    await until("the hosts share the shards", patience, () => store.isShared(2));
    const submitting = Array.from({ length: 30 }, (_, index) =>
      submit(first, input, `takeover-key-${index}`),
    );
    // Otherwise the killed host had nothing to hand over, and this would prove nothing.
    await until("the second host drives runs", patience, async () => {
      return (await store.ownedBy(ofSecond())).length >= 3;
    });
    await second.end("SIGKILL");
    const runs = await Promise.all(submitting);
    await until("everything of the killed host has another owner", takeoverMillis, nobodyWaits);
    await until("every run has ended", patience, async () =>
      (await statesOf(first, runs)).every((state) => state !== "queued" && state !== "running"),
    );
    assert.deepStrictEqual([...new Set(await statesOf(first, runs))], ["completed"]);
    for (const runId of runs) {
      const records: { readonly items: ReadonlyArray<{ readonly kind: string }> } = await api(
        first,
        `/runs/${runId}/records`,
      );
      assert.strictEqual(records.items.filter(({ kind }) => kind === "RunSettled").length, 1);
    }
  }, 180_000);
});
