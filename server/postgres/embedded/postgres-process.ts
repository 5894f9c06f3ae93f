/** Runs the PostgreSQL programs: initdb once, the server detached from the terminal, and its orderly end. */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import {
  chownSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import * as Effect from "effect/Effect";
import * as Schedule from "effect/Schedule";
import type { DatabaseUser } from "#server/postgres/embedded/database-user.ts";
import { EmbeddedPostgresRefused } from "#server/postgres/embedded/EmbeddedPostgresRefused.ts";
import type { PostgresFolder } from "#server/postgres/embedded/folder.ts";
import { ownFolder } from "#server/postgres/embedded/folder.ts";
import { isAlive, livingPostmaster } from "#server/postgres/embedded/postmaster-pid.ts";

/** PostgreSQL gets no secrets of ours, and speaks one language in its log. */
const environment = {
  PATH: process.env["PATH"] ?? "",
  LC_ALL: "C",
  TZ: "UTC",
  NODE_ENV: "production",
} as const;

const maxLogBytes = 10 * 1024 * 1024;

const identity = (user: DatabaseUser | undefined) =>
  user === undefined ? {} : { uid: user.uid, gid: user.gid };

/** The last lines of the server's own log, for a person who must know why it did not start. */
export const logTail = (file: string, lines = 4): string =>
  existsSync(file)
    ? readFileSync(file, "utf8").trim().split("\n").slice(-lines).join(" | ")
    : "no log was written";

const didNotStart = (what: string, detail: string) =>
  new EmbeddedPostgresRefused({
    reason: "did-not-start",
    message: `The bundled PostgreSQL ${what} (${detail.slice(0, 600)}): see its log, or set DATABASE_URL to use another server.`,
  });

const runProgram = (
  command: string,
  args: ReadonlyArray<string>,
  user: DatabaseUser | undefined,
  cwd: string,
) =>
  Effect.callback<void, EmbeddedPostgresRefused>((resume) => {
    const child = spawn(command, args, {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      env: environment,
      ...identity(user),
    });
    let output = "";
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString("utf8")).slice(-4_000);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", (error) =>
      resume(Effect.fail(didNotStart("could not be run", error.message))),
    );
    child.on("close", (code) =>
      resume(
        code === 0
          ? Effect.void
          : Effect.fail(
              didNotStart(
                "could not create its data folder",
                output.trim().split("\n").slice(-4).join(" | "),
              ),
            ),
      ),
    );
    return Effect.sync(() => child.kill("SIGKILL"));
  });

/** Creates the cluster beside its place and moves it there when complete: a killed start leaves nothing half done. */
export const initialize = Effect.fn("EmbeddedPostgres.initialize")(function* (
  programs: string,
  folder: PostgresFolder,
  user: DatabaseUser | undefined,
  password: string,
) {
  const partial = `${folder.data}.partial`;
  const passwordFile = path.join(folder.base, "initdb-password");
  yield* Effect.sync(() => {
    rmSync(partial, { recursive: true, force: true });
    ownFolder(partial, user);
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
    if (user !== undefined) chownSync(passwordFile, user.uid, user.gid);
  });
  yield* runProgram(
    path.join(programs, "initdb"),
    [
      `--pgdata=${partial}`,
      "--username=postgres",
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--no-locale",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--no-instructions",
    ],
    user,
    folder.base,
  ).pipe(Effect.ensuring(Effect.sync(() => rmSync(passwordFile, { force: true }))));
  yield* Effect.sync(() => renameSync(partial, folder.data));
});

const portIsFree = (port: number) =>
  Effect.callback<number | undefined>((resume) => {
    const probe = createServer();
    probe.once("error", () => resume(Effect.succeed(undefined)));
    probe.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      const address = probe.address();
      const found = typeof address === "object" && address !== null ? address.port : undefined;
      probe.close(() => resume(Effect.succeed(found)));
    });
  });

/** The port this folder used before if nobody else took it, else a free one that is remembered from now on. */
export const choosePort = Effect.fn("EmbeddedPostgres.choosePort")(function* (control: string) {
  const file = path.join(control, "port");
  const before = existsSync(file) ? Number(readFileSync(file, "utf8").trim()) : 0;
  const kept = Number.isInteger(before) && before > 0 ? yield* portIsFree(before) : undefined;
  const port = kept ?? (yield* portIsFree(0));
  if (port === undefined)
    return yield* didNotStart("found no free port on 127.0.0.1", "listen failed");
  yield* Effect.sync(() => writeFileSync(file, `${port}\n`));
  return port;
});

/** Starts the server in a process group of its own: Ctrl-C reaches the launcher, which stops the server in order. */
export const spawnServer = (
  programs: string,
  folder: PostgresFolder,
  user: DatabaseUser | undefined,
  port: number,
  settings: Readonly<Record<string, string>>,
): ChildProcess => {
  if (existsSync(folder.log) && statSync(folder.log).size > maxLogBytes) truncateSync(folder.log);
  const log = openSync(folder.log, "a", 0o600);
  const options: Readonly<Record<string, string>> = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    // Loopback with a password is the only way in: a socket path can be too long, or in a folder of another user.
    unix_socket_directories: "",
    timezone: "UTC",
    log_timezone: "UTC",
    ...settings,
  };
  const args = [
    "-D",
    folder.data,
    ...Object.entries(options).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
  const child = spawn(path.join(programs, "postgres"), args, {
    cwd: folder.base,
    detached: true,
    stdio: ["ignore", log, log],
    env: environment,
    ...identity(user),
  });
  child.on("error", () => undefined);
  child.unref();
  closeSync(log);
  return child;
};

const gone = (pid: number) =>
  Effect.suspend(() => (isAlive(pid) ? Effect.fail("alive" as const) : Effect.void));

const signal = (pid: number, name: NodeJS.Signals) =>
  Effect.sync(() => {
    try {
      process.kill(pid, name);
    } catch {
      // It ended by itself in between, which is what was wanted.
    }
  });

/** Fast shutdown (SIGINT: roll back, disconnect), then immediate (SIGQUIT), which recovers from the log at next start. */
export const stopServer = Effect.fn("EmbeddedPostgres.stopServer")(function* (dataFolder: string) {
  const running = livingPostmaster(dataFolder);
  if (running === undefined) return;
  yield* signal(running.pid, "SIGINT");
  const wait = (times: number) =>
    gone(running.pid).pipe(Effect.retry({ schedule: Schedule.spaced(25), times }));
  yield* wait(140).pipe(
    Effect.catch(() => signal(running.pid, "SIGQUIT").pipe(Effect.andThen(wait(40)))),
    Effect.catch(() => signal(running.pid, "SIGKILL")),
  );
});
