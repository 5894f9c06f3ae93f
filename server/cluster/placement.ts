/** Where threads run: in this process alone, or shared with others through Postgres. */
import { NodeClusterSocket, NodeCrypto } from "@effect/platform-node";
import { Effect, Exit, Layer, Option, type Redacted, Schedule, Scope } from "effect";
import {
  MessageStorage,
  RunnerAddress,
  RunnerHealth,
  Runners,
  RunnerStorage,
  Sharding,
  ShardingConfig,
  SqlRunnerStorage,
} from "effect/unstable/cluster";
import * as Database from "#server/postgres/Database.ts";
import { quietAtStop } from "./quiet-stop.ts";

/** A process is declared gone after about this long; measured takeover after kill -9 is 6 to 10 s. */
const failover = {
  shardLockExpiration: "6 seconds",
  shardLockRefreshInterval: "1500 millis",
  refreshAssignmentsInterval: "1 second",
  runnerHealthCheckInterval: "2 seconds",
  // Also how long a member waits after it failed to lock its shards: longer than a lock session may be silent (below),
  // and it would find its session ended each time.
  entityMessagePollInterval: "1 second",
  // The drain gate has waited for calls in flight before; what still runs then is interrupted at once.
  entityTerminationTimeout: "500 millis",
} as const;

/** One process: no socket, nothing stored by the cluster. */
export const singleProcessLayer = quietAtStop(
  Sharding.layer.pipe(
    Layer.provide([Runners.layerNoop, RunnerHealth.layerNoop, RunnerStorage.layerMemory]),
    Layer.provide(MessageStorage.layerNoop),
    Layer.provide(ShardingConfig.layer({ ...failover, shardsPerGroup: 64 })),
  ),
);

/**
 * Two members that start at once on a new database both create its table, and
 * PostgreSQL lets one of them fail: that one looks again, with nothing of the first try left.
 */
const makeRunnerStorage = Effect.gen(function* () {
  const scope = yield* Effect.scope;
  const once = Effect.gen(function* () {
    const own = yield* Scope.fork(scope);
    return yield* SqlRunnerStorage.make({}).pipe(
      Scope.provide(own),
      Effect.onError((cause) => Scope.close(own, Exit.failCause(cause))),
    );
  });
  return yield* Effect.retry(
    once,
    Schedule.max([Schedule.spaced("200 millis"), Schedule.recurs(5)]),
  );
});

/**
 * Shard locks belong to a database session, and a member that stands still (SIGSTOP,
 * a frozen machine) or lost its network keeps its session for as long as the server
 * believes in it: nobody could take its threads over. So these connections are the
 * storage's own, a living member uses them every second or two, and the server ends
 * one that says nothing for as long as a lock lasts.
 */
export const runnerStorageLayer = (databaseUrl: Redacted.Redacted) =>
  Layer.effect(RunnerStorage.RunnerStorage, makeRunnerStorage).pipe(
    Layer.provide(
      Database.layer({
        url: databaseUrl,
        maxConnections: 2,
        applicationName: "effect-agent-placement",
        idleSessionTimeoutMillis: 6_000,
      }),
    ),
  );

/**
 * Several processes: members find each other and lock their shards in Postgres,
 * and speak over a socket.
 *
 * @param address `host:port` that the other members reach this one at
 * @param databaseUrl the database that all members share
 */
export const memberLayer = (
  address: { readonly host: string; readonly port: number },
  databaseUrl: Redacted.Redacted,
) => {
  const settings = {
    ...failover,
    shardsPerGroup: 64,
    runnerAddress: Option.some(RunnerAddress.make(address.host, address.port)),
    runnerListenAddress: Option.some(RunnerAddress.make("0.0.0.0", address.port)),
  };
  // Given twice: the socket layer overlays its own copy on the environment's HOST and PORT, which are the console's.
  return quietAtStop(
    NodeClusterSocket.layer({ storage: "byo", shardingConfig: settings }).pipe(
      Layer.provide([runnerStorageLayer(databaseUrl), MessageStorage.layerNoop]),
      Layer.provide([ShardingConfig.layer(settings), NodeCrypto.layer]),
    ),
  );
};
