/**
 * PostgreSQL itself dies under a working host: real server, real SIGQUIT, the
 * host's own placement, sweeper and heartbeat. Nothing here restarts the host.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Effect, Exit, Layer, Redacted, Schedule, Schema, Scope } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import * as Agent from "#lib/agent/Agent.ts";
import { AgentId, TenantId, WorkerId } from "#lib/contract/ids.ts";
import { CurrentToolCall } from "#lib/current-tool-call.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { AgentRegistry, register } from "#lib/host/AgentRegistry.ts";
import { ThreadDriver } from "#lib/host/ThreadDriver.ts";
import type { RecordedRequest } from "#lib/testing/recorded-request.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { heartbeatLayer } from "#server/cluster/Heartbeat.ts";
import { singleProcessLayer } from "#server/cluster/placement.ts";
import { sweeperLayer } from "#server/cluster/Sweeper.ts";
import { threadEntityLayer, wakesLayer } from "#server/cluster/Thread.ts";
import { applyMigrations } from "#server/launch/migrations.ts";
import * as Database from "#server/postgres/Database.ts";
import { start } from "#server/postgres/embedded/EmbeddedPostgres.ts";
import { isAlive } from "#server/postgres/embedded/postmaster-pid.ts";
import { storeLayer } from "#tests/support/durable-host.ts";

const tenantId = TenantId.make("default");
const workerId = WorkerId.make("worker-restart");
const runs = 12;

const Charge = Tool.make("charge", { success: Schema.String });
const toolkit = Toolkit.make(Charge);
const agent = Agent.make("cashier", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Charge twice.",
  toolkit,
  policy: { toolConcurrency: 1 },
});

const script = (request: RecordedRequest) =>
  request.prompt.content.some((message) => message.role === "tool")
    ? text("charged twice")
    : toolCalls([
        { id: "a", name: "charge" },
        { id: "b", name: "charge" },
      ]);

/** The provider: it stands outside of the database and remembers every key it was ever asked for. */
const provider = { times: new Map<string, number>() };
const handlers = toolkit.toLayer({
  charge: () =>
    Effect.gen(function* () {
      const key = (yield* CurrentToolCall)?.idempotencyKey ?? "";
      provider.times.set(key, (provider.times.get(key) ?? 0) + 1);
      yield* Effect.sleep("150 millis");
      return "charged";
    }),
});

const folder = mkdtempSync(path.join(os.tmpdir(), "effect-agent-restart-"));
const server = () => start({ folder, name: "effect_agent", settings: { max_connections: "60" } });

let scope: Scope.Closeable;
let running: Effect.Success<ReturnType<typeof server>>;
beforeAll(async () => {
  // The server may run as another user than the test does.
  chmodSync(folder, 0o755);
  scope = await Effect.runPromise(Scope.make());
  running = await Effect.runPromise(Scope.provide(server(), scope));
  await Effect.runPromise(applyMigrations(Redacted.make(running.url)));
});
afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void));
  rmSync(folder, { recursive: true, force: true });
});

/** Immediate shutdown: every connection breaks, nothing is written in order, the next start recovers from the log. */
const crashServer = Effect.gen(function* () {
  process.kill(running.pid, "SIGQUIT");
  yield* Effect.repeat(
    Effect.sync(() => isAlive(running.pid)),
    {
      until: (alive) => !alive,
      schedule: Schedule.spaced("20 millis"),
    },
  );
});
const restartServer = Effect.gen(function* () {
  running = yield* Scope.provide(server(), scope);
});

const hostLayer = (url: string) =>
  Layer.mergeAll(threadEntityLayer, sweeperLayer, heartbeatLayer(workerId, "here")).pipe(
    Layer.provide(ThreadDriver.layer(workerId)),
    Layer.provideMerge(wakesLayer),
    Layer.provideMerge(singleProcessLayer),
    Layer.provideMerge(AgentRegistry.layer(Effect.all([register(Agent.bind(agent, handlers))]))),
    Layer.provideMerge(ScriptedModel.layer([], { whenExhausted: script })),
    Layer.provideMerge(storeLayer(url)),
  );

const Run = Schema.Struct({
  runId: Schema.String,
  state: Schema.Literals([
    "queued",
    "running",
    "waiting",
    "unknown",
    "completed",
    "failed",
    "aborted",
  ]),
  keys: Schema.Array(Schema.String),
});

const readRuns = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const rows = yield* sql`
    SELECT r.run_id AS "runId", r.state,
      ARRAY(SELECT t.idempotency_key FROM tool_calls t WHERE t.tenant_id = r.tenant_id
        AND t.run_id = r.run_id AND t.state = 'succeeded') AS keys
    FROM runs r`;
  return yield* Schema.decodeUnknownEffect(Schema.Array(Run))(rows);
});

const isReady = Effect.map(Effect.exit(Database.ping), Exit.isSuccess);
const effectsSeen = (count: number) =>
  Effect.repeat(
    Effect.sync(() => provider.times.size),
    {
      until: (seen) => seen >= count,
      schedule: Schedule.spaced("20 millis"),
    },
  );

describe("PostgreSQL crashes under a working host", () => {
  it("[R69][PG-08] twice, for a moment and for longer than any retry: no effect happens twice, what was in flight finishes or is in doubt, and the backlog drains by itself", async () => {
    await Effect.gen(function* () {
      const ledger = yield* SubmissionLedger;
      for (let number = 0; number < runs; number += 1)
        yield* ledger.admit({
          tenantId,
          agentId: AgentId.make("cashier"),
          threadId: undefined,
          principal: { kind: "operator", id: "op", name: "Op" },
          idempotencyKey: `restart-key-${number}`,
          input: "go",
          title: "go",
        });
      yield* effectsSeen(3);
      yield* crashServer;
      assert.isFalse(yield* isReady);
      yield* restartServer;
      yield* Effect.repeat(isReady, {
        until: (ready) => ready,
        schedule: Schedule.spaced("100 millis"),
      });
      yield* effectsSeen(8);
      yield* crashServer;
      // The writers give up after about six seconds; what they held is taken up again after the restart.
      yield* Effect.sleep("8 seconds");
      yield* restartServer;
      const ended = yield* Effect.repeat(readRuns.pipe(Effect.orElseSucceed(() => [])), {
        until: (all) =>
          all.length === runs &&
          all.every(({ state }) => state === "completed" || state === "unknown"),
        schedule: Schedule.spaced("250 millis"),
      }).pipe(Effect.timeout("90 seconds"));
      assert.isTrue(yield* isReady);
      assert.deepStrictEqual(
        [...provider.times].filter(([, times]) => times !== 1),
        [],
      );
      // Whatever a run says was charged was charged, and a completed run charged both.
      for (const { keys, state } of ended) {
        for (const key of keys) assert.isTrue(provider.times.has(key));
        if (state === "completed") assert.strictEqual(keys.length, 2);
      }
      const completed = ended.filter(({ state }) => state === "completed").length;
      assert.isAbove(completed, 0);
    }).pipe(Effect.provide(hostLayer(running.url)), Effect.runPromise);
  });
});
