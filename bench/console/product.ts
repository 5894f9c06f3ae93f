/** The built product as a process of its own on the seeded database. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import path from "node:path";
import { packageRoot } from "#server/package-root.ts";

export interface Product {
  readonly origin: string;
  readonly token: string;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        typeof address === "object" && address !== null
          ? resolve(address.port)
          : reject(new Error("no port")),
      );
    });
  });

/** Starts it as `npm start` does, builds included, and waits until it is ready. */
export const startProduct = async (databaseUrl: string): Promise<Product> => {
  const port = await freePort();
  const token = `bench_${randomBytes(24).toString("base64url")}`;
  const child = spawn(process.execPath, [path.join(packageRoot, "scripts/start.mjs")], {
    cwd: packageRoot,
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      PORT: String(port),
      ADMIN_TOKEN: token,
      LOG_LEVEL: "Warn",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output: Array<string> = [];
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      output.push(chunk.toString());
      if (output.join("").includes("ready in")) resolve();
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("exit", () => reject(new Error(`The product did not start:\n${output.join("")}`)));
  });
  return {
    origin: `http://127.0.0.1:${port}`,
    token,
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
};

/** A GET of the API with its time in milliseconds, the body read whole. */
export const timedGet = async (product: Product, path_: string) => {
  const from = performance.now();
  const response = await fetch(`${product.origin}/api/v1${path_}`, {
    headers: { authorization: `Bearer ${product.token}` },
  });
  const text = await response.text();
  const millis = performance.now() - from;
  if (!response.ok)
    throw new Error(`GET ${path_} answered ${response.status}: ${text.slice(0, 300)}`);
  return { millis, text };
};
