/** The product's own start command, as real processes: readiness, endings, kills and refusals. */
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isAlive, livingPostmaster } from "#server/postgres/embedded/postmaster-pid.ts";
import {
  type LaunchedServer,
  type LaunchOptions,
  buildOnce,
  launchReady,
  launchServer,
} from "#tests/support/launched-server.ts";
import { makeTestDatabase } from "#tests/support/postgres.ts";

let folder: string;
let running: Array<LaunchedServer> = [];

beforeAll(buildOnce, 300_000);

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "effect-agent-launch-"));
  // As root the database runs as nobody, who must pass through; one test below closes this again.
  chmodSync(folder, 0o755);
});

afterEach(async () => {
  for (const server of running) if (isAlive(server.pid)) await server.end("SIGKILL");
  running = [];
  const postgres = livingPostmaster(path.join(folder, "postgres/data"));
  if (postgres !== undefined) process.kill(postgres.pid, "SIGQUIT");
  await new Promise((resolve) => setTimeout(resolve, 300));
  rmSync(folder, { recursive: true, force: true });
});

const start = async (options: Omit<LaunchOptions, "dataFolder"> = {}) => {
  const server = await launchReady({ ...options, dataFolder: folder });
  running.push(server);
  return server;
};

const refusal = async (env: Record<string, string>, dataFolder = folder) => {
  const outcome = await launchServer({ dataFolder, env });
  if (outcome._tag === "ready") {
    running.push(outcome.server);
    throw new Error("it started");
  }
  return outcome;
};

const argumentsOf = (pid: number): ReadonlyArray<string> => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
};

/** The provider processes that the server `pid` started: they carry its number as their last argument. */
const providersOf = (pid: number): ReadonlyArray<number> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => {
      const args = argumentsOf(candidate);
      return args.includes(String(pid)) && args.some((arg) => arg.includes("payment-provider"));
    });

const providerOf = (pid: number): number => {
  const [provider] = providersOf(pid);
  if (provider === undefined) throw new Error(`no payment provider of ${pid}`);
  return provider;
};

const postgresOf = (dataFolder: string): number => {
  const running = livingPostmaster(path.join(dataFolder, "postgres/data"));
  if (running === undefined) throw new Error(`no PostgreSQL in ${dataFolder}`);
  return running.pid;
};

/**
 * The promised seconds hold for a machine that is free; where other work shares its cores (a developer's machine
 * that runs several suites), they hold in proportion.
 */
const shared = () => Math.max(1, (os.loadavg()[0] ?? 0) / os.cpus().length);

const until = async (claim: () => boolean, millis = 5_000) => {
  const end = performance.now() + millis;
  while (!claim() && performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 50));
  return claim();
};

describe("npm start", () => {
  it("is ready within 10 s of its build, again within 3 s, and ends every child within 5 s of SIGTERM", async () => {
    const first = await start();
    expect(first.readySeconds).toBeLessThan(10 * shared());
    const postgres = postgresOf(folder);
    const provider = providerOf(first.pid);
    const { code, millis } = await first.end("SIGTERM");
    expect({ code, inTime: millis < 5_000 * shared() }).toEqual({ code: 0, inTime: true });
    expect(isAlive(postgres)).toBe(false);
    expect(isAlive(provider)).toBe(false);
    const second = await start();
    expect(second.readySeconds).toBeLessThan(3 * shared());
    expect((await second.end("SIGINT")).code).toBe(0);
  });

  it("takes the surviving database over after kill -9, while the provider ends by itself", async () => {
    const first = await start();
    const postgres = postgresOf(folder);
    const provider = providerOf(first.pid);
    await first.end("SIGKILL");
    expect(isAlive(postgres)).toBe(true);
    expect(await until(() => !isAlive(provider))).toBe(true);
    const second = await start();
    expect(second.output()).toContain("reusing the PostgreSQL server");
    expect(postgresOf(folder)).toBe(postgres);
    expect((await second.end("SIGTERM")).code).toBe(0);
    expect(livingPostmaster(path.join(folder, "postgres/data"))).toBeUndefined();
  });

  it.runIf(process.getuid?.() === 0)(
    "works as root in a folder that is closed to other users, as /root is",
    async () => {
      chmodSync(folder, 0o700);
      const server = await start();
      const elsewhere = readFileSync(path.join(folder, "postgres/location"), "utf8").trim();
      expect(livingPostmaster(path.join(elsewhere, "data"))).toBeDefined();
      expect((await server.end("SIGTERM")).code).toBe(0);
      const again = await start();
      expect(readFileSync(path.join(folder, "postgres/location"), "utf8").trim()).toBe(elsewhere);
      await again.end("SIGTERM");
      rmSync(elsewhere, { recursive: true });
    },
  );

  it("starts the payment provider again on its port when it is killed", async () => {
    const server = await start();
    const first = providerOf(server.pid);
    process.kill(first, "SIGKILL");
    expect(await until(() => providersOf(server.pid).some((pid) => pid !== first))).toBe(true);
  });
});

