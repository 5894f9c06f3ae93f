/**
 * A tool as somebody might bring it to the drill (docs/production.md): it writes to a
 * ledger that is not the runtime's, here a file named by SAMPLE_LEDGER.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { Effect, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import { CurrentToolCall } from "#lib/current-tool-call.ts";
import { drillTarget } from "#lib/testing/DrillTarget.ts";

const ledger = process.env["SAMPLE_LEDGER"] ?? "sample-ledger.txt";

const Wire = Tool.make("wire", {
  parameters: Schema.Struct({ cents: Schema.Int }),
  success: Schema.Struct({ wired: Schema.Int }),
});
const toolkit = Toolkit.make(Wire);

const handlers = toolkit.toLayer({
  wire: ({ cents }) =>
    Effect.gen(function* () {
      const call = yield* CurrentToolCall;
      yield* Effect.sleep("30 millis");
      yield* Effect.sync(() => appendFileSync(ledger, `${call?.idempotencyKey ?? ""}\n`));
      yield* Effect.sleep("30 millis");
      return { wired: cents };
    }),
});

export const wire = drillTarget({
  toolkit,
  handlers,
  toolName: "wire",
  parameters: { cents: 1_250 },
  result: { wired: 1_250 },
  timesDone: (key) =>
    Effect.sync(() =>
      existsSync(ledger)
        ? readFileSync(ledger, "utf8")
            .split("\n")
            .filter((line) => line === key).length
        : 0,
    ),
});
