/** A PostgreSQL of the chaos runs' own, which they may restart in the middle of everything. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { randomBytes } from "node:crypto";
import * as PgConnection from "@effect/sql-pg/PgConnection";
import { Effect, Exit, Redacted, Schema, Scope } from "effect";
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
  /** Copies the running server's files as PostgreSQL's low-level backup does; work goes on meanwhile. */
  readonly backup: () => Promise<void>;
  /** Ends the server and starts the last backup in its place, at the same address. */
  readonly restore: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const copyFolder = (from: string, to: string): void => {
  // Keeps owner and mode, which Node's own copy does not: PostgreSQL refuses files of another user.
  execFileSync("cp", ["-a", from, to]);
};

/** Starts a backup, copies the files, ends it in the same session, and adds the log that was written meanwhile. */
const hotBackup = (adminUrl: string, control: string, to: string): Promise<void> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const connection = yield* PgConnection.make({ url: Redacted.make(adminUrl) });
        const data = path.join(control, "data");
        yield* connection.query("SELECT pg_backup_start('restore drill', true)", [], false);
        yield* Effect.sync(() => copyFolder(data, to));
        const stopped = yield* connection.query(
          "SELECT labelfile FROM pg_backup_stop(false)",
          [],
          false,
        );
        const [{ labelfile }] = yield* Schema.decodeUnknownEffect(Label)(stopped.rows);
        yield* Effect.sync(() => {
          rmSync(path.join(to, "pg_wal"), { recursive: true });
          copyFolder(path.join(data, "pg_wal"), path.join(to, "pg_wal"));
          rmSync(path.join(to, "postmaster.pid"), { force: true });
          const label = path.join(to, "backup_label");
          writeFileSync(label, labelfile, { mode: 0o600 });
          const { uid, gid } = statSync(data);
          chownSync(label, uid, gid);
        });
      }),
    ),
  );

const Label = Schema.Tuple([Schema.Struct({ labelfile: Schema.String })]);

export const startChaosPostgres = async (): Promise<ChaosPostgres> => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "effect-agent-chaos-"));
  chmodSync(folder, 0o755);
  const backupFolder = path.join(folder, "backup");
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
      backup: () => hotBackup(server.adminUrl, path.join(folder, "postgres"), backupFolder),
      restore: async () => {
        process.kill(server.pid, "SIGQUIT");
        while (isAlive(server.pid)) await new Promise((resolve) => setTimeout(resolve, 10));
        // The control files beside it (passwords, port) are the same installation's.
        const data = path.join(folder, "postgres/data");
        rmSync(data, { recursive: true });
        renameSync(backupFolder, data);
        server = await launch();
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
