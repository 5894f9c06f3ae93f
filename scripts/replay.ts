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
import { Cause, Console, Effect, Exit, Layer, Redacted, References } from "effect";

import { loadShop } from "#server/demo/data/load-shop.ts";
import { readDataSet } from "#server/demo/data/read-data-set.ts";
import { PaymentProvider } from "#server/demo/payment-provider/PaymentProvider.ts";
import { executeDirectly } from "#server/demo/replay/execute-directly.ts";
import { durableReplayHost, executeDurably } from "#server/demo/replay/execute-durably.ts";
import { keepPristine } from "#server/demo/replay/pristine-shop.ts";
import { readRecordedTasks } from "#server/demo/replay/recorded-tasks.ts";
import { replayTasks, summaryLine } from "#server/demo/replay/replay-tasks.ts";
import { RetailHandlers } from "#server/demo/RetailToolkit.ts";
import * as Database from "#server/postgres/Database.ts";
import { EventHints } from "#server/postgres/EventHints.ts";
import * as JournalPg from "#server/postgres/JournalPg.ts";
import * as SubmissionLedgerPg from "#server/postgres/SubmissionLedgerPg.ts";
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

/** The runtime's store over the same pool as the shop. */
const store = Layer.merge(JournalPg.layer, SubmissionLedgerPg.layer).pipe(
  Layer.provide(EventHints.layer),
);

const replay = Effect.fn("replay")(function* (folder: string) {
  const all = yield* readRecordedTasks(folder);
  const tasks =
    values.task === undefined ? all : all.filter(({ index }) => String(index) === values.task);
  yield* loadShop(yield* readDataSet(folder));
  yield* keepPristine;

  yield* Console.log(
    `${tasks.length} recorded tasks: first the handlers alone, then the durable runtime.`,
  );
  const directly = yield* replayTasks(tasks, executeDirectly);
  yield* Console.log(`handlers alone: ${summaryLine(directly)}`);
  const report = yield* replayTasks(tasks, executeDurably).pipe(
    Effect.provide(durableReplayHost(tasks)),
  );
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
  const stack = Layer.mergeAll(RetailHandlers, store).pipe(
    Layer.provideMerge(noProvider),
    Layer.provideMerge(Migrations.layer),
    Layer.provideMerge(database),
  );
  return yield* replay(values.dataset).pipe(Effect.provide(stack));
}).pipe(
  Effect.scoped,
  Effect.provide(NodeServices.layer),
  // Recorded refusals are expected here; only what breaks is worth a line.
  Effect.provideService(References.MinimumLogLevel, "Error"),
);

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
