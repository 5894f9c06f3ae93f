/**
 * `npm run replay -- --dataset FOLDER [--task N]`: loads the shop of a data set
 * into a throw-away PostgreSQL, replays every recorded task, and compares all
 * results and final records. Ends with 1 where anything differs.
 */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

import * as NodeRuntime from "@effect/platform-node/NodeRuntime";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Cause, Console, Effect, Exit, Layer, Redacted } from "effect";

import { loadShop } from "#server/demo/data/load-shop.ts";
import { readDataSet } from "#server/demo/data/read-data-set.ts";
import { PaymentProvider } from "#server/demo/payment-provider/PaymentProvider.ts";
import { executeDirectly } from "#server/demo/replay/execute-directly.ts";
import { executeThroughEngine } from "#server/demo/replay/execute-through-engine.ts";
import { keepPristine } from "#server/demo/replay/pristine-shop.ts";
import { readRecordedTasks } from "#server/demo/replay/recorded-tasks.ts";
import { replayTasks, summaryLine } from "#server/demo/replay/replay-tasks.ts";
import { RetailPolicy } from "#server/demo/policy.ts";
import { RetailDeskHandlers } from "#server/demo/RetailDesk.ts";
import { RetailHandlers } from "#server/demo/RetailToolkit.ts";
import * as Database from "#server/postgres/Database.ts";
import { start } from "#server/postgres/embedded/EmbeddedPostgres.ts";
import * as Migrations from "#server/postgres/Migrations.ts";

const { values } = parseArgs({
  options: { dataset: { type: "string" }, task: { type: "string" } },
});

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(os.tmpdir(), "effect-agent-replay-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true })),
);

// None of the recorded tools moves money, so a call that reaches a provider fails the replay.
const noProvider = PaymentProvider.layer("http://127.0.0.1:1");
const handlers = Layer.mergeAll(RetailHandlers, RetailDeskHandlers, RetailPolicy).pipe(
  Layer.provide(noProvider),
);

const replay = Effect.fn("replay")(function* (folder: string) {
  const all = yield* readRecordedTasks(folder);
  const tasks =
    values.task === undefined ? all : all.filter(({ index }) => String(index) === values.task);
  yield* loadShop(yield* readDataSet(folder));
  yield* keepPristine;

  const directly = yield* replayTasks(tasks, executeDirectly);
  yield* Console.log(`handlers alone: ${summaryLine(directly)}`);
  const report = yield* replayTasks(tasks, executeThroughEngine);
  for (const difference of [...directly.differences, ...report.differences])
    yield* Console.log(difference);
  yield* Console.log(summaryLine(report));
  return directly.differences.length + report.differences.length === 0;
});

const main = Effect.gen(function* () {
  if (values.dataset === undefined) {
    return yield* Effect.fail(
      "Say which data set: npm run replay -- --dataset ../shared/data/tau-retail",
    );
  }
  const server = yield* start({
    folder: yield* temporaryFolder,
    name: "effect_agent",
    settings: { fsync: "off", synchronous_commit: "off" },
  });
  const database = Database.layer({ url: Redacted.make(server.url), applicationName: "replay" });
  const stack = Layer.merge(handlers, Migrations.layer).pipe(Layer.provideMerge(database));
  return yield* replay(values.dataset).pipe(Effect.provide(stack));
}).pipe(Effect.scoped, Effect.provide(NodeServices.layer));

NodeRuntime.runMain(main, {
  disableErrorReporting: true,
  teardown: (exit, onExit) => {
    if (Exit.isFailure(exit))
      console.error(
        Cause.prettyErrors(exit.cause)
          .map(({ message }) => message)
          .join("\n"),
      );
    onExit(Exit.isSuccess(exit) && exit.value === true ? 0 : 1);
  },
});
