/** Starts the product as a person does (`scripts/start.mjs`), in a folder of the test's own, and ends it. */
import { execFile, spawn } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

export interface LaunchedServer {
  readonly pid: number;
  /** Scheme, host and port, from the line that says it is ready. */
  readonly origin: string;
  /** The one-time link, when the start printed one. */
  readonly signInLink: string | undefined;
  /** Seconds from build to ready, as the server itself says. */
  readonly readySeconds: number;
  readonly output: () => string;
  /** Sends the signal and resolves when the process is gone. */
  readonly end: (
    signal: NodeJS.Signals,
  ) => Promise<{ readonly code: number | null; readonly millis: number }>;
}

export interface LaunchOptions {
  readonly dataFolder: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The checkout of another release, built already; default: this one, built first. */
  readonly release?: string;
  /** Milliseconds to wait for readiness, a build included. */
  readonly patience?: number;
}

export type LaunchOutcome =
  | { readonly _tag: "ready"; readonly server: LaunchedServer }
  | { readonly _tag: "ended"; readonly code: number | null; readonly output: string };

const root = path.resolve(import.meta.dirname, "../..");

/** Variables of the person who runs the tests must not choose the database or the model. */
const neutral = [
  "DATABASE_URL",
  "ADMIN_TOKEN",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "ANTHROPIC_API_KEY",
  "CLUSTER_ADDRESS",
  "PAYMENT_PROVIDER_URL",
  "npm_lifecycle_event",
];

const signInLinkOf = (text: string): string | undefined =>
  /Sign in once with this link: (\S+)\n/.exec(text)?.[1];

let built: Promise<unknown> | undefined;

/** Once per test file: what starts later runs this build, whatever happens to the sources meanwhile. */
export const buildOnce = (): Promise<unknown> => {
  built ??= promisify(execFile)(process.execPath, [path.join(root, "scripts/build.mjs")], {
    cwd: root,
  });
  return built;
};

export const launchServer = async (options: LaunchOptions): Promise<LaunchOutcome> => {
  const { release = root } = options;
  if (release === root) await buildOnce();
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    PORT: "0",
    DATA_DIR: options.dataFolder,
    ...options.env,
  };
  for (const name of neutral) if (options.env?.[name] === undefined) delete env[name];
  const child = spawn(process.execPath, [path.join(release, "scripts/start.mjs"), "--no-build"], {
    cwd: release,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const gone = new Promise<number | null>((resolve) => child.once("close", resolve));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`not ready in time:\n${text}`));
    }, options.patience ?? 150_000);
    const finish = (outcome: LaunchOutcome) => {
      clearTimeout(timer);
      resolve(outcome);
    };
    const look = (chunk: Buffer) => {
      text += chunk.toString("utf8");
      const ready = /ready in ([\d.]+) s at (\S+)[\s\S]*\n\s*\n/.exec(text);
      if (ready === null) return;
      // A first start goes on to say its link, and the lines may come apart.
      if (text.includes("creating the database") && !signInLinkOf(text)) return;
      finish({
        _tag: "ready",
        server: {
          pid: child.pid ?? 0,
          origin: ready[2] ?? "",
          signInLink: signInLinkOf(text),
          readySeconds: Number(ready[1]),
          output: () => text,
          end: async (signal) => {
            const begun = performance.now();
            child.kill(signal);
            const code = await gone;
            return { code, millis: performance.now() - begun };
          },
        },
      });
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    void gone.then((code) => finish({ _tag: "ended", code, output: text }));
  });
};

/** For tests that need it to be ready; an early end becomes the test's failure with the whole output. */
export const launchReady = async (options: LaunchOptions): Promise<LaunchedServer> => {
  const outcome = await launchServer(options);
  if (outcome._tag === "ended")
    throw new Error(`the server ended with ${outcome.code}:\n${outcome.output}`);
  return outcome.server;
};
