import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Layer from "effect/Layer";
import * as Schedule from "effect/Schedule";
import type * as Scope from "effect/Scope";
import type { Binaries } from "#server/postgres/embedded/binaries.ts";
import { findBinaries } from "#server/postgres/embedded/binaries.ts";
import type { Endpoint } from "#server/postgres/embedded/bootstrap.ts";
import { answers, ensureDatabase, urlOf } from "#server/postgres/embedded/bootstrap.ts";
import type { DatabaseUser } from "#server/postgres/embedded/database-user.ts";
import { databaseUser } from "#server/postgres/embedded/database-user.ts";
import { EmbeddedPostgresRefused } from "#server/postgres/embedded/EmbeddedPostgresRefused.ts";
import type { PostgresFolder } from "#server/postgres/embedded/folder.ts";
import {
  giveUpOwnership,
  prepareFolder,
  reachablePrograms,
  secretOf,
  startLock,
  takeOwnership,
} from "#server/postgres/embedded/folder.ts";
import {
  choosePort,
  initialize,
  logTail,
  spawnServer,
  stopServer,
} from "#server/postgres/embedded/postgres-process.ts";
import { copiedFrom, isAlive, livingPostmaster } from "#server/postgres/embedded/postmaster-pid.ts";

export interface EmbeddedPostgresOptions {
  /** DATA_DIR/postgres. Created when absent. */
  readonly folder: string;
  /** Name of the application's database and of the role that owns it. */
  readonly name: string;
  /** Extra server settings; tests turn durability off here, nothing else should. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Told about slow stages in words, so that a person sees why it waits. */
  readonly onProgress?: (line: string) => void;
}

export interface RunningPostgres {
  /** For the application: a role without superuser rights that owns its database. Holds a password. */
  readonly url: string;
  /** For test support and rescue only. Holds a password. */
  readonly adminUrl: string;
  readonly pid: number;
  /** How it came to run: `reused` after a killed parent, `initialized` on the first start. */
  readonly origin: "initialized" | "started" | "reused";
}

const checkMajor = Effect.fn("EmbeddedPostgres.checkMajor")(function* (
  folder: PostgresFolder,
  binaries: Binaries,
) {
  const file = path.join(folder.data, "PG_VERSION");
  if (!existsSync(file)) return false;
  const found = readFileSync(file, "utf8").trim();
  if (found === String(binaries.major)) return true;
  return yield* new EmbeddedPostgresRefused({
    reason: "other-major-version",
    message: `The data in ${folder.data} was made by PostgreSQL ${found}, and this release brings PostgreSQL ${binaries.major}: start the release that made it and move the data with pg_dump, or set DATA_DIR to another folder.`,
  });
});

/** Its files are of many moments, and its postmaster.pid leads to the other folder's server. */
const checkCopy = Effect.fn("EmbeddedPostgres.checkCopy")(function* (folder: PostgresFolder) {
  const original = copiedFrom(folder.data);
  if (original === undefined) return;
  return yield* new EmbeddedPostgresRefused({
    reason: "copied-while-running",
    message: `The data in ${folder.data} came from ${original} while a PostgreSQL server ran there, so it may be torn: stop the host and copy it again (cp -a); if the server had been killed and nothing ran during the copy, remove ${path.join(folder.data, "postmaster.pid")} and start again.`,
  });
});

const startFresh = Effect.fn("EmbeddedPostgres.startFresh")(
  function* (
    programs: string,
    folder: PostgresFolder,
    user: DatabaseUser | undefined,
    admin: Omit<Endpoint, "port">,
    options: EmbeddedPostgresOptions,
  ) {
    // Nobody alive wrote it (that was checked), and a number that now belongs to another process would block the start.
    yield* Effect.sync(() => rmSync(path.join(folder.data, "postmaster.pid"), { force: true }));
    const port = yield* choosePort(folder.control);
    const child = spawnServer(programs, folder, user, port, options.settings ?? {});
    const pid = child.pid;
    if (pid === undefined) {
      return yield* new EmbeddedPostgresRefused({
        reason: "did-not-start",
        message: `The bundled PostgreSQL at ${programs} could not be executed: run npm ci again, or set DATABASE_URL.`,
      });
    }
    const died = () =>
      new EmbeddedPostgresRefused({
        reason: "did-not-start",
        message: `The bundled PostgreSQL did not start (${logTail(folder.log)}): the whole log is ${folder.log}; set DATABASE_URL to use another server.`,
      });
    // After a crash the server replays its log before it answers, so patience is long as long as it lives.
    yield* answers({ ...admin, port }).pipe(
      Effect.mapError(() =>
        child.exitCode === null && isAlive(pid) ? ("waiting" as const) : ("dead" as const),
      ),
      Effect.retry({
        schedule: Schedule.spaced(30),
        times: 4_000,
        while: (state) => state === "waiting",
      }),
      Effect.mapError(died),
    );
    return { pid, port };
  },
  (effect, _programs, folder) =>
    // Ctrl-C while it starts, or a start that fails, leaves no server behind.
    Effect.onExit(effect, (exit) => (Exit.isFailure(exit) ? stopServer(folder.data) : Effect.void)),
);

