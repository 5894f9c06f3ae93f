/**
 * `npm run after-restore`: once, on a database that was restored from a backup, before
 * the first host starts on it. Fences every owner from before, puts calls that may have
 * run since the backup before a person, and holds what may have gone on (docs/production.md).
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Console, Effect, Layer } from "effect";
import { EventHints } from "#server/postgres/EventHints.ts";
import * as JournalPg from "#server/postgres/JournalPg.ts";
import { afterRestore } from "#server/restore/after-restore.ts";
import { commandStore } from "./lib/store.ts";

const store = JournalPg.layer.pipe(
  Layer.provide(EventHints.layer),
  Layer.provideMerge(commandStore("after-restore")),
);

NodeRuntime.runMain(
  Effect.gen(function* () {
    const report = yield* afterRestore;
    yield* Console.log(
      `after-restore: ${report.threads} threads fenced, ${report.doubts} calls of ${report.inDoubt} runs in doubt, ${report.held} runs held`,
    );
  }).pipe(
    Effect.provide(store),
    Effect.scoped,
    Effect.provide(NodeServices.layer),
    Effect.tapError((error) => Console.error(error.message)),
  ),
  { disableErrorReporting: true },
);
