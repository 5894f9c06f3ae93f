/** The only file that wires live layers: from settings and surroundings to a listening host. */
import { NodeServices } from "@effect/platform-node";
import { Effect, Layer, Option, Random, type Redacted } from "effect";
import { Model } from "effect/unstable/ai";
import type { Sharding } from "effect/unstable/cluster";
import * as Agent from "#lib/agent/Agent.ts";
import { WorkerId } from "#lib/contract/ids.ts";
import { AgentRegistry, register } from "#lib/host/AgentRegistry.ts";
import { ThreadDriver } from "#lib/host/ThreadDriver.ts";
import { catalogueLayer, toolSchemasLayer } from "#server/agents/RegistryCatalogue.ts";
import { toolProbesLayer } from "#server/agents/RegistryProbes.ts";
import { heartbeatLayer } from "#server/cluster/Heartbeat.ts";
import { holdHostLock } from "#server/cluster/host-lock.ts";
import { housekeepingLayer } from "#server/cluster/Housekeeping.ts";
import { memberLayer, singleProcessLayer } from "#server/cluster/placement.ts";
import { retentionOfSettings } from "#server/cluster/RetentionJob.ts";
import { sweeperLayer } from "#server/cluster/Sweeper.ts";
import { drainLayer, threadEntityLayer, wakesLayer } from "#server/cluster/Thread.ts";
import { ServerConfig } from "#server/Config.ts";
import { shopLayer } from "#server/demo/data/shop-layer.ts";
import { PaymentProvider } from "#server/demo/payment-provider/PaymentProvider.ts";
import { RetailPolicy } from "#server/demo/policy.ts";
import { moneyProbes, moneyReconcilers } from "#server/demo/reconcile-money.ts";
import { readyMadeRequests } from "#server/demo/requests.ts";
import { orderRecheck, retailDesk, RetailDeskHandlers } from "#server/demo/RetailDesk.ts";
import { nextPages } from "#server/http/NextPages.ts";
import { OwnHosts } from "#server/http/OwnHosts.ts";
import { apiRoutes } from "#server/http/routes.ts";
import { startServer } from "#server/http/Server.ts";
import type { ApiServices } from "#server/http/services.ts";
import { originOf } from "#server/launch/origin.ts";
import { Listening, Surroundings } from "#server/launch/Surroundings.ts";
import { ModelBinding } from "#server/model/ModelBinding.ts";
import { modelLayer } from "#server/model/Models.ts";
import { seedInstallation } from "#server/operator/seed-installation.ts";
import { packageRoot } from "#server/package-root.ts";
import * as Database from "#server/postgres/Database.ts";
import * as ReadDatabase from "#server/postgres/ReadDatabase.ts";
import { ensureTenantRole } from "#server/postgres/tenant-role.ts";
import { EventHints } from "#server/postgres/EventHints.ts";
import { portsLayer } from "#server/postgres/ports.ts";

/** The store's ports over one pool, and the console's reads over their own. */
const storeLayer = Layer.unwrap(
  Effect.gen(function* () {
    const { databaseUrl: url } = yield* Surroundings;
    const { consoleConnections, consoleStatementSeconds, databaseConnections } =
      yield* ServerConfig;
    return portsLayer.pipe(
      Layer.provide(EventHints.layer),
      Layer.provideMerge(Database.layer({ url, maxConnections: databaseConnections })),
      Layer.provideMerge(
        ReadDatabase.layer({
          url,
          connections: consoleConnections,
          statementSeconds: consoleStatementSeconds,
        }),
      ),
    );
  }),
);

/** The model, and its name where upstream looks for it: runs record which one answered. */
const modelOfSettings = Layer.effect(
  Model.ModelName,
  Effect.map(ModelBinding, ({ modelId }) => modelId),
).pipe(
  Layer.provideMerge(
    Layer.unwrap(
      Effect.map(ServerConfig, (config) => modelLayer(config, { eventPause: "15 millis" })),
    ),
  ),
);

const providerLayer = Layer.unwrap(
  Effect.map(Surroundings, ({ paymentProviderUrl }) => PaymentProvider.layer(paymentProviderUrl)),
);

const examples = readyMadeRequests.map(({ id, title, text, expect }) => ({
  id,
  title,
  shows: expect,
  input: text,
}));

/** The agents of this host. A host of your own registers its bindings here (docs/production.md). */
const agentsLayer = AgentRegistry.layer(
  Effect.gen(function* () {
    // A refund that was under way when a process died is looked up at the provider before a person is asked (DU-06).
    const reconcilers = yield* moneyReconcilers;
    const probes = yield* moneyProbes;
    const options = { examples, reconcilers, probes };
    return [
      yield* register(Agent.bind(retailDesk, RetailDeskHandlers), options),
      yield* register(Agent.bind(orderRecheck, RetailDeskHandlers), { reconcilers, probes }),
    ];
  }),
).pipe(Layer.provide([RetailPolicy, providerLayer]));

