/** Two people, two workers, one batch: what both do at the same moment is one turn (R12). */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest";
import { Effect, Layer, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { OperatorId, type ThreadId, WorkerId } from "#lib/contract/ids.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { Wakes } from "#lib/durable/Wakes.ts";
import { AgentRegistry, register } from "#lib/host/AgentRegistry.ts";
import { ThreadDriver } from "#lib/host/ThreadDriver.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { toolSchemasLayer } from "#server/agents/RegistryCatalogue.ts";
import { decideApproval } from "#server/operator/decide-approval.ts";
import * as AuditPg from "#server/postgres/AuditPg.ts";
import { commandId, storeLayer, submit, tenantId } from "#tests/support/durable-host.ts";
import { makeTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

const Refund = Tool.make("refund", {
  parameters: Schema.Struct({ amount: Schema.Int }),
  success: Schema.String,
  needsApproval: true,
});
const toolkit = Toolkit.make(Refund);
const agent = Agent.make("cashier", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Handle money.",
  toolkit,
});

const operator = (id: string) =>
  ({
    tenantId,
    operatorId: OperatorId.make(id),
    name: id,
    email: `${id}@localhost`,
    role: "decider",
    proof: "bearer",
    credentialDigest: "0".repeat(64),
  }) as const;

let database: TestDatabase;
beforeAll(async () => {
  database = await makeTestDatabase();
});
afterAll(() => database.drop());

const rounds = 5;

describe("two decisions at the same moment, two workers behind them", () => {
  it.live(
    "[R12][A-11][DU-13] become one turn: each call runs once, the model is asked once more, the run is settled once",
    () =>
      Effect.gen(function* () {
        const ran: Array<string> = [];
        const handlers = toolkit.toLayer({
          refund: ({ amount }) => Effect.sync(() => (ran.push(`refund ${amount}`), "refunded")),
        });
        // One registry and one model, as two processes of one release have; two drivers.
        const registry = AgentRegistry.layer(Effect.all([register(Agent.bind(agent, handlers))]));
        const makeDriver = (name: string) =>
          Layer.build(Layer.fresh(ThreadDriver.layer(WorkerId.make(name))));
        yield* Effect.gen(function* () {
          const first = yield* makeDriver("worker-one");
          const second = yield* makeDriver("worker-two");
          const driveBy = (worker: typeof first, threadId: ThreadId) =>
            Effect.provide(drive(threadId), worker);
          const journal = yield* Journal;
          const sql = yield* SqlClient.SqlClient;
          for (let round = 0; round < rounds; round++) {
            ran.length = 0;
            const model = yield* ScriptedModel;
            const asked = (yield* model.requests).length;
            yield* model.push(
              toolCalls([
                { id: "a", name: "refund", params: { amount: 1 } },
                { id: "b", name: "refund", params: { amount: 2 } },
              ]),
              text("done"),
            );
            const receipt = yield* submit("cashier", "refund both", `key-both-${round}`);
            yield* driveBy(first, receipt.threadId);
            const requests = (yield* recordsOf(journal, receipt.threadId)).flatMap((record) =>
              record._tag === "ApprovalRequested" ? [record] : [],
            );
            assert.strictEqual(requests.length, 2);
            yield* Effect.forEach(
              requests,
              ({ request, requestId }, index) =>
                decideApproval(operator(`op-${index}`), requestId, {
                  commandId: commandId(`both-${round}-${index}`),
                  decision: "approved",
                  parametersDigest: request.parametersDigest,
                  reason: "",
                }).pipe(
                  Effect.provide(
                    AuditPg.layer.pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, sql))),
                  ),
                  Effect.andThen(driveBy(index === 0 ? first : second, receipt.threadId)),
                ),
              { concurrency: "unbounded", discard: true },
            );
            const records = yield* recordsOf(journal, receipt.threadId);
            const count = (tag: string) => records.filter(({ _tag }) => _tag === tag).length;
            assert.deepStrictEqual(ran.toSorted(), ["refund 1", "refund 2"]);
            assert.deepStrictEqual(
              ["TurnRecorded", "ApprovalDecided", "ToolCallSettled", "RunSettled"].map(count),
              [2, 2, 2, 1],
            );
            assert.strictEqual((yield* model.requests).length - asked, 2);
          }
        }).pipe(
          Effect.provide(
            toolSchemasLayer.pipe(
              Layer.provideMerge(registry),
              Layer.provideMerge(ScriptedModel.layer([])),
              Layer.provideMerge(Layer.succeed(Wakes, { wake: () => Effect.void })),
              Layer.provideMerge(storeLayer(database.url)),
            ),
          ),
          Effect.scoped,
        );
      }),
  );
});

const drive = (threadId: ThreadId) =>
  Effect.flatMap(ThreadDriver, (driver) => driver.drive({ tenantId, threadId }));

const recordsOf = (journal: Journal["Service"], threadId: ThreadId) =>
  Effect.map(journal.read({ tenantId, threadId, after: 0, limit: 100 }), (rows) =>
    rows.map(({ record }) => record),
  );
