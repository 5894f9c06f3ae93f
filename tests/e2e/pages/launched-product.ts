/** The product as one file of cases uses it: launched for the file alone, with a signed-in administrator. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, test } from "@playwright/test";
import { type LaunchedServer, launchReady } from "../../support/launched-server.ts";
import { ConsolePage } from "./console-page.ts";
import { inDatabaseOf } from "./launched-database.ts";

export interface Product {
  readonly ana: ConsolePage;
  readonly server: LaunchedServer;
  /** Ends the server, in order unless another signal is named, and starts it again where it was. */
  readonly restart: (whileAway: () => Promise<void>, signal?: NodeJS.Signals) => Promise<void>;
  /** One statement in its own database, as time or the world would have it. */
  readonly sql: (
    statement: string,
    parameters?: ReadonlyArray<unknown>,
  ) => ReturnType<typeof inDatabaseOf>;
}

/**
 * Registers what launches the product before a file's cases and ends it behind them.
 *
 * @param name of the file, for its folder of data
 * @param prepare what is there before the first case; else every ready-made request, run to where it waits
 * @param settings of every start, read when the file's earlier preparations are done
 */
export const launchedProduct = (
  name: string,
  prepare: (ana: ConsolePage) => Promise<unknown> = runEveryExample,
  settings: () => Readonly<Record<string, string>> = () => ({}),
): Product => {
  let folder: string;
  let server: LaunchedServer | undefined;
  let ana: ConsolePage | undefined;

  test.describe.configure({ mode: "serial" });
  test.beforeAll(async ({ browser }) => {
    test.setTimeout(420_000);
    folder = mkdtempSync(path.join(os.tmpdir(), `effect-agent-${name}-`));
    // Started by root, the database runs as another user, who must be able to enter.
    chmodSync(folder, 0o755);
    server = await launchReady({ dataFolder: folder, env: settings(), patience: 400_000 });
    ana = await ConsolePage.signedIn(browser, server.origin, server.signInLink ?? "");
    await prepare(ana);
  });
  test.afterAll(async () => {
    await ana?.context.close();
    await server?.end("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  });

  const launched = <Value>(value: Value | undefined): Value => {
    if (value === undefined) throw new Error("the product is launched before the first case");
    return value;
  };
  return {
    get ana() {
      return launched(ana);
    },
    get server() {
      return launched(server);
    },
    sql: (statement, parameters) => inDatabaseOf(folder, statement, parameters),
    restart: async (whileAway, signal = "SIGTERM") => {
      const { end, origin } = launched(server);
      await end(signal);
      await whileAway();
      const env = { ...settings(), PORT: new URL(origin).port };
      server = await launchReady({ dataFolder: folder, env });
    },
  };
};

/** Every ready-made request: some run to their end, the others to where a person must act. */
export const runEveryExample = async (ana: ConsolePage): Promise<void> => {
  const { items } = await ana.read("/agents");
  for (const example of items[0].examples) await ana.start(example.input, example.id);
  await isQuiet(ana);
};

/** Everything that waits for a person does so now; the rest has ended. */
export const isQuiet = (ana: ConsolePage): Promise<void> =>
  expect
    .poll(async () => (await ana.read("/runs?state=running&state=queued")).items.length, {
      timeout: 60_000,
    })
    .toBe(0);
