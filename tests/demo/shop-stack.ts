/** What the demo's database tests stand on: a database of their own with the bundled shop in it, and a real provider. */
import { createServer } from "node:http";

import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Effect, Layer, Redacted } from "effect";
import { HttpServer } from "effect/unstable/http";

import { shopLayer } from "#server/demo/data/shop-layer.ts";
import { PaymentProvider } from "#server/demo/payment-provider/PaymentProvider.ts";
import { providerApp } from "#server/demo/payment-provider/routes.ts";
import { RetailDeskHandlers } from "#server/demo/RetailDesk.ts";
import * as Database from "#server/postgres/Database.ts";
import { makeTestDatabase } from "#tests/support/postgres.ts";

const freshDatabase = Effect.acquireRelease(
  Effect.promise(() => makeTestDatabase()),
  (database) => Effect.promise(() => database.drop()),
);

/** A migrated, empty database. */
export const EmptyDatabase = Layer.unwrap(
  Effect.map(freshDatabase, ({ url }) =>
    Database.layer({ url: Redacted.make(url), maxConnections: 8 }),
  ),
);

const BundledShop = shopLayer(undefined);

const server = NodeHttpServer.layer(() => createServer(), {
  port: 0,
  host: "127.0.0.1",
  gracefulShutdownTimeout: "20 seconds",
});

/** The address of the provider under test, for requests of a test's own. */
export const providerUrl = Effect.map(HttpServer.HttpServer, ({ address }) =>
  "port" in address ? `http://127.0.0.1:${address.port}` : "no port",
);

/** The provider's routes on a real port, in this process. */
export const RunningProvider = providerApp.pipe(Layer.provideMerge(server));

const Client = Layer.unwrap(Effect.map(providerUrl, (url) => PaymentProvider.layer(url)));

/** The desk's handlers over the bundled shop and a running provider. */
export const ShopStack = RetailDeskHandlers.pipe(
  Layer.provideMerge(Client),
  Layer.provideMerge(RunningProvider),
  Layer.provideMerge(BundledShop),
  Layer.provideMerge(EmptyDatabase),
  Layer.provideMerge(NodeServices.layer),
);
