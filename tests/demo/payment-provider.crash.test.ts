import { spawn, type ChildProcess } from "node:child_process";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest";

import { makeTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

const entry = path.resolve(import.meta.dirname, "../../server/demo/payment-provider/main.ts");

let database: TestDatabase;
const started: Array<ChildProcess> = [];

beforeAll(async () => {
  database = await makeTestDatabase();
});

afterAll(async () => {
  for (const child of started) child.kill("SIGKILL");
  await database.drop();
});

/** A process that only waits, standing in for the server that started the provider. */
const startParent = (): ChildProcess => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  started.push(child);
  return child;
};

const startProvider = async (parentPid: number) => {
  const child = spawn(process.execPath, ["--import", "tsx", entry, String(parentPid)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      NODE_ENV: "test",
      PATH: process.env["PATH"] ?? "",
      PAYMENT_PROVIDER_DATABASE_URL: database.url,
    },
  });
  started.push(child);
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout?.once("data", (data) => resolve(String(data)));
    child.once("exit", (code) => reject(new Error(`the provider ended with ${code}`)));
  });
  const { listening } = JSON.parse(line) as { listening: number };
  return { child, url: `http://127.0.0.1:${listening}` };
};

const exitOf = (child: ChildProcess) =>
  new Promise<void>((resolve) =>
    child.exitCode === null && child.signalCode === null
      ? child.once("exit", () => resolve())
      : resolve(),
  );

const refund = (url: string, key: string) =>
  fetch(`${url}/refunds`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({ order_id: "#W1", payment_method_id: "m", amount: "10.00" }),
  }).then((answer) => answer.json() as Promise<{ entry_id: string }>);

describe("the payment provider's process", () => {
  it("ends within two seconds of its parent's kill -9, and not before", async () => {
    const parent = startParent();
    const { child } = await startProvider(parent.pid ?? 0);
    await pause(1_500);
    assert.isNull(child.exitCode);
    parent.kill("SIGKILL");
    const ended = await Promise.race([
      exitOf(child).then(() => true),
      pause(2_000).then(() => false),
    ]);
    assert.isTrue(ended);
  });

  it("keeps what it acknowledged through its own kill -9: the same key gets the same entry from the next process", async () => {
    const parent = startParent();
    const first = await startProvider(parent.pid ?? 0);
    const booked = await refund(first.url, "kept");
    first.child.kill("SIGKILL");
    await exitOf(first.child);
    const second = await startProvider(parent.pid ?? 0);
    assert.strictEqual((await refund(second.url, "kept")).entry_id, booked.entry_id);
    const { entries } = (await (await fetch(`${second.url}/ledger`)).json()) as {
      entries: ReadonlyArray<unknown>;
    };
    assert.strictEqual(entries.length, 1);
    second.child.kill("SIGTERM");
    await exitOf(second.child);
    parent.kill("SIGKILL");
  });
});
