/**
 * Reads a data set folder: three JSON files, checked record by record so that
 * an error names the file, the record and the path in it.
 */
import { createHash } from "node:crypto";

import { Effect, FileSystem, Path, Schema, SchemaIssue } from "effect";

import { DataSetInvalid } from "./data-set-errors.ts";
import { OrderRecord, ProductRecord, UserRecord, type ShopDataSet } from "./records.ts";

const maxFileBytes = 64 * 1024 * 1024;
const maxRecordsPerFile = 100_000;

const issues = SchemaIssue.makeFormatterStandardSchemaV1();

const describeIssue = (
  error: Schema.SchemaError,
): { readonly path: string; readonly problem: string } => {
  const first = issues(error.issue).issues[0];
  const path = (first?.path ?? []).map((segment) =>
    String(typeof segment === "object" ? segment.key : segment),
  );
  return { path: path.join("."), problem: first?.message ?? error.message };
};

const readJsonObject = Effect.fn("readDataSet.file")(function* (folder: string, file: string) {
  const fileSystem = yield* FileSystem.FileSystem;
  const path = yield* Path.Path;
  const invalid = (problem: string) => new DataSetInvalid({ file, record: "", path: "", problem });
  const location = path.join(folder, file);

  const info = yield* fileSystem
    .stat(location)
    .pipe(Effect.mapError(() => invalid(`no readable file in ${folder}`)));
  if (Number(info.size) > maxFileBytes) {
    return yield* invalid(`it is ${info.size} bytes long and at most ${maxFileBytes} are read`);
  }
  const text = yield* fileSystem
    .readFileString(location)
    .pipe(Effect.mapError((error) => invalid(`it cannot be read (${error.message})`)));
  const parsed = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Unknown))(
    text,
  ).pipe(Effect.mapError(() => invalid("it is not valid JSON")));
  const records = yield* Schema.decodeUnknownEffect(Schema.Record(Schema.String, Schema.Unknown))(
    parsed,
  ).pipe(Effect.mapError(() => invalid("it must hold one JSON object, keyed by record id")));
  const entries = Object.entries(records);
  if (entries.length > maxRecordsPerFile) {
    return yield* invalid(
      `it holds ${entries.length} records and at most ${maxRecordsPerFile} are read`,
    );
  }
  return { text, entries };
});

const decodeRecords = Effect.fn("readDataSet.records")(function* <S extends Schema.Constraint>(
  file: string,
  entries: ReadonlyArray<[string, unknown]>,
  schema: S,
) {
  const decode = Schema.decodeUnknownEffect(schema, { onExcessProperty: "error" });
  const decoded: Record<string, S["Type"]> = Object.create(null);
  for (const [key, value] of entries) {
    decoded[key] = yield* decode(value).pipe(
      Effect.mapError(
        (error) => new DataSetInvalid({ file, record: key, ...describeIssue(error) }),
      ),
    );
  }
  return decoded;
});

/** What a schema of one record cannot see: ids that must agree between records. */
const findBrokenReference = (dataSet: ShopDataSet): DataSetInvalid | undefined => {
  const at = (file: string, record: string, path: string, problem: string) =>
    new DataSetInvalid({ file, record, path, problem });
  for (const [key, user] of Object.entries(dataSet.users)) {
    for (const [methodKey, method] of Object.entries(user.payment_methods)) {
      const path = `payment_methods.${methodKey}`;
      if (method.id !== methodKey)
        return at("users.json", key, `${path}.id`, `it must repeat its key, seen "${method.id}"`);
      if ((method.source === "gift_card") !== (method.balance !== undefined)) {
        return at(
          "users.json",
          key,
          `${path}.balance`,
          "gift cards and only gift cards have a balance",
        );
      }
    }
    const missing = user.orders.find((orderId) => dataSet.orders[orderId]?.user_id !== key);
    if (missing !== undefined)
      return at("users.json", key, "orders", `order ${missing} is not an order of this user`);
  }
  for (const [key, order] of Object.entries(dataSet.orders)) {
    if (order.order_id !== key)
      return at("orders.json", key, "order_id", `it must repeat its key, seen "${order.order_id}"`);
    if (dataSet.users[order.user_id] === undefined) {
      return at("orders.json", key, "user_id", `there is no user "${order.user_id}" in users.json`);
    }
  }
  const owners = new Map<string, string>();
  for (const [key, product] of Object.entries(dataSet.products)) {
    if (product.product_id !== key)
      return at(
        "products.json",
        key,
        "product_id",
        `it must repeat its key, seen "${product.product_id}"`,
      );
    for (const [itemKey, variant] of Object.entries(product.variants)) {
      if (variant.item_id !== itemKey)
        return at("products.json", key, `variants.${itemKey}.item_id`, "it must repeat its key");
      const owner = owners.get(itemKey);
      if (owner !== undefined)
        return at(
          "products.json",
          key,
          `variants.${itemKey}`,
          `the item already belongs to product ${owner}`,
        );
      owners.set(itemKey, key);
    }
  }
  return undefined;
};

/** Reads and checks the folder whole; nothing of it is loaded here. */
export const readDataSet = Effect.fn("readDataSet")(function* (folder: string) {
  const path = yield* Path.Path;
  const users = yield* readJsonObject(folder, "users.json");
  const orders = yield* readJsonObject(folder, "orders.json");
  const products = yield* readJsonObject(folder, "products.json");
  const digest = createHash("sha256")
    .update(users.text)
    .update(orders.text)
    .update(products.text)
    .digest("hex");
  const dataSet: ShopDataSet = {
    name: `${path.basename(path.resolve(folder))} ${digest.slice(0, 12)}`,
    users: yield* decodeRecords("users.json", users.entries, UserRecord),
    orders: yield* decodeRecords("orders.json", orders.entries, OrderRecord),
    products: yield* decodeRecords("products.json", products.entries, ProductRecord),
  };
  const broken = findBrokenReference(dataSet);
  if (broken !== undefined) return yield* broken;
  return dataSet;
});
