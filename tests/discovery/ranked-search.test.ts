import { assert, describe, it } from "@effect/vitest";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Ref from "effect/Ref";
import * as Schema from "effect/Schema";
import * as Tool from "effect/unstable/ai/Tool";
import fc from "fast-check";
import { foldWord, splitWords } from "#lib/exposure/discovery/search-terms.ts";
import * as ToolDiscovery from "#lib/tool-discovery.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";
import { callDiscovery, catalogueOf, GetRecord, SearchRecords } from "./desk.ts";

const tool = (name: string, namespace: string, description: string, parameter = "id"): Tool.Any =>
  Tool.make(name, {
    description,
    parameters: Schema.Struct({ [parameter]: Schema.String }),
  }).annotate(ToolNamespace, namespace);

const shop = catalogueOf(
  tool("cancelPendingOrder", "orders", "Cancel an order that has not shipped."),
  tool("get_order_details", "orders", "Status, items and delivery of one order."),
  tool("issue_refund", "payments", "Pay money back to the customer's card."),
  tool("send_mail", "mail", "Send an e-mail to a customer.", "recipient"),
  tool("sales_report", "reports", "Revenue by month.", "quarter"),
  tool("erase_customer", "customers", "Delete all data of a person."),
);
const ranked = ToolDiscovery.make({ search: ToolDiscovery.rankedSearch() });
const find = (query: string, namespace?: string) =>
  Effect.map(
    callDiscovery(ranked, shop, { query, ...(namespace === undefined ? {} : { namespace }) }),
    ({ result }) => result.toolNames,
  );

describe("ranked search", () => {
  it.effect("a sentence finds the tool it is about, where every-word search finds nothing", () =>
    Effect.gen(function* () {
      const cases = [
        ["Please cancel my pending orders, they were not shipped yet", "cancelPendingOrder"],
        ["the customer wants a refund to the card", "issue_refund"],
        ["removing a person and all of the data", "erase_customer"],
        ["which quarter had the best revenue", "sales_report"],
        ["retrieve the details of an order", "get_order_details"],
        ["refumd", "issue_refund"],
      ] as const;
      for (const [query, expected] of cases) {
        assert.strictEqual((yield* find(query))[0], expected, query);
        assert.notInclude(
          (yield* callDiscovery(ToolDiscovery.make(), shop, { query })).result.toolNames,
          expected,
          query,
        );
      }
    }),
  );

  it.effect(
    "the exact namespace still filters, and a word every tool shares still finds them",
    () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* find("refund for the order", "payments"), ["issue_refund"]);
        const records = yield* callDiscovery(ranked, catalogueOf(GetRecord, SearchRecords), {
          query: "record",
        });
        assert.strictEqual(records.result.matches.length, 2);
        assert.match(
          (yield* callDiscovery(ranked, shop, { query: "zzzzzz" })).result.notice ?? "",
          /No tool/,
        );
      }),
  );

  it.effect("equal scores come in id order, whatever the order of the toolkit", () =>
    Effect.gen(function* () {
      const tools = ["c", "a", "b"].map((name) => tool(name, "x", "same words"));
      const { result } = yield* callDiscovery(ranked, catalogueOf(...tools), {
        query: "same words",
      });
      assert.deepStrictEqual(result.toolNames, ["a", "b", "c"]);
    }),
  );

  it.effect("any query gets an answer of known ids, never an exception", () =>
    Effect.gen(function* () {
      const queries = fc.sample(
        fc.oneof(
          fc.string({ unit: "binary", minLength: 1 }),
          fc.constantFrom("__proto__", "constructor", "toString", "検索 データ", "* ( ["),
        ),
        200,
      );
      for (const query of queries.filter((text) => /\S/.test(text)))
        yield* find(query.slice(0, 512));
    }),
  );

  it.effect("building an index of 3,000 tools lets other fibers run meanwhile", () =>
    Effect.gen(function* () {
      const turns = yield* Ref.make(0);
      const other = yield* Effect.forkChild(
        Effect.forever(
          Effect.andThen(
            Ref.update(turns, (count) => count + 1),
            Effect.yieldNow,
          ),
        ),
      );
      const large = catalogueOf(
        ...Array.from({ length: 3_000 }, (_, index) =>
          tool(`tool_${index}`, `ns_${index % 50}`, `Handles case ${index}`),
        ),
      );
      const { result } = yield* callDiscovery(ranked, large, { query: "tool 1234" });
      yield* Fiber.interrupt(other);
      assert.strictEqual(result.toolNames[0], "tool_1234");
      assert.isAtLeast(yield* Ref.get(turns), 5);
    }),
  );

  it("names are split at case, digits and punctuation, and word forms fold together", () => {
    assert.deepStrictEqual(splitWords("getOrder_byID2 HTTPServer-list"), [
      "get",
      "order",
      "by",
      "id2",
      "http",
      "server",
      "list",
    ]);
    assert.deepStrictEqual(splitWords("天気予報"), ["天気", "気予", "予報"]);
    for (const forms of [
      ["create", "creates", "created", "creating"],
      ["refund", "refunds", "refunded", "refunding"],
      ["query", "queries"],
      ["stop", "stopped", "stopping"],
      ["order", "orders", "ordering", "ordered"],
    ]) {
      assert.strictEqual(new Set(forms.map(foldWord)).size, 1, forms.join(" "));
    }
    assert.isNull(foldWord("the"));
    assert.notStrictEqual(foldWord("status"), foldWord("state"));
  });
});
