/**
 * Whether the correct calls of real functions reach their handlers unchanged, on the Berkeley function-calling cases.
 *
 *     npm run bench -- bfcl --data ../shared/data/bfcl
 *
 * The expected calls of each question are one response of a scripted model, run by the real runtime with tools
 * built from the published schemas. Prints accepted/total per category and the reason of each refusal; ends
 * with 1 when a handler got anything else than what was called.
 */
import { parseArgs } from "node:util";
import * as Effect from "effect/Effect";
import { categories, readCases } from "./cases.ts";
import { replayCase } from "./replay.ts";

const { values } = parseArgs({ options: { data: { type: "string" } } });

const main = Effect.gen(function* () {
  const { data } = values;
  if (data === undefined) {
    console.error("Say where the data is: npm run bench -- bfcl --data ../shared/data/bfcl");
    return 1;
  }
  const sum = { accepted: 0, refused: 0, changed: 0 };
  let nullsAbsent = 0;
  const begun = performance.now();
  for (const category of categories) {
    const here = { accepted: 0, refused: 0, changed: 0 };
    const cases = readCases(data, category);
    for (const one of cases) {
      const reports = yield* replayCase(one);
      for (const [index, report] of reports.entries()) {
        here[report._tag] += 1;
        sum[report._tag] += 1;
        if (report._tag === "accepted") nullsAbsent += report.nullsAbsent ? 1 : 0;
        else
          console.log(
            `${report._tag}  ${one.id} call ${index + 1} ${one.calls[index]?.name}: ${report.reason}`,
          );
      }
    }
    const total = here.accepted + here.refused + here.changed;
    console.log(`${category}: ${cases.length} cases, ${here.accepted}/${total} calls accepted\n`);
  }
  const total = sum.accepted + sum.refused + sum.changed;
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  console.log(
    `${sum.accepted}/${total} accepted, ${sum.refused} refused, ${sum.changed} changed on the way (${seconds} s)`,
  );
  console.log(
    `${nullsAbsent} of the accepted calls gave null for an optional argument; it reached the handler as absent (R41)`,
  );
  return sum.changed === 0 && total > 0 ? 0 : 1;
});

process.exitCode = await Effect.runPromise(main);
