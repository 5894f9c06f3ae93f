/** `npm run dev`: the server bundle is rebuilt and restarted when lib or server change; Next reloads pages itself. */
import { spawn } from "node:child_process";
import { existsSync, watch } from "node:fs";
import path from "node:path";
import { bundleServer } from "./build.mjs";
import { root } from "./lib/steps.mjs";

const dotEnv = path.join(root, ".env");
if (existsSync(dotEnv)) process.loadEnvFile(dotEnv);

let server;
let ending = false;

const start = () => {
  server = spawn(process.execPath, ["--enable-source-maps", "dist/server/main.js"], {
    cwd: root,
    env: { ...process.env, NODE_ENV: "development" },
    stdio: "inherit",
  });
};

const stopped = () =>
  new Promise((resolve) => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null)
      return resolve();
    server.once("exit", resolve);
    server.kill("SIGTERM");
  });

let queue = Promise.resolve();
const rebuild = () => {
  queue = queue.then(async () => {
    if (ending) return;
    try {
      await bundleServer();
    } catch {
      // esbuild has printed what is wrong; the running server stays until the next good build.
      return;
    }
    await stopped();
    if (!ending) start();
  });
};

let timer;
for (const folder of ["lib", "server"]) {
  watch(path.join(root, folder), { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(rebuild, 200);
  });
}

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, async () => {
    ending = true;
    await stopped();
    process.exit(0);
  });
}
rebuild();
