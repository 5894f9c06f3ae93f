/** Whether a build is older than what it was made from: by content, so that a checkout or a touch rebuilds nothing. */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";

const filesUnder = (target) => {
  if (!existsSync(target)) return [];
  if (!statSync(target).isDirectory()) return [target];
  return readdirSync(target, { withFileTypes: true })
    .flatMap((entry) =>
      entry.name === "node_modules" ? [] : filesUnder(path.join(target, entry.name)),
    )
    .sort();
};

export const fingerprint = (root, inputs) => {
  const hash = createHash("sha256").update(`node ${process.versions.modules}\n`);
  for (const file of inputs.flatMap((input) => filesUnder(path.join(root, input)))) {
    hash
      .update(`${path.relative(root, file)}\0`)
      .update(readFileSync(file))
      .update("\0");
  }
  return hash.digest("hex");
};

export const isFresh = (stamp, print) =>
  existsSync(stamp) && readFileSync(stamp, "utf8").trim() === print;

/** The stamp goes first and comes back last: a killed build is never taken for a finished one. */
export const stamped = async (stamp, print, work) => {
  rmSync(stamp, { force: true });
  await work();
  mkdirSync(path.dirname(stamp), { recursive: true });
  writeFileSync(stamp, `${print}\n`);
};
