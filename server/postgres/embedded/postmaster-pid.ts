/** What PostgreSQL itself writes into its data folder about the process that serves it. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly ready: boolean;
}

/** Pure: the lines are pid, data folder, start time, port, socket folder, listen address, shared memory, state. */
export const parsePostmasterPid = (text: string): Postmaster | undefined => {
  const lines = text.split("\n").map((line) => line.trim());
  const pid = Number(lines[0]);
  const port = Number(lines[3]);
  if (!Number.isInteger(pid) || pid <= 1 || !Number.isInteger(port) || port <= 0) return undefined;
  return { pid, port, ready: lines[7] === "ready" };
};

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
};

/** A pid with the moment its process began, where the system tells (Linux): a reused number gives another text. */
export const processIdentity = (pid: number): string => {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return String(pid);
  // Field 2 is the program's name in parentheses and may hold spaces; the start time is field 22.
  const afterName = readFileSync(file, "utf8").split(") ").at(-1) ?? "";
  return `${pid} ${afterName.split(" ")[19] ?? ""}`.trim();
};

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

/** The living server of `dataFolder`; a stale file of a killed or rebooted machine gives undefined. */
export const livingPostmaster = (dataFolder: string): Postmaster | undefined => {
  const found = readPostmaster(dataFolder);
  return found !== undefined && isAlive(found.pid) && isPostgres(found.pid) ? found : undefined;
};
