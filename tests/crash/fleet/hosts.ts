/** Starts, stops, pauses and kills the host processes of the process proofs. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { Option } from "effect";
import { type HostLine, parseLine } from "./host-lines.ts";

const root = path.resolve(import.meta.dirname, "../../..");
/** Of this process alone: another run must not change the hosts of this one. */
const bundle = path.join(root, `node_modules/.cache/drill/fleet-host-${process.pid}.mjs`);
process.once("exit", () => rmSync(bundle, { force: true }));

let bundled: Promise<unknown> | undefined;

/** The host as one file, so that a start takes about a second; packages stay external. */
export const bundleFleetHost = (): Promise<unknown> => {
  mkdirSync(path.dirname(bundle), { recursive: true });
  bundled ??= build({
    absWorkingDir: root,
    entryPoints: ["tests/crash/fleet/host.ts"],
    outfile: bundle,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["effect-agent-source"],
    logLevel: "warning",
  });
  return bundled;
};

export interface HostOptions {
  readonly databaseUrl: string;
  readonly provider: string;
  /** Also its name: a new process at the port of a dead one takes its place. */
  readonly port: number;
  /** How far its clock is off. */
  readonly clockSkewMillis?: number;
  /** Works without a cluster, behind the lock that keeps a second such host out. */
  readonly isAlone?: boolean;
  /** `place:count` of lib/testing/failpoints.ts. */
  readonly killAt?: string;
}

export interface Host {
  readonly port: number;
  readonly lines: ReadonlyArray<HostLine>;
  /** Appends that the journal refused to this process. */
  readonly refused: () => ReadonlyArray<Extract<HostLine, { readonly _tag: "refused" }>>;
  /** The results that the model read each time it was asked here. */
  readonly asked: () => ReadonlyArray<ReadonlyArray<string>>;
  readonly isAlive: () => boolean;
  readonly signal: (signal: NodeJS.Signals) => void;
  /** Ends it and waits until it is gone; a stopped process is killed all the same. */
  readonly end: (signal: NodeJS.Signals) => Promise<void>;
  readonly gone: Promise<void>;
  readonly output: () => string;
}

/** Free ports of the loopback, all different. */
export const freePorts = async (count: number): Promise<ReadonlyArray<number>> => {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer();
          server.listen(0, "127.0.0.1", () => resolve(server));
        }),
    ),
  );
  return Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          const address = server.address();
          server.close(() =>
            address === null || typeof address === "string"
              ? reject(new Error("no port"))
              : resolve(address.port),
          );
        }),
    ),
  );
};

const maxOutput = 200_000;

const watch = (child: ChildProcess, port: number): Host => {
  const lines: Array<HostLine> = [];
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on("line", (line) => {
      Option.match(parseLine(line), {
        onNone: () => (output = `${output}${line}\n`.slice(-maxOutput)),
        onSome: (said) => lines.push(said),
      });
    });
  }
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  return {
    port,
    lines,
    refused: () => lines.filter((line) => line._tag === "refused"),
    asked: () => lines.flatMap((line) => (line._tag === "asked" ? [line.results] : [])),
    isAlive,
    signal: (signal) => void child.kill(signal),
    end: async (signal) => {
      if (isAlive()) child.kill(signal);
      await gone;
    },
    gone,
    output: () => output,
  };
};

/** Starts a host; it works as soon as it can, and nobody waits for that here. */
export const startHost = (options: HostOptions): Host =>
  watch(
    spawn(process.execPath, ["--expose-gc", bundle], {
      env: {
        ...process.env,
        FLEET_DATABASE_URL: options.databaseUrl,
        FLEET_PROVIDER: options.provider,
        FLEET_PORT: String(options.port),
        FLEET_CLOCK_SKEW_MS: String(options.clockSkewMillis ?? 0),
        FLEET_ALONE: options.isAlone === true ? "1" : "",
        FLEET_KILL_AT: options.killAt ?? "",
      },
      stdio: ["ignore", "pipe", "pipe"],
    }),
    options.port,
  );

/** Waits for what a host said, or tells what it said instead. */
export const untilReady = async (host: Host): Promise<void> => {
  while (!host.lines.some((line) => line._tag === "ready")) {
    if (!host.isAlive()) throw new Error(`A host ended before it was ready:\n${host.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
};
