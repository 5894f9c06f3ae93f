/** Documentation names files in `code`: each such path must exist, so that a map never points at a moved room. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "./lib/steps.mjs";

const rooms = [
  "app",
  "components",
  "lib",
  "server",
  "tests",
  "scripts",
  "bench",
  "docs",
  "migrations",
  ".ci",
];

/** Pure: the repository paths that a Markdown text names; patterns with placeholders or globs are no paths. */
export const namedPaths = (markdown) => {
  const prose = markdown.replace(/^```[\s\S]*?^```/gm, "");
  const codes = [...prose.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? "");
  const links = [...prose.matchAll(/\]\(([^)#\s]+)/g)]
    .map((match) => match[1] ?? "")
    .filter((target) => !/^[a-z]+:/.test(target));
  const isRoomPath = (code) =>
    rooms.some((room) => code === `${room}/` || code.startsWith(`${room}/`)) &&
    !/[*<>{}\s…]/.test(code);
  return [
    ...codes.filter(isRoomPath).map((code) => ({ path: code, from: "root" })),
    ...links.map((link) => ({ path: link, from: "file" })),
  ];
};

const documents = () =>
  [
    "README.md",
    "AGENTS.md",
    "migrations/README.md",
    ...(existsSync(path.join(root, "docs"))
      ? readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" })
          .filter((name) => name.endsWith(".md"))
          .map((name) => path.join("docs", name))
      : []),
  ].filter((file) => existsSync(path.join(root, file)));

const main = () => {
  let missing = 0;
  let checked = 0;
  for (const document of documents()) {
    for (const named of namedPaths(readFileSync(path.join(root, document), "utf8"))) {
      const base = named.from === "root" ? root : path.dirname(path.join(root, document));
      checked += 1;
      if (existsSync(path.join(base, named.path))) continue;
      missing += 1;
      console.error(`${document} names ${named.path}, which does not exist`);
    }
  }
  console.log(`documentation paths: ${checked} checked, ${missing} missing`);
  return missing === 0 ? 0 : 1;
};

if (process.argv[1] === import.meta.filename) process.exit(main());