const oneSentence = (output: string) =>
  /Effect Agent cannot start: ([^\n]+)\n\n$/.exec(output)?.[1] ?? "";

describe("npm start refuses in one sentence, with exit code 1 and nothing half done, when", () => {
  let taken: Server | undefined;
  afterEach(() => taken?.close());

  it("the port is taken", async () => {
    taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken?.once("listening", resolve));
    const address = taken.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const { code, output } = await refusal({ PORT: String(port) });
    expect(code).toBe(1);
    expect(oneSentence(output)).toMatch(
      new RegExp(`^Port ${port} on 127.0.0.1 is taken .*PORT=${port + 1} npm start\\.$`),
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it("the data folder cannot be written", async () => {
    const file = path.join(folder, "file");
    writeFileSync(file, "");
    const { code, output } = await refusal({}, path.join(file, "data"));
    expect(code).toBe(1);
    expect(oneSentence(output)).toMatch(/^The data folder .* cannot be written .*DATA_DIR/);
  });

  it("a setting has a value that cannot be used", async () => {
    const { code, output } = await refusal({ PORT: "eighty" });
    expect(code).toBe(1);
    expect(oneSentence(output)).toMatch(/^PORT must be a whole number/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("DATABASE_URL names a server that does not answer", async () => {
    const { code, output } = await refusal({
      DATABASE_URL: "postgres://nobody:canary@127.0.0.1:1/none",
    });
    expect(code).toBe(1);
    expect(oneSentence(output)).toMatch(
      /^The database at 127\.0\.0\.1:1\/none cannot be used .*DATABASE_URL/,
    );
    expect(output).not.toContain("canary");
  });

  it("DATABASE_URL has a wrong password, which is not repeated", async () => {
    const database = await makeTestDatabase();
    const url = new URL(database.url);
    url.password = "canary";
    const { code, output } = await refusal({ DATABASE_URL: url.toString() });
    await database.drop();
    expect(code).toBe(1);
    expect(oneSentence(output)).toMatch(/password/);
    expect(output).not.toContain("canary");
  });

  it("the database was written by a newer release, which it leaves as it is", async () => {
    const database = await makeTestDatabase();
    await database.query(
      "CREATE TABLE IF NOT EXISTS effect_sql_migrations (migration_id integer PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now(), name varchar(255) NOT NULL)",
    );
    await database.query(
      "INSERT INTO effect_sql_migrations (migration_id, name) VALUES (9999, 'from_the_future')",
    );
    const { code, output } = await refusal({ DATABASE_URL: database.url });
    await database.drop();
    expect(code).toBe(1);
    expect(oneSentence(output)).toMatch(
      /^The database at .* was written by a newer release \(its schema is at 9999/,
    );
  });
});

it("DATABASE_URL replaces the bundled database, of which then nothing is started", async () => {
  const database = await makeTestDatabase();
  const server = await start({ env: { DATABASE_URL: database.url } });
  expect(readdirSync(folder)).toEqual([]);
  expect((await server.end("SIGTERM")).code).toBe(0);
  await database.drop();
});
