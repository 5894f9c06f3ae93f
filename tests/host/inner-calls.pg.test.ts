import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest";
import { Effect, Layer, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { defaultRunPolicy } from "#lib/agent/policy.ts";
import { RunTimes } from "#lib/contract/http/run-parts.ts";
import { Digest, OperatorId, type RunId } from "#lib/contract/ids.ts";
import { Wakes } from "#lib/durable/Wakes.ts";
import { durableStep, ToolExecutionClass } from "#lib/durable-step.ts";
import { register } from "#lib/host/AgentRegistry.ts";
import { readRunTimes } from "#server/views/run-times.ts";
import { ThreadDriver } from "#lib/host/ThreadDriver.ts";
import { RunToolAuthorization } from "#lib/run-options.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { ProgrammaticTools, ToolBroker } from "#lib/tool-broker.ts";
import { unknownOutcome } from "#lib/unknown-outcome.ts";
import { toolSchemasLayer } from "#server/agents/RegistryCatalogue.ts";
import { toolProbesLayer } from "#server/agents/RegistryProbes.ts";
import { resolveUnknown } from "#server/operator/resolve-unknown.ts";
import * as AuditPg from "#server/postgres/AuditPg.ts";
import { rebuildProjections } from "#server/postgres/rebuild-projections.ts";
import { AgentCatalogue } from "#server/views/AgentCatalogue.ts";
import { readRunDetail } from "#server/views/run-detail.ts";
import { listUnknowns, readUnknownDetail } from "#server/views/unknowns.ts";
import {
  commandId,
  driverLayer,
  storeLayer,
  submit,
  tenantId,
} from "#tests/support/durable-host.ts";
import { makeTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

const parameters = Schema.Struct({ id: Schema.String });
const options = { parameters, success: Schema.String } as const;
const Look = Tool.make("look", options).annotate(ToolExecutionClass, "readonly");
const Send = Tool.make("send", options);
const Bundle = Tool.make("bundle", { success: Schema.String })
  .annotate(ToolExecutionClass, "idempotent")
  .annotate(ProgrammaticTools, { toolNames: ["look", "send"] });
const toolkit = Toolkit.make(Look, Send, Bundle);
const agent = Agent.make("bundler", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Go.",
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

let database: TestDatabase;
beforeAll(async () => {
  database = await makeTestDatabase();
});
afterAll(() => database.drop());

/** One agent whose outer tool looks, sends and takes a step; `sends` says what its send does. */
const hostLayer = (log: Array<string>, sends: Effect.Effect<string>) =>
  Layer.mergeAll(toolSchemasLayer, toolProbesLayer, AuditPg.layer).pipe(
    Layer.provideMerge(
      driverLayer(
        Effect.all([
          register(
            Agent.bind(
              agent,
              toolkit.toLayer({
                look: ({ id }) => Effect.sync(() => `saw ${id} ${log.push("look")}`),
                send: ({ id }) =>
                  Effect.andThen(
                    Effect.sync(() => log.push(`send ${id}`)),
                    sends,
                  ),
                bundle: () =>
                  Effect.gen(function* () {
                    const broker = yield* ToolBroker;
                    yield* broker.invoke({ toolName: "look", encodedArguments: { id: "a" } });
                    yield* durableStep(
                      "note",
                      Schema.Int,
                      Effect.sync(() => log.push("step")),
                    );
                    const denied = yield* Effect.flip(
                      broker.invoke({ toolName: "send", encodedArguments: { id: "forbidden" } }),
                    );
                    const sent = yield* broker.invoke({
                      toolName: "send",
                      encodedArguments: { id: "b" },
                    });
                    return `${denied._tag}, ${String(sent)}`;
                  }).pipe(Effect.orDie),
              }),
            ),
          ),
        ]),
      ),
    ),
    Layer.provide(
      Layer.succeed(RunToolAuthorization, {
        authorize: ({ call: { parameters: given } }) =>
          Effect.succeed(
            JSON.stringify(given).includes("forbidden")
              ? { _tag: "denied", reason: "Not to them." }
              : { _tag: "allowed" },
          ),
      }),
    ),
    Layer.provideMerge(
      Layer.mergeAll(
        ScriptedModel.layer([toolCalls([{ id: "o", name: "bundle" }]), text("done")]),
        Layer.succeed(Wakes, { wake: () => Effect.void }),
        Layer.succeed(AgentCatalogue, {
          list: () => Effect.succeed([]),
          policyOf: () => Effect.succeed(defaultRunPolicy),
          model: Effect.die("not asked"),
        } as unknown as AgentCatalogue["Service"]), // only a run's budgets are asked for here
      ),
    ),
    Layer.provideMerge(storeLayer(database.url)),
  );

const detailOf = (runId: RunId) =>
  Effect.map(readRunDetail(tenantId, runId), (detail) => ({
    detail,
    outer: detail.turnViews[0]?.calls ?? [],
  }));

const noDifferences = Effect.map(rebuildProjections(tenantId), ({ differences }) => differences);

describe("calls inside a call on PostgreSQL", () => {
  it.live(
    "[CM-01][CM-02][DU-18][OP-07] are kept under their outer call with arguments, results, the denial and its steps, and rebuilt from records alike",
    () =>
      Effect.gen(function* () {
        const log: Array<string> = [];
        yield* Effect.gen(function* () {
          const driver = yield* ThreadDriver;
          const receipt = yield* submit("bundler", "go", "key-inner-1");
          yield* driver.drive({ tenantId, threadId: receipt.threadId });
          const { detail, outer } = yield* detailOf(receipt.runId);
          assert.strictEqual(detail.state, "completed");
          assert.deepStrictEqual(
            outer.map(({ callId, result }) => [callId, result]),
            [["o", "ProgrammaticToolAuthorizationDenied, sent"]],
          );
          assert.deepStrictEqual(
            outer[0]?.inner?.map(({ effectiveParameters, index, result, state, toolName }) => [
              index,
              toolName,
              effectiveParameters,
              state,
              result,
            ]),
            [
              [0, "look", { id: "a" }, "succeeded", "saw a 1"],
              [1, "send", { id: "forbidden" }, "denied-by-policy", null],
              [2, "send", { id: "b" }, "succeeded", "sent"],
            ],
          );
          assert.notStrictEqual(outer[0]?.inner?.[2]?.idempotencyKey, outer[0]?.idempotencyKey);
          assert.deepStrictEqual(
            outer[0]?.steps?.map(({ attempt, name, result }) => [name, result, attempt]),
            [["note", 2, 1]],
          );
          const { items } = yield* Effect.flatMap(
            readRunTimes(tenantId, receipt.runId, 2),
            Schema.decodeEffect(Schema.fromJsonString(RunTimes)),
          );
          assert.deepStrictEqual(
            items[0]?.inner?.map(({ parentCallId, state, toolName }) => [
              parentCallId,
              toolName,
              state,
            ]),
            [
              ["o", "look", "succeeded"],
              ["o", "send", "denied-by-policy"],
              ["o", "send", "succeeded"],
            ],
          );
          const sql = yield* SqlClient.SqlClient;
          const denials = yield* sql`SELECT reason FROM denials WHERE run_id = ${receipt.runId}`;
          assert.deepStrictEqual(denials, [{ reason: "Not to them." }]);
          const kinds = yield* sql`SELECT kind FROM journal_records WHERE run_id = ${receipt.runId}
            ORDER BY sequence`;
          assert.deepStrictEqual(
            kinds.map(({ kind }) => kind),
            [
              "RunOpened",
              "AttemptStarted",
              "TurnRecorded",
              "ToolCallPrepared",
              "InnerCallDeclared",
              "ToolCallSettled",
              "StepRecorded",
              "InnerCallDeclared",
              "AuthorizationDenied",
              "InnerCallDeclared",
              "ToolCallPrepared",
              "ToolCallSettled",
              "ToolCallSettled",
              "TurnRecorded",
              "RunSettled",
            ],
          );
          assert.deepStrictEqual(yield* noDifferences, []);
        }).pipe(Effect.provide(hostLayer(log, Effect.succeed("sent"))));
      }),
  );

  it.live(
    "[DU-07][DU-08][CM-01][OP-08] an inner effect in doubt is listed with its own arguments, and its resolution is what the program gets",
    () =>
      Effect.gen(function* () {
        const log: Array<string> = [];
        yield* Effect.gen(function* () {
          const driver = yield* ThreadDriver;
          const receipt = yield* submit("bundler", "go", "key-inner-2");
          yield* driver.drive({ tenantId, threadId: receipt.threadId });
          assert.strictEqual((yield* detailOf(receipt.runId)).detail.state, "unknown");
          const { items } = yield* listUnknowns(tenantId, { runId: receipt.runId });
          assert.deepStrictEqual(
            items.map(({ toolName }) => toolName),
            ["send"],
          );
          const [item] = items;
          if (item === undefined) return assert.fail("nothing is listed");
          const unknown = yield* readUnknownDetail(tenantId, item.unknownId);
          assert.deepStrictEqual(unknown.parameters, { id: "b" });
          assert.notStrictEqual(unknown.parametersDigest, Digest.make("0".repeat(64)));
          yield* resolveUnknown(operator, item.unknownId, {
            commandId: commandId("resolve-inner"),
            resolution: "completed-with-result",
            result: "it arrived",
            isFailure: false,
            parametersDigest: unknown.parametersDigest,
            reason: "asked them",
            evidence: "their ledger",
          });
          yield* driver.drive({ tenantId, threadId: receipt.threadId });
          const { detail, outer } = yield* detailOf(receipt.runId);
          assert.strictEqual(detail.state, "completed");
          assert.strictEqual(outer[0]?.result, "ProgrammaticToolAuthorizationDenied, it arrived");
          assert.deepStrictEqual(log, ["look", "step", "send b"]);
          assert.deepStrictEqual(yield* noDifferences, []);
        }).pipe(Effect.provide(hostLayer(log, unknownOutcome("sent, no answer"))));
      }),
  );
});
