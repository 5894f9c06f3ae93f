import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest";
import { Effect, Layer, Ref, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { CurrentToolCall } from "#lib/current-tool-call.ts";
import { OperatorId, RunId } from "#lib/contract/ids.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { register } from "#lib/host/AgentRegistry.ts";
import { ThreadDriver } from "#lib/host/ThreadDriver.ts";
import { ScriptedModel, text, toolCalls, type TurnScript } from "#lib/testing/ScriptedModel.ts";
import {
  commandId,
  driverLayer,
  storeLayer,
  submit,
  tenantId,
} from "#tests/support/durable-host.ts";
import { SqlClient } from "effect/unstable/sql";
import { Wakes } from "#lib/durable/Wakes.ts";
import { abortRun } from "#server/operator/abort-run.ts";
import * as AuditPg from "#server/postgres/AuditPg.ts";
import { makeTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

const Charge = Tool.make("charge", {
  parameters: Schema.Struct({ amount: Schema.Int }),
  success: Schema.String,
});
const Refund = Tool.make("refund", {
  parameters: Schema.Struct({ amount: Schema.Int }),
  success: Schema.String,
  needsApproval: true,
});
const toolkit = Toolkit.make(Charge, Refund);
const agent = Agent.make("cashier", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Handle money.",
  toolkit,
});

const operator = {
  tenantId,
  operatorId: OperatorId.make("opr_test"),
  name: "Test",
  email: "test@localhost",
  role: "admin",
  proof: "bearer",
  credentialDigest: "0".repeat(64),
} as const;
const silentWakes = Layer.succeed(Wakes, { wake: () => Effect.void });
const auditOf = (sql: SqlClient.SqlClient) =>
  AuditPg.layer.pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, sql)));

let database: TestDatabase;
beforeAll(async () => {
  database = await makeTestDatabase();
});
afterAll(() => database.drop());

const withHost = <A, E>(
  script: ReadonlyArray<TurnScript>,
  body: (
    ran: Effect.Effect<ReadonlyArray<string>>,
  ) => Effect.Effect<A, E, ThreadDriver | Journal | SubmissionLedger | ScriptedModel>,
) =>
  Effect.gen(function* () {
    const ran = yield* Ref.make<ReadonlyArray<string>>([]);
    const note = (entry: string) => Ref.update(ran, (all) => [...all, entry]);
    const handlers = toolkit.toLayer({
      charge: ({ amount }) => Effect.as(note(`charge ${amount}`), `charged ${amount}`),
      refund: ({ amount }) => Effect.as(note(`refund ${amount}`), `refunded ${amount}`),
    });
    const layer = driverLayer(Effect.all([register(Agent.bind(agent, handlers))])).pipe(
      Layer.provideMerge(ScriptedModel.layer(script)),
      Layer.provideMerge(storeLayer(database.url)),
    );
    return yield* body(Ref.get(ran)).pipe(Effect.provide(layer));
  });

describe("a durable run on PostgreSQL", () => {
  it.live("[DU-01][DU-10] a submission is claimed, run, prepared, settled and completed once", () =>
    withHost(
      [toolCalls([{ id: "c1", name: "charge", params: { amount: 5 } }]), text("done")],
      (ran) =>
        Effect.gen(function* () {
          const driver = yield* ThreadDriver;
          const journal = yield* Journal;
          const receipt = yield* submit("cashier", "charge five", "key-charge-1");
          yield* driver.drive({ tenantId, threadId: receipt.threadId });
          assert.deepStrictEqual(yield* ran, ["charge 5"]);
          const records = yield* journal.read({
            tenantId,
            threadId: receipt.threadId,
            after: 0,
            limit: 100,
          });
          assert.deepStrictEqual(
            records.map(({ record }) => record._tag),
            [
              "RunOpened",
              "AttemptStarted",
              "TurnRecorded",
              "ToolCallPrepared",
              "ToolCallSettled",
              "TurnRecorded",
              "RunSettled",
            ],
          );
          yield* driver.drive({ tenantId, threadId: receipt.threadId });
          const again = yield* journal.read({
            tenantId,
            threadId: receipt.threadId,
            after: 0,
            limit: 100,
          });
          assert.strictEqual(again.length, records.length);
        }),
    ),
  );

  it.live("[A-08] a gated call suspends the run: the request is stored and nothing has run", () =>
    withHost(
      [toolCalls([{ id: "c1", name: "refund", params: { amount: 7 } }]), text("done")],
      (ran) =>
        Effect.gen(function* () {
          const driver = yield* ThreadDriver;
          const journal = yield* Journal;
          const receipt = yield* submit("cashier", "refund seven", "key-refund-1");
          yield* driver.drive({ tenantId, threadId: receipt.threadId });
          assert.deepStrictEqual(yield* ran, []);
          const records = yield* journal.read({
            tenantId,
            threadId: receipt.threadId,
            after: 0,
            limit: 100,
          });
          assert.deepStrictEqual(
            records.map(({ record }) => record._tag),
            ["RunOpened", "AttemptStarted", "TurnRecorded", "ApprovalRequested", "RunSuspended"],
          );
        }),
    ),
  );

  it.live(
    "[Z-05][DU-12] an abort that is stored in the moment before the answer is settled wins, and is delivered once",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient;
        const ledger = yield* SubmissionLedger;
        // Stored by the handler itself and rung for nobody: only the settlement's own append can find it.
        const handlers = toolkit.toLayer({
          charge: () =>
            Effect.gen(function* () {
              const call = yield* CurrentToolCall;
              yield* abortRun(operator, RunId.make(call?.runId ?? ""), {
                commandId: commandId("abort-before-settlement"),
                reason: "changed my mind",
              }).pipe(
                Effect.provide(silentWakes),
                Effect.provideService(SqlClient.SqlClient, sql),
                Effect.provideService(SubmissionLedger, ledger),
                Effect.orDie,
              );
              return "charged";
            }).pipe(Effect.provide(auditOf(sql))),
          refund: () => Effect.succeed("refunded"),
        });
        const layer = driverLayer(Effect.all([register(Agent.bind(agent, handlers))])).pipe(
          Layer.provideMerge(
            ScriptedModel.layer([
              toolCalls([{ id: "c1", name: "charge", params: { amount: 5 } }]),
              text("done"),
            ]),
          ),
        );
        const records = yield* Effect.gen(function* () {
          const driver = yield* ThreadDriver;
          const journal = yield* Journal;
          const receipt = yield* submit("cashier", "charge and abort", "key-abort-1");
          yield* driver.drive({ tenantId, threadId: receipt.threadId });
          return yield* journal.read({
            tenantId,
            threadId: receipt.threadId,
            after: 0,
            limit: 100,
          });
        }).pipe(Effect.provide(layer));
        const settled = records.flatMap(({ record }) =>
          record._tag === "RunSettled" ? [record.outcome] : [],
        );
        assert.deepStrictEqual(settled, ["aborted"]);
        assert.strictEqual(
          records.filter(({ record }) => record._tag === "AbortRequested").length,
          1,
        );
      }).pipe(Effect.provide(storeLayer(database.url))),
  );
});
