/** Real processes: the launcher is killed, stopped, started twice; the server's own files tell what happened. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Effect, Redacted } from "effect";
import * as PgConnection from "@effect/sql-pg/PgConnection";
import { isAlive } from "#server/postgres/embedded/postmaster-pid.ts";

interface Ready {
  readonly origin: string;
  readonly pid: number;
  readonly url: string;
}

let folder: string;
let children: Array<ChildProcess> = [];
let servers: Array<number> = [];
let copies: Array<string> = [];

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "effect-agent-embedded-"));
});

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  for (const pid of servers) if (isAlive(pid)) process.kill(pid, "SIGQUIT");
  children = [];
  servers = [];
  await new Promise((resolve) => setTimeout(resolve, 300));
  for (const made of [folder, ...copies]) rmSync(made, { recursive: true, force: true });
  copies = [];
});

const firstLine = (child: ChildProcess) =>
  new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
      const line = text.split("\n").find((candidate) => /^(READY|REFUSED)/.test(candidate));
      if (line !== undefined && text.includes("\n")) resolve(line);
    });
    child.on("close", () => reject(new Error(`the launcher ended: ${text}`)));
  });

const launch = async (
  at = folder,
): Promise<{
  readonly child: ChildProcess;
  readonly line: string;
  readonly ready: Ready;
}> => {
  const child = spawn(
    process.execPath,
    ["--import", "tsx", "tests/support/embedded-child.ts", at],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  children.push(child);
  const line = await firstLine(child);
  const ready: Ready = line.startsWith("READY ")
    ? JSON.parse(line.slice("READY ".length))
    : { origin: "refused", pid: 0, url: "" };
  if (ready.pid > 0) servers.push(ready.pid);
  return { child, line, ready };
};

const ended = (child: ChildProcess, name: NodeJS.Signals) =>
  new Promise<number>((resolve) => {
    const begun = performance.now();
    child.on("close", () => resolve(performance.now() - begun));
    child.kill(name);
  });

const query = (url: string, text: string) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(PgConnection.make({ url: Redacted.make(url) }), (connection) =>
        connection.query(text, [], false),
      ),
    ),
  );
/** As docs/production.md says: with owners and modes kept. */
const copyTo = (to: string): string => {
  execFileSync("cp", ["-a", folder, to]);
  return to;
};

describe("the bundled PostgreSQL", () => {
  it("is found and reused by the next launcher after kill -9 of the first, which then stops it", async () => {
    const first = await launch();
    expect(first.ready.origin).toBe("initialized");
    await ended(first.child, "SIGKILL");
    expect(isAlive(first.ready.pid)).toBe(true);
    const second = await launch();
    expect(second.ready).toEqual({ ...first.ready, origin: "reused" });
    expect(await ended(second.child, "SIGTERM")).toBeLessThan(5_000);
    expect(isAlive(first.ready.pid)).toBe(false);
  });

  it("starts again on the remembered port after a kill -9 of the server and the launcher together", async () => {
    const first = await launch();
    process.kill(first.ready.pid, "SIGKILL");
    await ended(first.child, "SIGKILL");
    const second = await launch();
    expect(second.ready.origin).toBe("started");
    expect(second.ready.pid).not.toBe(first.ready.pid);
    expect(new URL(second.ready.url).port).toBe(new URL(first.ready.url).port);
  });

  it("moves to another port when a stranger took the remembered one", async () => {
    const first = await launch();
    await ended(first.child, "SIGTERM");
    const stranger = createServer().listen(Number(new URL(first.ready.url).port), "127.0.0.1");
    await new Promise((resolve) => stranger.once("listening", resolve));
    const second = await launch();
    stranger.close();
    expect(second.ready.origin).toBe("started");
    expect(new URL(second.ready.url).port).not.toBe(new URL(first.ready.url).port);
  });

  it("is left running by a second launcher that only borrowed it", async () => {
    const first = await launch();
    const second = await launch();
    expect(second.ready.origin).toBe("reused");
    await ended(second.child, "SIGTERM");
    expect(isAlive(first.ready.pid)).toBe(true);
  });

  it("ignores a stale postmaster.pid whose number now belongs to another process", async () => {
    const first = await launch();
    await ended(first.child, "SIGTERM");
    const data = path.join(folder, "data");
    writeFileSync(
      path.join(data, "postmaster.pid"),
      `${process.pid}\n${data}\n1\n5432\n\n127.0.0.1\n  1 1\nready\n`,
    );
    const second = await launch();
    expect(second.ready.origin).toBe("started");
  });

  it("starts on a copy that was made while it was stopped, which has everything, beside the original", async () => {
    const first = await launch();
    await query(first.ready.url, "CREATE TABLE kept AS SELECT 7 AS number");
    await ended(first.child, "SIGTERM");
    const copy = copyTo(`${folder}-copy`);
    copies.push(copy);
    const original = await launch();
    await query(original.ready.url, "UPDATE kept SET number = 8");
    const copied = await launch(copy);
    expect(copied.ready.origin).toBe("started");
    expect(new URL(copied.ready.url).port).not.toBe(new URL(original.ready.url).port);
    expect((await query(copied.ready.url, "SELECT number FROM kept")).rows).toEqual([
      { number: 7 },
    ]);
  });

  it("refuses a copy that was made while it ran, beside the original and after it, and says what to do", async () => {
    const first = await launch();
    const copy = copyTo(`${folder}-copy`);
    copies.push(copy);
    const refusal = /^REFUSED copied-while-running: .*stop the host.*cp -a/;
    expect((await launch(copy)).line).toMatch(refusal);
    await ended(first.child, "SIGTERM");
    expect((await launch(copy)).line).toMatch(refusal);
    // The original is none of its own copies.
    expect((await launch()).ready.origin).toBe("started");
  });

  it("refuses a folder that another major version made, in one sentence, and starts nothing", async () => {
    const first = await launch();
    await ended(first.child, "SIGTERM");
    writeFileSync(path.join(folder, "data/PG_VERSION"), "15\n");
    const second = await launch();
    expect(second.line).toMatch(
      /^REFUSED other-major-version: The data in .* was made by PostgreSQL 15, .*18.*DATA_DIR/,
    );
    expect(await ended(second.child, "SIGTERM")).toBeLessThan(5_000);
  });

  it("keeps its passwords in files that only the launcher's user can read", async () => {
    const first = await launch();
    for (const name of ["password", "superuser-password"]) {
      expect(statSync(path.join(folder, name)).mode & 0o777).toBe(0o600);
      expect(readFileSync(path.join(folder, name), "utf8").trim()).toHaveLength(32);
    }
    expect(first.ready.url).toContain("@127.0.0.1:");
  });
});
