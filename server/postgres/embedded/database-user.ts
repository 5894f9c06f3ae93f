/** PostgreSQL refuses to run as root; this decides under whom it runs then, and what that user can reach. */
import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

export interface DatabaseUser {
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
}

/** 65534 is nobody on every Linux distribution that lacks the line; macOS writes -2 for the same user. */
const fallback: DatabaseUser = { uid: 65534, gid: 65534, name: "nobody" };

const unsigned = (id: number): number => (id < 0 ? id + 2 ** 32 : id);

/** Pure: the line of `nobody` in the text of /etc/passwd. */
export const nobodyOf = (passwd: string): DatabaseUser => {
  const line = passwd.split("\n").find((candidate) => candidate.startsWith("nobody:"));
  const [name, , uid, gid] = line?.split(":") ?? [];
  if (name === undefined || uid === undefined || gid === undefined) return fallback;
  const user = { name, uid: unsigned(Number(uid)), gid: unsigned(Number(gid)) };
  return Number.isInteger(user.uid) && Number.isInteger(user.gid) ? user : fallback;
};

/** The user to become, or undefined when this process may run PostgreSQL as itself. */
export const databaseUser = (): DatabaseUser | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  return nobodyOf(existsSync("/etc/passwd") ? readFileSync("/etc/passwd", "utf8") : "");
};

const mayEnter = (folder: string, user: DatabaseUser): boolean => {
  const { mode, uid, gid } = statSync(folder);
  if (uid === user.uid) return (mode & 0o100) !== 0;
  if (gid === user.gid) return (mode & 0o010) !== 0;
  return (mode & 0o001) !== 0;
};

/** The highest existing folder on the way to `target` that `user` may not enter, such as `/root`. */
export const firstClosedParent = (target: string, user: DatabaseUser): string | undefined => {
  let current = path.parse(target).root;
  for (const part of path.dirname(target).slice(current.length).split(path.sep)) {
    if (!existsSync(current)) return undefined;
    if (!mayEnter(current, user)) return current;
    current = path.join(current, part);
  }
  return existsSync(current) && !mayEnter(current, user) ? current : undefined;
};
