/** Two real hosts on one database: work is shared, and the one that is left finishes what a killed one had. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import { type LaunchedServer, launchReady } from "#tests/support/launched-server.ts";
import { makeTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

const token = "takeover-administrator-token-of-a-test";

let database: TestDatabase;
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

beforeAll(async () => {
  database = await makeTestDatabase();
  folder = mkdtempSync(path.join(os.tmpdir(), "effect-agent-takeover-"));
  chmodSync(folder, 0o755);
  first = await launch(4_701);
  second = await launch(4_702);
}, 400_000);
afterAll(async () => {
  await first?.end("SIGTERM");
  await second?.end("SIGKILL");
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

describe("two hosts on one database", () => {
  it("[PG-03][DU-13][R66][C074] share the threads, and the one that is left settles every run of a killed one", async () => {
    const { items } = await api(second, "/agents");
    const { input } = items[0].examples.find(
      (one: { readonly title: string }) => one.title === "Where is my order?",
    );
    const runs: Array<string> = [];
    for (let index = 0; index < 30; index++)
      runs.push(await submit(second, input, `takeover-key-${index}`));
    await second.end("SIGKILL");
    const deadline = Date.now() + 60_000;
    let states = await statesOf(first, runs);
    // Otherwise the killed host had nothing left to hand over, and this would prove nothing.
    assert.isTrue(
      states.some((state) => state !== "completed"),
      "every run had ended before the host was killed",
    );
    while (
      states.some((state) => state === "queued" || state === "running") &&
      Date.now() < deadline
    ) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      states = await statesOf(first, runs);
    }
    assert.deepStrictEqual([...new Set(states)], ["completed"]);
    for (const runId of runs) {
      const records: { readonly items: ReadonlyArray<{ readonly kind: string }> } = await api(
        first,
        `/runs/${runId}/records`,
      );
      assert.strictEqual(records.items.filter(({ kind }) => kind === "RunSettled").length, 1);
    }
  }, 180_000);
});
