/**
 * One host process of the process proofs: a member of the cluster on the loopback,
 * wired as `server/App.ts` wires it, without the console. It drives whatever is
 * due until it is told to end, and says on its output each append that was refused.
 */
import "./skewed-clock.ts";
import { NodeRuntime } from "@effect/platform-node";
import { Config, Effect, Layer, type Redacted } from "effect";
import type { Sharding } from "effect/unstable/cluster";
import * as Agent from "#lib/agent/Agent.ts";
import { WorkerId } from "#lib/contract/ids.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { AgentRegistry, register } from "#lib/host/AgentRegistry.ts";
import { ThreadDriver } from "#lib/host/ThreadDriver.ts";
import { journalLayer, ledgerLayer, ReachFailpoint } from "#lib/testing/failpoints.ts";
import { holdHostLock } from "#server/cluster/host-lock.ts";
import { heartbeatLayer } from "#server/cluster/Heartbeat.ts";
import { memberLayer, singleProcessLayer } from "#server/cluster/placement.ts";
import { sweeperLayer } from "#server/cluster/Sweeper.ts";
import { drainLayer, threadEntityLayer, wakesLayer } from "#server/cluster/Thread.ts";
import * as Database from "#server/postgres/Database.ts";
import { EventHints } from "#server/postgres/EventHints.ts";
import * as EventLogPg from "#server/postgres/EventLogPg.ts";
import * as JournalPg from "#server/postgres/JournalPg.ts";
import { peopleLayer } from "#server/postgres/ports.ts";
import * as SubmissionLedgerPg from "#server/postgres/SubmissionLedgerPg.ts";
import { fleetAgent, fleetHandlers, followScript } from "./agent.ts";
import { say } from "./host-lines.ts";
import { modelLayer } from "./model.ts";

const settings = Config.all({
  databaseUrl: Config.Redacted("FLEET_DATABASE_URL"),
  provider: Config.String("FLEET_PROVIDER"),
  port: Config.Int("FLEET_PORT"),
  alone: Config.String("FLEET_ALONE").pipe(Config.withDefault("")),
  /** `place:count`: dies with SIGKILL when it passes that failpoint for the n-th time. */
  killAt: Config.String("FLEET_KILL_AT").pipe(Config.withDefault("")),
});

/** Writes down what the fence refused; the proof counts these lines and looks at the records besides. */
const refusalsLayer = Layer.effect(
  Journal,
  Effect.map(Journal, (journal) =>
    Journal.of({
      ...journal,
      append: (request) =>
        Effect.tapError(journal.append(request), (error) =>
          Effect.sync(() =>
            say({
              _tag: "refused",
              error: error._tag,
              threadId: request.threadId,
              runId: request.runId,
              epoch: request.epoch,
              kinds: request.records.map((record) => record._tag),
            }),
          ),
        ),
    }),
  ),
);

const reachLayer = (killAt: string) => {
  const split = killAt.lastIndexOf(":");
  const place = killAt.slice(0, split);
  let left = Number(killAt.slice(split + 1));
  return Layer.succeed(ReachFailpoint, (reached) =>
    Effect.suspend(() => {
      if (reached !== place) return Effect.void;
      left -= 1;
      if (left !== 0) return Effect.void;
      process.kill(process.pid, "SIGKILL");
      return Effect.never;
    }),
  );
};

/** Says that the model was asked before it answers. */
const followAloud = (request: Parameters<typeof followScript>[0]) => {
  const last = request.prompt.content.at(-1);
  const results =
    last?.role === "tool"
      ? last.content.flatMap((part) => (part.type === "tool-result" ? [part.id] : []))
      : [];
  say({ _tag: "asked", results });
  return followScript(request);
};

/** As server/App.ts places its threads: alone behind the host lock, or with the other members. */
const alonePlacement = singleProcessLayer.pipe(
  Layer.provideMerge(Layer.effectDiscard(holdHostLock)),
);
type Placement = Layer.Layer<
  Sharding.Sharding,
  Layer.Error<typeof alonePlacement> | Layer.Error<ReturnType<typeof memberLayer>>,
  Layer.Services<typeof alonePlacement> | Layer.Services<ReturnType<typeof memberLayer>>
>;
const placementLayer = (
  isAlone: boolean,
  port: number,
  databaseUrl: Redacted.Redacted,
): Placement => (isAlone ? alonePlacement : memberLayer({ host: "127.0.0.1", port }, databaseUrl));

const hostLayer = Layer.unwrap(
  Effect.map(settings, ({ databaseUrl, provider, port, alone, killAt }) => {
    const workerId = WorkerId.make(`worker-${port}-${process.pid}`);
    const store = Layer.mergeAll(
      journalLayer.pipe(Layer.provide(refusalsLayer), Layer.provide(JournalPg.layer)),
      ledgerLayer.pipe(Layer.provide(SubmissionLedgerPg.layer)),
      EventLogPg.layer,
      peopleLayer,
    ).pipe(
      Layer.provide(EventHints.layer),
      Layer.provideMerge(
        Database.layer({
          url: databaseUrl,
          applicationName: `fleet-${port}`,
        }),
      ),
    );
    return Layer.mergeAll(
      drainLayer(1_500),
      sweeperLayer,
      heartbeatLayer(workerId, `127.0.0.1:${port}`),
    ).pipe(
      Layer.provide(threadEntityLayer),
      Layer.provide(ThreadDriver.layer(workerId)),
      Layer.provideMerge(wakesLayer),
      Layer.provideMerge(placementLayer(alone === "1", port, databaseUrl)),
      Layer.provideMerge(
        AgentRegistry.layer(
          Effect.all([register(Agent.bind(fleetAgent, fleetHandlers(provider)))]),
        ),
      ),
      Layer.provideMerge(modelLayer(followAloud)),
      Layer.provideMerge(store),
      Layer.provideMerge(reachLayer(killAt)),
    );
  }),
);

process.on("SIGUSR2", () => {
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  say({ _tag: "memory", rss, heap: heapUsed });
});

NodeRuntime.runMain(
  Effect.gen(function* () {
    yield* Effect.sync(() => say({ _tag: "ready" }));
    yield* Effect.never;
  }).pipe(Effect.provide(hostLayer)),
);
