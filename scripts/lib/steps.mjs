/** Runs named commands a few at a time; a failure shows the command's own output and does not stop the others. */
import { spawn } from "node:child_process";
import path from "node:path";

export const root = path.resolve(import.meta.dirname, "../..");

const environment = (extra) => ({
  ...process.env,
  PATH: `${path.join(root, "node_modules/.bin")}${path.delimiter}${process.env.PATH ?? ""}`,
  ...extra,
});

/** @returns {Promise<{ code: number, output: string, seconds: number }>} */
export const run = (command, { show = false, env = {}, minutes = 15 } = {}) =>
  new Promise((resolve) => {
    const begun = performance.now();
    const [program, ...args] = command;
    const child = spawn(program, args, {
      cwd: root,
      env: environment(env),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const chunks = [];
    for (const stream of ["stdout", "stderr"]) {
      child[stream].on("data", (chunk) => {
        chunks.push(chunk);
        if (show) process[stream].write(chunk);
      });
    }
    // A runner that hangs must become a failure while there is still time to say so.
    const timer = setTimeout(() => {
      process.stderr.write(`${program} took more than ${minutes} minutes and is stopped\n`);
      child.kill("SIGTERM");
      setTimeout(() => child.kill("SIGKILL"), 10_000).unref();
    }, minutes * 60_000);
    child.on("exit", () => clearTimeout(timer));
    const end = (code, extra = "") =>
      resolve({
        code,
        output: Buffer.concat(chunks).toString("utf8") + extra,
        seconds: (performance.now() - begun) / 1000,
      });
    child.on("error", (error) => end(1, String(error)));
    child.on("close", (code) => end(code ?? 1));
  });

/** @returns {Promise<string[]>} the names of the steps that failed */
export const runSteps = async (steps, { parallel }) => {
  const begun = performance.now();
  const waiting = [...steps];
  const failed = [];
  const worker = async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const { code, output, seconds } = await run(step.command);
      const ok = code === 0;
      if (!ok) failed.push(step.name);
      const last = output.trim().split("\n").at(-1) ?? "";
      console.log(
        `${ok ? "ok    " : "FAILED"} ${step.name} (${seconds.toFixed(1)} s)${ok && step.last ? `: ${last}` : ""}`,
      );
      if (!ok)
        console.log(
          `${output.trimEnd().slice(-8_000)}\n${step.hint === undefined ? "" : `-> ${step.hint}\n`}`,
        );
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(
    failed.length === 0 ? `passed in ${seconds} s` : `failed in ${seconds} s: ${failed.join(", ")}`,
  );
  return failed;
};
