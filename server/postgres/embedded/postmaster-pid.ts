/** What PostgreSQL itself writes into its data folder about the process that serves it. */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";

export interface Postmaster {
  readonly pid: number;
  /** Where it serves; another folder's file got here by being copied. */
  readonly dataFolder: string;
  readonly port: number;
  readonly ready: boolean;
}

/** Pure: the lines are pid, data folder, start time, port, socket folder, listen address, shared memory, state. */
export const parsePostmasterPid = (text: string): Postmaster | undefined => {
  const lines = text.split("\n").map((line) => line.trim());
  const pid = Number(lines[0]);
  const port = Number(lines[3]);
  if (!Number.isInteger(pid) || pid <= 1 || !Number.isInteger(port) || port <= 0) return undefined;
  return { pid, dataFolder: lines[1] ?? "", port, ready: lines[7] === "ready" };
};

/** The fields of /proc/<pid>/stat after the name, which stands in parentheses and may hold spaces. */
const statOf = (pid: number): ReadonlyArray<string> => {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  } catch {
    return [];
  }
};

/** Whether a process runs. One that has ended and waits for its parent to notice (a zombie) does not. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) return false;
  }
  return statOf(pid)[0] !== "Z";
};

/** A pid with the moment its process began, where the system tells (Linux): a reused number gives another text. */
export const processIdentity = (pid: number): string => `${pid} ${statOf(pid)[19] ?? ""}`.trim();

/** A pid outlives its process as a number: after a reboot it may be anybody's. Only Linux can tell cheaply. */
const isPostgres = (pid: number): boolean => {
  const command = `/proc/${pid}/comm`;
  if (process.platform !== "linux") return true;
  return existsSync(command) && readFileSync(command, "utf8").trim() === "postgres";
};

export const readPostmaster = (dataFolder: string): Postmaster | undefined => {
  const file = path.join(dataFolder, "postmaster.pid");
  if (!existsSync(file)) return undefined;
  return parsePostmasterPid(readFileSync(file, "utf8"));
};

const realPath = (folder: string): string => {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
};

/**
 * The folder that this one was copied from while a server ran in it, or had been killed in it: PostgreSQL takes
 * its file away when it stops, and names its own folder there.
 */
export const copiedFrom = (dataFolder: string): string | undefined => {
  const found = readPostmaster(dataFolder);
  return found === undefined || realPath(found.dataFolder) === realPath(dataFolder)
    ? undefined
    : found.dataFolder;
};

/** The living server of `dataFolder`; a stale file of a killed or rebooted machine gives undefined. */
export const livingPostmaster = (dataFolder: string): Postmaster | undefined => {
  const found = readPostmaster(dataFolder);
  return found !== undefined && isAlive(found.pid) && isPostgres(found.pid) ? found : undefined;
};
