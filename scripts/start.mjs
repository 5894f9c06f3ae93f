/** `npm start`: says in one sentence what is missing, builds what changed, then runs the server in this process. */
import { existsSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";

const root = path.resolve(path.dirname(new URL(import.meta.url).pathname), "..");

const refuse = (sentence) => {
  process.stderr.write(`\nEffect Agent cannot start: ${sentence}\n\n`);
  process.exit(1);
};

const say = (line) => process.stdout.write(`  ${line}\n`);

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  refuse(
    `it needs Node.js 20.19 or newer, and this is ${process.versions.node}; install a newer one and run npm ci again.`,
  );
}
if (process.platform === "win32") {
  refuse("Windows is not supported; run it inside WSL 2, where it works as on Linux.");
}
if (!existsSync(path.join(root, "node_modules/effect"))) {
  refuse("its packages are not installed; run npm ci first.");
}
const dotEnv = path.join(process.cwd(), ".env");
if (existsSync(dotEnv)) process.loadEnvFile(dotEnv);

const readArguments = () => {
  try {
    return parseArgs({ options: { dataset: { type: "string" }, "no-build": { type: "boolean" } } })
      .values;
  } catch (error) {
    return refuse(`${error.message}. It takes --dataset FOLDER and nothing else.`);
  }
};
const wanted = readArguments();
if (wanted.dataset !== undefined) process.env.DATASET = wanted.dataset;

process.stdout.write("\nEffect Agent\n");
// Tests that start it many times build once and then say so.
if (wanted["no-build"] !== true) {
  const { buildWhenNeeded } = await import("./build.mjs");
  try {
    await buildWhenNeeded(say);
  } catch (error) {
    refuse(`the build failed.\n${error instanceof Error ? error.message : String(error)}`);
  }
}

process.env.NODE_ENV = "production";
process.env.NEXT_TELEMETRY_DISABLED = "1";
// What the server reports as its start-up time begins here.
performance.mark("effect-agent/built");
await import("../dist/server/main.js");
