import * as NodeServices from "@effect/platform-node/NodeServices";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer } from "effect";

import { loadShop } from "#server/demo/data/load-shop.ts";
import { readDataSet } from "#server/demo/data/read-data-set.ts";
import { PaymentProvider } from "#server/demo/payment-provider/PaymentProvider.ts";
import { durableReplayHost, executeDurably } from "#server/demo/replay/execute-durably.ts";
import { executeDirectly } from "#server/demo/replay/execute-directly.ts";
import { jsonEqual, resultsEqual } from "#server/demo/replay/json-equal.ts";
import { keepPristine } from "#server/demo/replay/pristine-shop.ts";
import { readRecordedTasks } from "#server/demo/replay/recorded-tasks.ts";
import { replayTasks, summaryLine } from "#server/demo/replay/replay-tasks.ts";
import { RetailHandlers } from "#server/demo/RetailToolkit.ts";
import { EventHints } from "#server/postgres/EventHints.ts";
import * as JournalPg from "#server/postgres/JournalPg.ts";
import * as SubmissionLedgerPg from "#server/postgres/SubmissionLedgerPg.ts";

import { publicDataSet } from "./public-data-set.ts";
import { EmptyDatabase } from "./shop-stack.ts";

const Store = Layer.merge(JournalPg.layer, SubmissionLedgerPg.layer).pipe(
  Layer.provide(EventHints.layer),
);

const Stack = Layer.merge(RetailHandlers, Store).pipe(
  Layer.provideMerge(PaymentProvider.layer("http://127.0.0.1:1")),
  Layer.provideMerge(EmptyDatabase),
  Layer.provideMerge(NodeServices.layer),
);

const loaded = Effect.gen(function* () {
  const folder = publicDataSet ?? "";
  yield* loadShop(yield* readDataSet(folder));
  yield* keepPristine;
  return yield* readRecordedTasks(folder);
});

describe.skipIf(publicDataSet === undefined)("the recorded customer tasks", () => {
  it.live(
    "are reproduced by the handlers: every result and every final record",
    () =>
      Effect.gen(function* () {
        const report = yield* replayTasks(yield* loaded, executeDirectly);
        assert.deepEqual(report.differences, []);
        assert.strictEqual(
          summaryLine(report),
          "replay: 115/115 tasks equal, 582/582 results equal",
        );
      }).pipe(Effect.provide(Stack)),
    300_000,
  );

  it.live(
    "are reproduced through the durable runtime: admitted, claimed, driven, settled, read from the journal",
    () =>
      Effect.gen(function* () {
        const tasks = (yield* loaded).slice(0, 6);
        const report = yield* replayTasks(tasks, executeDurably).pipe(
          Effect.provide(durableReplayHost(tasks)),
        );
        assert.deepEqual(report.differences, []);
        assert.strictEqual(report.equalTasks, 6);
      }).pipe(Effect.provide(Stack)),
    300_000,
  );

  it.live(
    "are not called equal when a result is wrong, a result is missing, or a record should have changed",
    () =>
      Effect.gen(function* () {
        const tasks = (yield* loaded).slice(0, 2);
        const wrong = yield* replayTasks(tasks, (task) =>
          Effect.map(executeDirectly(task), (results) =>
            results.map((text, index) => (index === 0 ? `${text}x` : text)),
          ),
        );
        assert.strictEqual(wrong.equalTasks, 0);
        assert.strictEqual(wrong.equalResults, wrong.results - 2);
        const missing = yield* replayTasks(tasks, () => Effect.succeed([]));
        assert.strictEqual(missing.equalResults, 0);
        const unchanged = missing.differences.filter((line) =>
          line.includes("changed orders should be"),
        );
        assert.isAbove(unchanged.length, 0);
      }).pipe(Effect.provide(Stack)),
    120_000,
  );
});

describe("comparing results", () => {
  it("takes JSON by value and order of keys for nothing, and other text as text", () => {
    assert.isTrue(resultsEqual('{"a": 1.0, "b": [1, 2]}', '{"b":[1,2],"a":1}'));
    assert.isFalse(resultsEqual('{"a":1}', '{"a":1,"b":null}'));
    assert.isFalse(resultsEqual("[1,2]", "[2,1]"));
    assert.isFalse(resultsEqual("0.05", "0.04999999999999716"));
    assert.isTrue(resultsEqual("Error: user not found", "Error: user not found"));
    assert.isFalse(resultsEqual("Error: user not found", "Error: order not found"));
    assert.isFalse(jsonEqual({}, []));
    assert.isFalse(jsonEqual({ toString: 1 }, {}));
  });
});
