/** Where threads run: in this process alone, or shared with others through Postgres. */
import { NodeClusterSocket, NodeCrypto } from "@effect/platform-node";
import { Layer, Option } from "effect";
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

/** A process is declared gone after about this long; measured takeover after kill -9 is 6 to 10 s. */
const failover = {
  shardLockExpiration: "6 seconds",
  shardLockRefreshInterval: "1500 millis",
  refreshAssignmentsInterval: "1 second",
  runnerHealthCheckInterval: "2 seconds",
  // The drain gate has waited for calls in flight before; what still runs then is interrupted at once.
  entityTerminationTimeout: "500 millis",
} as const;

/** One process: no socket, nothing stored by the cluster. */
export const singleProcessLayer = Sharding.layer.pipe(
  Layer.provide([Runners.layerNoop, RunnerHealth.layerNoop, RunnerStorage.layerMemory]),
  Layer.provide(MessageStorage.layerNoop),
  Layer.provide(ShardingConfig.layer({ ...failover, shardsPerGroup: 64 })),
);

/**
 * Several processes: members find each other and lock their shards in Postgres,
 * and speak over a socket.
 *
 * @param address `host:port` that the other members reach this one at
 */
export const memberLayer = (address: { readonly host: string; readonly port: number }) => {
  const settings = {
    ...failover,
    shardsPerGroup: 64,
    runnerAddress: Option.some(RunnerAddress.make(address.host, address.port)),
    runnerListenAddress: Option.some(RunnerAddress.make("0.0.0.0", address.port)),
  };
  // Given twice: the socket layer overlays its own copy on the environment's HOST and PORT, which are the console's.
  return NodeClusterSocket.layer({ storage: "byo", shardingConfig: settings }).pipe(
    Layer.provide([SqlRunnerStorage.layer, MessageStorage.layerNoop]),
    Layer.provide([ShardingConfig.layer(settings), NodeCrypto.layer]),
  );
};
