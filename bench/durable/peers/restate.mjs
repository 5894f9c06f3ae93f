/**
 * Restate: one handler whose `ctx.run`s are the calls. It keeps its own log on the same disk, with the fsync of its
 * default configuration, and has no PostgreSQL to share.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createServer } from "node:net";
import { connect } from "@restatedev/restate-sdk-clients";
import { service as makeService, serve } from "@restatedev/restate-sdk";

// The SDK needs Node 22; this is all of it that Node 20 lacks.
Promise.withResolvers ??= function withResolvers() {
  /** @type {(value: unknown) => void} */
  let resolve = () => {};
  /** @type {(reason: unknown) => void} */
  let reject = () => {};
  const promise = new Promise((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
};

const freePort = () =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = /** @type {import("node:net").AddressInfo} */ (probe.address());
      probe.close(() => resolve(port));
    });
  });

const until = async (/** @type {() => Promise<boolean>} */ ready, /** @type {string} */ what) => {
  const end = performance.now() + 30_000;
  while (performance.now() < end) {
    if (await ready().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${what} was not ready within 30 s.`);
};

const quietLogger = () => {};

/** @param {() => void} mark the work of a call begins */
export const startRestate = async (mark) => {
  const [servicePort, ingressPort, adminPort, nodePort] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
    freePort(),
  ]);
  const service = makeService({
    name: "calls",
    handlers: {
      run: async (
        /** @type {import("@restatedev/restate-sdk").Context} */ context,
        /** @type {{ count: number }} */ { count },
      ) => {
        for (let index = 0; index < count; index++) {
          await context.run(`charge-${index}`, async () => {
            mark();
            return { charged: index };
          });
        }
        return count;
      },
    },
  });
  await serve({ services: [service], port: servicePort, logger: quietLogger });
  const folder = mkdtempSync(path.join(os.tmpdir(), "effect-agent-bench-restate-"));
  const program = path.join(import.meta.dirname, "node_modules/.bin/restate-server");
  const server = spawn(
    program,
    ["--no-logo", "--base-dir", folder, "--bind-ip", "127.0.0.1", "--bind-port", `${nodePort}`],
    {
      stdio: "ignore",
      detached: true,
      env: {
        ...process.env,
        RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingressPort}`,
        RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${adminPort}`,
        RESTATE_DISABLE_TELEMETRY: "true",
      },
    },
  );
  const kill = () => {
    // The program is a wrapper around the real one: the group is ended, not the wrapper alone.
    if (server.pid !== undefined && server.exitCode === null) process.kill(-server.pid, "SIGKILL");
  };
  // Also where the bench ends in an error: a server that stays would disturb the next one's figures.
  process.once("exit", kill);
  const stop = async () => {
    const gone = new Promise((resolve) => server.once("exit", resolve));
    kill();
    process.off("exit", kill);
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const admin = `http://127.0.0.1:${adminPort}`;
    await until(async () => (await fetch(`${admin}/health`)).ok, "Restate");
    await until(async () => {
      const answer = await fetch(`${admin}/deployments`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ uri: `http://127.0.0.1:${servicePort}` }),
      });
      return answer.ok;
    }, "Restate's registration");
    const client = connect({ url: `http://127.0.0.1:${ingressPort}` }).serviceClient(service);
    return {
      runCalls: async (/** @type {number} */ count) => {
        await client.run({ count });
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
