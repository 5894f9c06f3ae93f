/**
 * `npm run retention -- --older-than 90d --archive FOLDER`, or `--delete` in place of `--archive FOLDER`:
 * takes settled runs of that age out of the database, into archives or for good. Audit rows and the ledger's
 * keys stay; unsettled work is not touched. A pass that was killed goes on where it was when it is run again.
 * `npm run retention -- --abandon NAME` gives up an archive that is lost, so that its runs which are still in the
 * database can be archived again.
 */
import path from "node:path";
import { parseArgs } from "node:util";
import * as NodeRuntime from "@effect/platform-node/NodeRuntime";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Cause, Console, Effect, Exit } from "effect";
import { ageSeconds } from "#server/retention/age.ts";
import { abandonArchive } from "#server/retention/abandon-archive.ts";
import { retain } from "#server/retention/retain.ts";
import { CommandRefused, commandStore } from "./lib/store.ts";

const { values } = parseArgs({
  options: {
    "older-than": { type: "string" },
    archive: { type: "string" },
    delete: { type: "boolean", default: false },
    abandon: { type: "string" },
  },
});

const readOptions = Effect.gen(function* () {
  const age = values["older-than"];
  const olderThanSeconds = ageSeconds(age ?? "");
  if (olderThanSeconds === undefined)
    return yield* new CommandRefused({
      message: `--older-than must be a whole number from 1 to 99999 and d, h or m, such as 90d${age === undefined ? "" : `, but is ${JSON.stringify(age.slice(0, 40))}`}.`,
    });
  if ((values.archive === undefined) === !values.delete)
    return yield* new CommandRefused({
      message:
        "Say either --archive FOLDER, which keeps what is taken out, or --delete, which does not.",
    });
  const folder = values.archive === undefined ? undefined : path.resolve(values.archive);
  return { olderThanSeconds, folder };
});

const abandon = Effect.fnUntraced(function* (name: string) {
  const runs = yield* abandonArchive(name);
  yield* Console.log(`${name}: given up, ${runs} runs of it are in the database alone from now on`);
  return true;
});

const pass = Effect.gen(function* () {
  const { olderThanSeconds, folder } = yield* readOptions;
  const report = yield* retain({
    olderThanSeconds,
    folder,
    onProgress: (line) => Console.log(line),
  });
  yield* Console.log(
    `retention: ${report.runs} runs of ${report.threads} threads, ${report.records} records ${folder === undefined ? "deleted" : `archived in ${folder}`}, ${report.events} events trimmed, ${report.faulty} threads left because their records do not hold, ${report.held} runs because their archive is elsewhere`,
  );
  return report.faulty === 0 && report.held === 0;
});

const main = values.abandon === undefined ? pass : abandon(values.abandon);

NodeRuntime.runMain(
  main.pipe(
    Effect.provide(commandStore("retention")),
    Effect.scoped,
    Effect.provide(NodeServices.layer),
    Effect.tapError((error) => Console.error(error.message)),
  ),
  {
    disableErrorReporting: true,
    teardown: (exit, end) =>
      end(
        Exit.isSuccess(exit) ? (exit.value ? 0 : 1) : Cause.hasInterruptsOnly(exit.cause) ? 130 : 2,
      ),
  },
);
