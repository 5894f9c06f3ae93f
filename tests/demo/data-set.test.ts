import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";

import * as NodeServices from "@effect/platform-node/NodeServices";
import { assert, describe, it } from "@effect/vitest";
import { createHash } from "node:crypto";
import { Effect, Schema } from "effect";
import fc from "fast-check";

import { bundledShop } from "#server/demo/data/bundled-shop.ts";
import {
  amountOfCents,
  CentsFromText,
  centsOfAmount,
  formatCents,
} from "#server/demo/data/money.ts";
import { readDataSet } from "#server/demo/data/read-data-set.ts";
import type { ShopDataSet } from "#server/demo/data/records.ts";
import { readyMadeRequests } from "#server/demo/requests.ts";

const withFolder = <A, E, R>(
  files: Readonly<Record<string, string>>,
  use: (folder: string) => Effect.Effect<A, E, R>,
) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(path.join(os.tmpdir(), "data-set-"));
      for (const [name, text] of Object.entries(files))
        writeFileSync(path.join(folder, name), text);
      return folder;
    }),
    use,
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true })),
  );

const filesOf = ({
  users,
  orders,
  products,
}: Pick<ShopDataSet, "users" | "orders" | "products">) => ({
  "users.json": JSON.stringify(users),
  "orders.json": JSON.stringify(orders),
  "products.json": JSON.stringify(products),
});

const refusalOf = (files: Readonly<Record<string, string>>) =>
  withFolder(files, readDataSet).pipe(Effect.flip, Effect.provide(NodeServices.layer));

describe("the bundled shop", () => {
  it("has 300 customers, 600 orders and 50 products, and is the same every time", () => {
    const shop = bundledShop();
    assert.strictEqual(Object.keys(shop.users).length, 300);
    assert.strictEqual(Object.keys(shop.orders).length, 600);
    assert.strictEqual(Object.keys(shop.products).length, 50);
    const digest = createHash("sha256").update(JSON.stringify(shop)).digest("hex");
    assert.strictEqual(
      createHash("sha256").update(JSON.stringify(bundledShop())).digest("hex"),
      digest,
    );
    // Another digest means that every existing installation's shop differs from a new one's: change the set's name too.
    assert.strictEqual(digest, "87f1debca6c653ff3b434b90de21c20afb7f6ce0e611716807473b915b702f3d");
  });

  it.effect("reads back as a data set folder: one loader serves both", () =>
    Effect.gen(function* () {
      const shop = bundledShop();
      const read = yield* withFolder(filesOf(shop), readDataSet);
      assert.deepEqual(Object.keys(read.orders), Object.keys(shop.orders));
      assert.deepEqual({ ...read.users }, shop.users);
    }).pipe(Effect.provide(NodeServices.layer)),
  );

  it("has every order that a ready-made request speaks of, and its customer's address", () => {
    const { orders, users } = bundledShop();
    const emails = new Set(Object.values(users).map(({ email }) => email));
    for (const { text } of readyMadeRequests) {
      for (const [id] of text.matchAll(/#W\d{7}/g)) assert.isDefined(orders[id], id);
      for (const [email] of text.matchAll(/[\w.]+@[\w.]+\w/g))
        assert.isTrue(emails.has(email), email);
    }
  });
});

describe("a data set that cannot be loaded", () => {
  const shop = bundledShop();
  const [firstUser] = Object.keys(shop.users);
  const [firstOrder] = Object.keys(shop.orders);

  it.effect("names the file, the record and the path of a wrong value", () =>
    Effect.gen(function* () {
      const order = shop.orders[firstOrder ?? ""];
      const orders = {
        ...shop.orders,
        [firstOrder ?? ""]: { ...order, items: [{ ...order?.items[0], price: 12.345 }] },
      };
      const refused = yield* refusalOf(
        filesOf({ ...shop, orders: orders as ShopDataSet["orders"] }),
      );
      assert.strictEqual(refused._tag, "DataSetInvalid");
      assert.include(refused.message, "orders.json");
      assert.include(refused.message, `record ${firstOrder} at items.0.price`);
      assert.include(refused.message, "12.345");
    }),
  );

  it.effect("is refused for an order whose customer does not exist", () =>
    Effect.gen(function* () {
      const { [firstUser ?? ""]: _, ...users } = shop.users;
      const refused = yield* refusalOf(filesOf({ ...shop, users }));
      assert.match(refused.message, /orders\.json.*user_id.*no user/s);
    }),
  );

  it.effect(
    "is refused for a missing file, text that is no JSON, and a list in place of an object",
    () =>
      Effect.gen(function* () {
        const { "products.json": _, ...withoutProducts } = filesOf(shop);
        assert.match(
          (yield* refusalOf(withoutProducts)).message,
          /products\.json.*no readable file/,
        );
        assert.match(
          (yield* refusalOf({ ...filesOf(shop), "users.json": "{" })).message,
          /users\.json.*not valid JSON/,
        );
        assert.match(
          (yield* refusalOf({ ...filesOf(shop), "users.json": "[]" })).message,
          /users\.json.*one JSON object/,
        );
      }),
  );
});

describe("money", () => {
  const decode = Schema.decodeUnknownSync(CentsFromText);
  const encode = Schema.encodeSync(CentsFromText);

  it("is exact between text and cents over the whole range", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999 }), (cents) => {
        assert.strictEqual(decode(formatCents(cents)), cents);
        assert.strictEqual(encode(decode(formatCents(cents))), formatCents(cents));
        assert.strictEqual(amountOfCents(cents), Number(formatCents(cents)));
        assert.strictEqual(centsOfAmount(amountOfCents(cents)), cents);
      }),
    );
  });

  it("takes dollars with two decimals only", () => {
    for (const text of [
      "1",
      "1.5",
      "1.234",
      "-1.00",
      "01.00",
      "1e3",
      " 1.00",
      "1,000.00",
      "10000000.00",
      "",
    ]) {
      assert.throws(() => decode(text), undefined, undefined, text);
    }
  });
});
