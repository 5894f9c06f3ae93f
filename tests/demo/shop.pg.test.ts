import * as NodeServices from "@effect/platform-node/NodeServices";
import { assert, layer } from "@effect/vitest";
import { Effect, Layer, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";

import { checkResult } from "#lib/engine/check-result.ts";
import { bundledShop } from "#server/demo/data/bundled-shop.ts";
import { loadedDataSet, loadShop } from "#server/demo/data/load-shop.ts";
import { shopLayer } from "#server/demo/data/shop-layer.ts";
import { moneyProbes, reconcileMoney } from "#server/demo/reconcile-money.ts";
import { findOrder } from "#server/demo/shop/orders.ts";

import { IssueRefund } from "#server/demo/tools/issue-refund.ts";

import { callTool } from "./call-tool.ts";
import { EmptyDatabase, providerUrl, ShopStack } from "./shop-stack.ts";

const count = Effect.fn("count")(function* (table: string) {
  const sql = yield* SqlClient.SqlClient;
  const rows = yield* sql`SELECT count(*)::integer AS rows FROM ${sql(table)}`;
  return Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ rows: Schema.Int })))(rows)[0]?.rows;
});

const field = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
const methodOfOrder = (orderId: string) =>
  Effect.map(findOrder(orderId), ({ payments }) => payments[0]?.payment_method_id ?? "");

layer(EmptyDatabase, { timeout: 60_000 })("loading a data set", (it) => {
  it.effect("that breaks half way leaves nothing behind", () =>
    Effect.gen(function* () {
      const shop = bundledShop();
      const [order] = Object.values(shop.orders);
      if (order === undefined) return assert.fail("no order");
      const broken = {
        ...shop,
        orders: { ...shop.orders, extra: { ...order, order_id: "#W9999999", user_id: "nobody" } },
      };
      assert.isTrue((yield* Effect.exit(loadShop(broken)))._tag === "Failure");
      for (const table of ["retail.customers", "retail.products", "retail.loaded_data_set"])
        assert.strictEqual(yield* count(table), 0, table);
    }),
  );

  it.effect("twice at once loads it once", () =>
    Effect.gen(function* () {
      const results = yield* Effect.all([loadShop(bundledShop()), loadShop(bundledShop())], {
        concurrency: 2,
      });
      assert.deepEqual(results.map(({ loaded }) => loaded).sort(), [false, true]);
      assert.strictEqual(yield* count("retail.customers"), 300);
      assert.strictEqual(yield* count("retail.orders"), 600);
      assert.strictEqual(yield* count("retail.products"), 50);
    }),
  );

  it.effect("without a folder named, a start keeps whatever the shop holds", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient;
      yield* sql`UPDATE retail.loaded_data_set SET name = 'somebody else''s'`;
      yield* Effect.scoped(Layer.build(shopLayer(undefined))).pipe(
        Effect.provide(NodeServices.layer),
      );
      assert.strictEqual(yield* loadedDataSet(), "somebody else's");
      yield* sql`UPDATE retail.loaded_data_set SET name = ${bundledShop().name}`;
    }),
  );

  it.effect("over another one is refused by name", () =>
    Effect.gen(function* () {
      yield* loadShop(bundledShop());
      const refused = yield* Effect.flip(loadShop({ ...bundledShop(), name: "another" }));
      assert.strictEqual(refused._tag, "DataSetConflict");
      assert.include(refused.message, "another");
    }),
  );
});