const launch = Effect.fn("EmbeddedPostgres.launch")(function* (options: EmbeddedPostgresOptions) {
  const say = options.onProgress ?? (() => undefined);
  const binaries = yield* findBinaries();
  const user = databaseUser();
  const folder = yield* prepareFolder(path.resolve(options.folder), user);
  yield* startLock(folder.control);
  const initialized = yield* checkMajor(folder, binaries);
  yield* checkCopy(folder);
  const admin = {
    username: "postgres",
    password: secretOf(folder.control, "superuser-password"),
    database: "postgres",
  };
  const application = {
    username: options.name,
    password: secretOf(folder.control, "password"),
    database: options.name,
  };

  const living = livingPostmaster(folder.data);
  const reused =
    living === undefined
      ? undefined
      : yield* answers({ ...admin, port: living.port }).pipe(
          Effect.retry({
            schedule: Schedule.spaced(100),
            times: 100,
            while: () => livingPostmaster(folder.data) !== undefined,
          }),
          Effect.as({ pid: living.pid, port: living.port }),
          Effect.catch(() =>
            livingPostmaster(folder.data) === undefined
              ? Effect.succeed(undefined)
              : Effect.fail(
                  new EmbeddedPostgresRefused({
                    reason: "folder-busy",
                    message: `A PostgreSQL server (process ${living.pid}) already runs in ${folder.data} and does not accept this folder's password: stop it and start again.`,
                  }),
                ),
          ),
        );
  if (reused !== undefined) say("reusing the PostgreSQL server that is already running");

  const programs = reused === undefined ? yield* reachablePrograms(binaries, folder, user) : "";
  if (reused === undefined && !initialized) {
    say("creating the database (first start only)");
    yield* initialize(programs, folder, user, admin.password);
  }
  const server = reused ?? (yield* startFresh(programs, folder, user, admin, options));
  takeOwnership(folder.control);
  const endpoint = { ...admin, port: server.port };
  yield* ensureDatabase(endpoint, { ...application, port: server.port }).pipe(
    Effect.mapError(
      (error) =>
        new EmbeddedPostgresRefused({
          reason: "did-not-start",
          message: `The bundled PostgreSQL runs but its database "${options.name}" could not be prepared (${error.message}): see ${folder.log}.`,
        }),
    ),
  );
  const running: RunningPostgres = {
    url: urlOf({ ...application, port: server.port }),
    adminUrl: urlOf(endpoint),
    pid: server.pid,
    origin: reused !== undefined ? "reused" : initialized ? "started" : "initialized",
  };
  return { running, folder };
}, Effect.scoped);

const release = (folder: PostgresFolder) =>
  Effect.suspend(() =>
    // Somebody else's living launcher owns it: it still needs the server.
    takeOwnership(folder.control)
      ? stopServer(folder.data).pipe(
          Effect.ensuring(Effect.sync(() => giveUpOwnership(folder.control))),
        )
      : Effect.void,
  );

/**
 * Starts PostgreSQL in `options.folder`, or reuses the server that a killed parent left running there, and stops it
 * when the scope closes unless another living launcher owns it. Fails with one sentence for a person.
 */
export const start = (
  options: EmbeddedPostgresOptions,
): Effect.Effect<RunningPostgres, EmbeddedPostgresRefused, Scope.Scope> =>
  Effect.acquireRelease(launch(options), ({ folder }) => release(folder), {
    interruptible: true,
  }).pipe(Effect.map(({ running }) => running));

/** The running bundled database; absent when DATABASE_URL names another one. */
export class EmbeddedPostgres extends Context.Service<EmbeddedPostgres, RunningPostgres>()(
  "effect-agent/server/postgres/embedded/EmbeddedPostgres",
) {
  static readonly layer = (options: EmbeddedPostgresOptions) =>
    Layer.effect(EmbeddedPostgres, start(options));
}