/** The bundled shop, or the one of `--dataset FOLDER`; what the tables hold already is kept. */
const shopOfSettings = Layer.unwrap(
  Effect.map(ServerConfig, ({ dataset }) => shopLayer(Option.getOrUndefined(dataset))),
);

type Placement = Layer.Layer<
  Sharding.Sharding,
  Layer.Error<typeof alone> | Layer.Error<ReturnType<typeof memberLayer>>,
  Layer.Services<typeof alone> | Layer.Services<ReturnType<typeof memberLayer>>
>;

/** Alone behind a lock, or a member of a cluster when the settings give this host an address. */
const alone = singleProcessLayer.pipe(Layer.provideMerge(Layer.effectDiscard(holdHostLock)));

const memberAt = (address: string, databaseUrl: Redacted.Redacted) => {
  const split = address.lastIndexOf(":");
  const place = { host: address.slice(0, split), port: Number(address.slice(split + 1)) };
  return memberLayer(place, databaseUrl);
};

const placementLayer = Layer.unwrap(
  Effect.gen(function* () {
    const { clusterAddress } = yield* ServerConfig;
    const { databaseUrl } = yield* Surroundings;
    return Option.match(clusterAddress, {
      onNone: (): Placement => alone,
      onSome: (address): Placement => memberAt(address, databaseUrl),
    });
  }),
);

const makeWorkerId = Effect.gen(function* () {
  const { clusterAddress } = yield* ServerConfig;
  const address = Option.getOrElse(clusterAddress, () => "this-host");
  // A container's process always has the same number, so each start also has a part of its own.
  const start = yield* Random.nextIntBetween(0, 2 ** 32);
  const place = address.replaceAll(/[^A-Za-z0-9.-]/g, "-");
  return {
    address,
    workerId: WorkerId.make(`worker-${place}-${process.pid}-${start.toString(36)}`),
  };
});

/** How long calls in flight may take to end when the host stops; the launcher ends everything at 5 s. */
const drainMillis = 1_500;

/** Threads are placed, driven, swept and counted; `Wakes` is what the API rings. */
const workLayer = Layer.unwrap(
  Effect.map(makeWorkerId, ({ address, workerId }) =>
    Layer.mergeAll(
      drainLayer(drainMillis),
      sweeperLayer,
      housekeepingLayer,
      retentionOfSettings,
      heartbeatLayer(workerId, address),
    ).pipe(
      Layer.provide(threadEntityLayer),
      Layer.provide(ThreadDriver.layer(workerId)),
      Layer.provideMerge(wakesLayer),
    ),
  ),
);

/** Everything but HTTP. */
export const hostLayer = Layer.mergeAll(
  workLayer,
  catalogueLayer,
  toolSchemasLayer,
  toolProbesLayer,
).pipe(
  Layer.provideMerge(placementLayer),
  Layer.provideMerge(agentsLayer),
  Layer.provideMerge(modelOfSettings),
  Layer.provideMerge(shopOfSettings),
  Layer.provideMerge(storeLayer),
  Layer.provide(NodeServices.layer),
);

/** Browsers reach the console under this host when a proxy stands in front. */
const ownHostsLayer = Layer.effect(
  OwnHosts,
  Effect.map(ServerConfig, ({ publicUrl }) =>
    Option.match(publicUrl, { onNone: () => [], onSome: (url) => [new URL(url).host] }),
  ),
);

const development = process.env["NODE_ENV"] === "development";

const notesOf = Effect.gen(function* () {
  const { modelId, isRehearsal } = yield* ModelBinding;
  const { databaseOrigin } = yield* Surroundings;
  return [
    databaseOrigin === "external"
      ? "database: DATABASE_URL"
      : "database: PostgreSQL in the data folder",
    isRehearsal
      ? "model: rehearsal (rules, no AI); set OPENAI_API_KEY, OPENAI_BASE_URL or ANTHROPIC_API_KEY for a real one"
      : `model: ${modelId}`,
  ];
});

const listening = Effect.gen(function* () {
  const { host, port, adminToken, publicUrl } = yield* ServerConfig;
  yield* ensureTenantRole;
  const invitation = yield* seedInstallation(adminToken);
  const pages = yield* nextPages({ folder: packageRoot, development, host, port });
  const services = yield* Effect.context<ApiServices>();
  const bound = yield* startServer(
    { host, port, development, pages, graceMillis: 500 },
    apiRoutes.pipe(Layer.provide(Layer.succeedContext(services))),
  );
  const origin = Option.getOrElse(publicUrl, () => originOf(host, bound.port));
  return Listening.of({
    origin,
    signInLink: Option.map(invitation, ({ path }) => `${origin}${path}`),
    notes: yield* notesOf,
  });
});

/** The whole host: work, API and console on one port. */
export const layerApp = Layer.effect(Listening, listening).pipe(
  Layer.provide(ownHostsLayer),
  Layer.provide(hostLayer),
);