layer(ShopStack, { timeout: 60_000 })("the desk's tools on the shop's tables", (it) => {
  it.effect(
    "an idempotent tool run again with its key has its effect once and gives the same result",
    () =>
      Effect.gen(function* () {
        const cancel = callTool(
          "cancel_pending_order",
          { order_id: "#W1000002", reason: "no longer needed" },
          "key-cancel",
        );
        const first = yield* cancel;
        const second = yield* cancel;
        assert.isFalse(first.isFailure);
        assert.deepEqual(second, first);
        assert.strictEqual((yield* findOrder("#W1000002")).payments.length, 2);
        const other = yield* callTool(
          "cancel_pending_order",
          { order_id: "#W1000002", reason: "no longer needed" },
          "key-other",
        );
        assert.deepEqual(other, {
          result: "Error: non-pending order cannot be cancelled",
          isFailure: true,
        });
      }),
  );

  it.effect("two calls that cancel one order at once: one does it, the other is refused", () =>
    Effect.gen(function* () {
      const cancel = (key: string) =>
        callTool(
          "cancel_pending_order",
          { order_id: "#W1000003", reason: "ordered by mistake" },
          key,
        );
      const both = yield* Effect.all([cancel("race-1"), cancel("race-2")], { concurrency: 2 });
      assert.deepEqual(both.map(({ isFailure }) => isFailure).sort(), [false, true]);
      assert.strictEqual((yield* findOrder("#W1000003")).payments.length, 2);
    }),
  );

  it.effect("an e-mail of a repeated call is in the outbox once", () =>
    Effect.gen(function* () {
      const send = callTool(
        "send_email",
        { user_id: "maya_okafor_1001", subject: "Hello", body: "There" },
        "key-mail",
      );
      yield* send;
      yield* send;
      assert.strictEqual(yield* count("retail.outbox"), 1);
    }),
  );

  it.effect("refunds go to the provider under the call's key, once, with the exact amount", () =>
    Effect.gen(function* () {
      const payment_method_id = yield* methodOfOrder("#W1000010");
      const refund = callTool(
        "issue_refund",
        { order_id: "#W1000010", payment_method_id, amount: "24.99", reason: "leaks" },
        "key-refund",
      );
      const first = yield* refund;
      assert.strictEqual(field(first.result, "amount"), "24.99");
      assert.deepEqual(yield* refund, first);
      const ledger = yield* Effect.flatMap(providerUrl, (url) =>
        Effect.promise(() =>
          fetch(`${url}/ledger?order_id=%23W1000010`).then((answer) => answer.json()),
        ),
      );
      const entries = field(ledger, "entries");
      if (!Array.isArray(entries)) return assert.fail("no ledger");
      assert.deepEqual(
        entries.map((entry) => [field(entry, "idempotency_key"), field(entry, "amount")]),
        [["key-refund", "24.99"]],
      );
    }),
  );

  it.effect("a refund beyond what was paid never reaches the provider, however it is split", () =>
    Effect.gen(function* () {
      const payment_method_id = yield* methodOfOrder("#W1000012");
      const refund = (amount: string, key: string) =>
        callTool(
          "issue_refund",
          { order_id: "#W1000012", payment_method_id, amount, reason: "" },
          key,
        );
      assert.isFalse((yield* refund("10.00", "split-1")).isFailure);
      const second = yield* refund("10.00", "split-2");
      assert.deepEqual(second, {
        result: "Error: only 9.00 of order #W1000012 can still be refunded",
        isFailure: true,
      });
      const both = yield* Effect.all([refund("9.00", "split-3"), refund("9.00", "split-4")], {
        concurrency: 2,
      });
      assert.deepEqual(both.map(({ isFailure }) => isFailure).sort(), [false, true]);
    }),
  );

  it.effect(
    "a declined refund is a failure in the provider's words, and can be tried again under another key",
    () =>
      Effect.gen(function* () {
        const payment_method_id = yield* methodOfOrder("#W1000005");
        const refund = yield* callTool(
          "issue_refund",
          { order_id: "#W1000005", payment_method_id, amount: "64.50", reason: "hole" },
          "key-declined",
        );
        assert.deepEqual(refund, {
          result:
            "Error: the payment provider declined the refund of 64.50: the card issuer declined it",
          isFailure: true,
        });
      }),
  );

  it.effect(
    "a refund whose answer is lost is neither success nor failure: the handler says it does not know",
    () =>
      Effect.gen(function* () {
        const payment_method_id = yield* methodOfOrder("#W1000006");
        const exit = yield* Effect.exit(
          callTool(
            "issue_refund",
            { order_id: "#W1000006", payment_method_id, amount: "89.00", reason: "dead" },
            "key-lost",
          ),
        );
        assert.strictEqual(exit._tag, "Failure");
        assert.include(String(exit._tag === "Failure" ? exit.cause : ""), "UnknownOutcome");
        const states = yield* callTool(
          "list_money_requests",
          { order_id: "#W1000006" },
          "key-list",
        );
        assert.strictEqual(
          field(Array.isArray(states.result) ? states.result[0] : undefined, "state"),
          "requested",
        );
      }),
  );

  it.effect("the reconciler answers completed, safe to retry or uncertain, and never guesses", () =>
    Effect.gen(function* () {
      const lost = (toolName: string, idempotencyKey: string) =>
        reconcileMoney({ toolName, callId: "c", turn: 1, parameters: {}, idempotencyKey });
      assert.strictEqual((yield* lost("issue_refund", "key-never-sent"))._tag, "safe-to-retry");
      assert.strictEqual((yield* lost("issue_refund", "key-lost"))._tag, "uncertain");
      assert.strictEqual((yield* lost("send_email", "key-mail"))._tag, "uncertain");
      const payment_method_id = yield* methodOfOrder("#W1000001");
      const booked = yield* callTool(
        "issue_refund",
        { order_id: "#W1000001", payment_method_id, amount: "5.00", reason: "" },
        "key-booked",
      );
      assert.deepEqual(yield* lost("issue_refund", "key-booked"), {
        _tag: "completed",
        result: booked.result,
        isFailure: false,
      } as never);
    }),
  );

  it.effect(
    "[DU-06] the probe says what the provider booked, changes nothing in the shop, and what it found fits the tool",
    () =>
      Effect.gen(function* () {
        const probe = (yield* moneyProbes)["issue_refund"];
        assert.isDefined(probe);
        const ask = (idempotencyKey: string) =>
          probe.ask({
            toolName: "issue_refund",
            callId: "c",
            turn: 1,
            parameters: {},
            idempotencyKey,
          });
        const requests = yield* count("retail.provider_requests");
        assert.strictEqual((yield* ask("key-never-sent"))._tag, "not-found");
        for (const [key, isFailure] of [
          ["key-booked", false],
          ["key-declined", true],
        ] as const) {
          const found = yield* ask(key);
          assert.isTrue(found._tag === "found" && found.isFailure === isFailure, key);
          if (found._tag === "found")
            yield* checkResult(IssueRefund, found.result ?? null, isFailure);
        }
        assert.strictEqual((yield* Effect.exit(ask("key-lost")))._tag, "Failure");
        assert.strictEqual(yield* count("retail.provider_requests"), requests);
      }),
  );

  it.effect("a gift card never goes below zero", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient;
      yield* sql`UPDATE retail.payment_methods SET balance_cents = 100 WHERE user_id = 'felix_novak_1008' AND source = 'gift_card'`;
      const exit = yield* Effect.exit(
        sql`UPDATE retail.payment_methods SET balance_cents = balance_cents - 101 WHERE user_id = 'felix_novak_1008' AND source = 'gift_card'`,
      );
      assert.strictEqual(exit._tag, "Failure");
    }),
  );

  it.effect("reports and searches read the same tables", () =>
    Effect.gen(function* () {
      const products = yield* callTool("search_products", { query: "%" }, "key-search");
      assert.deepEqual(products.result, []);
      const lamps = yield* callTool("search_products", { query: "lamp" }, "key-search-2");
      assert.strictEqual(Array.isArray(lamps.result) ? lamps.result.length : 0, 2);
      const top = yield* callTool("report_sales_by_product", { limit: 3 }, "key-report");
      assert.strictEqual(Array.isArray(top.result) ? top.result.length : 0, 3);
      const statuses = yield* callTool("report_order_statuses", {}, "key-report-2");
      const orders = Array.isArray(statuses.result)
        ? statuses.result.map((row) => Number(field(row, "orders")))
        : [];
      assert.strictEqual(
        orders.reduce((sum, each) => sum + each, 0),
        600,
      );
    }),
  );
});
