/** A PostgreSQL of the chaos runs' own, which they may restart in the middle of everything. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { randomBytes } from "node:crypto";
import { Effect, Exit, Scope } from "effect";
import { start } from "#server/postgres/embedded/EmbeddedPostgres.ts";
import { isAlive } from "#server/postgres/embedded/postmaster-pid.ts";
import {
  cloneTemplate,
  prepareTemplate,
  type TestDatabase,
} from "#tests/support/postgres-template.ts";

/**
 * The machine stays up, so the operating system keeps what was written: no fsync.
 * Commits are synchronous, or an immediate restart would lose what was promised.
 */
const settings = { fsync: "off", full_page_writes: "off", shared_buffers: "64MB" };

export interface ChaosPostgres {
  /** A migrated database of one plan. */
  readonly database: () => Promise<TestDatabase>;
  /** Ends it as a crash does (immediate: no checkpoint, recovery from the log) and starts it again. */
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export const startChaosPostgres = async (): Promise<ChaosPostgres> => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "effect-agent-chaos-"));
  chmodSync(folder, 0o755);
  const scopes: Array<Scope.Closeable> = [];
  const launch = async () => {
    const scope = await Effect.runPromise(Scope.make());
    scopes.push(scope);
    return Effect.runPromise(
      Scope.provide(
        start({ folder: path.join(folder, "postgres"), name: "effect_agent", settings }),
        scope,
      ),
    );
  };
  const stop = async () => {
    for (const scope of scopes) await Effect.runPromise(Scope.close(scope, Exit.void));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    let server = await launch();
    const template = await prepareTemplate(server.adminUrl, server.url);
    return {
      database: () =>
        cloneTemplate({
          adminUrl: server.adminUrl,
          applicationUrl: server.url,
          template,
          name: `chaos_${randomBytes(6).toString("hex")}`,
        }),
      restart: async () => {
        process.kill(server.pid, "SIGQUIT");
        while (isAlive(server.pid)) await new Promise((resolve) => setTimeout(resolve, 10));
        server = await launch();
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
