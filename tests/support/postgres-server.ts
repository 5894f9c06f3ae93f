/**
 * One real PostgreSQL for a whole test run, thrown away after it. Its folder carries the pid of its run, so that a
 * later run can clear away what a killed run left behind.
 */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Effect, Exit, Scope } from "effect";
import { start } from "#server/postgres/embedded/EmbeddedPostgres.ts";
import { stopServer } from "#server/postgres/embedded/postgres-process.ts";
import { isAlive } from "#server/postgres/embedded/postmaster-pid.ts";
import { prepareTemplate } from "#tests/support/postgres-template.ts";

const prefix = "effect-agent-test-postgres-";

/** Durability is what these settings give up: the data of a test run is worth nothing after it. */
const throwAway = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_connections: "300",
  shared_buffers: "128MB",
  autovacuum: "off",
};

const sweepKilledRuns = async (): Promise<void> => {
  for (const name of readdirSync(os.tmpdir())) {
    const pid = Number(/^effect-agent-test-postgres-(\d+)$/.exec(name)?.[1]);
    if (!Number.isInteger(pid) || isAlive(pid)) continue;
    const folder = path.join(os.tmpdir(), name);
    await Effect.runPromise(stopServer(path.join(folder, "data")));
    rmSync(folder, { recursive: true, force: true });
  }
};

export interface TestServer {
  readonly adminUrl: string;
  readonly applicationUrl: string;
  readonly template: string;
  readonly stop: () => Promise<void>;
}

export const startTestServer = async (): Promise<TestServer> => {
  await sweepKilledRuns();
  const folder = path.join(os.tmpdir(), `${prefix}${process.pid}`);
  if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const scope = await Effect.runPromise(Scope.make());
  const stop = async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const server = await Effect.runPromise(
      Scope.provide(start({ folder, name: "effect_agent", settings: throwAway }), scope),
    );
    const template = await prepareTemplate(server.adminUrl, server.url);
    return { adminUrl: server.adminUrl, applicationUrl: server.url, template, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
