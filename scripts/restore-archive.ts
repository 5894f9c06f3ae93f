/**
 * `npm run restore-archive -- FILE`: brings the runs of one archive of `npm run retention` back into the database
 * that they came from, as settled history to look at (docs/production.md). All of the file or nothing; a file that
 * does not hold, and runs that are here already, are refused. Ends with 2 where nothing was brought back.
 */
import path from "node:path";
import { parseArgs } from "node:util";
import * as NodeRuntime from "@effect/platform-node/NodeRuntime";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Cause, Console, Effect, Exit } from "effect";
import { restoreArchive } from "#server/retention/restore-archive.ts";
import { CommandRefused, commandStore } from "./lib/store.ts";

const { positionals } = parseArgs({ allowPositionals: true });

const main = Effect.gen(function* () {
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0 || !file.endsWith(".jsonl"))
    return yield* new CommandRefused({
      message: "Say which archive: npm run restore-archive -- FOLDER/NAME.jsonl",
    });
  const report = yield* restoreArchive(path.resolve(file)).pipe(
    Effect.provide(commandStore("restore-archive")),
  );
  yield* Console.log(
    `restore-archive: ${report.runs} runs of ${report.threads} threads, ${report.records} records brought back from ${path.basename(file)}`,
  );
});

NodeRuntime.runMain(
  main.pipe(
    Effect.scoped,
    Effect.provide(NodeServices.layer),
    Effect.tapError((error) => Console.error(error.message)),
  ),
  {
    disableErrorReporting: true,
    teardown: (exit, end) =>
      end(Exit.isSuccess(exit) ? 0 : Cause.hasInterruptsOnly(exit.cause) ? 130 : 2),
  },
);
