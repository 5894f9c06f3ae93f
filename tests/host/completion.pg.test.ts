/** An agent that answers through a tool, on PostgreSQL: the answer is in the records, whole. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest";
import { Effect, Layer, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { register } from "#lib/host/AgentRegistry.ts";
import { ThreadDriver } from "#lib/host/ThreadDriver.ts";
import { ScriptedModel, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { driverLayer, storeLayer, submit, tenantId } from "#tests/support/durable-host.ts";
import { makeTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

const Report = Schema.Struct({ verdict: Schema.String });
const Submit = Tool.make("submit_report", { parameters: Report, success: Report });
const toolkit = Toolkit.make(Submit);
const agent = Agent.make("analyst", {
  input: Schema.String,
  output: Report,
  instructions: "Report.",
  toolkit,
  completion: { toolName: "submit_report", required: true },
  policy: { unofferedCalls: "return" },
});

let database: TestDatabase;
beforeAll(async () => {
  database = await makeTestDatabase();
});
afterAll(() => database.drop());

describe("a completion tool and a call that was not offered, on PostgreSQL", () => {
  it.live(
    "[X-16][X-09][T-18] the refused call is recorded, the answer is stored whole, and both are read back",
    () =>
      Effect.gen(function* () {
        const verdict = "long ".repeat(30_000);
        const driver = yield* ThreadDriver;
        const { threadId } = yield* submit("analyst", "report", "key-completion");
        yield* driver.drive({ tenantId, threadId });
        const rows = yield* (yield* Journal).read({ tenantId, threadId, after: 0, limit: 100 });
        const records = rows.map(({ record }) => record);
        assert.deepStrictEqual(
          records.flatMap((record) => (record._tag === "ToolCallSettled" ? [record.kind] : [])),
          ["rejected", "succeeded"],
        );
        const settled = records.find((record) => record._tag === "RunSettled");
        assert.deepInclude(settled, { outcome: "completed", output: { verdict } });
      }).pipe(
        Effect.provide(
          driverLayer(
            Effect.all([
              register(
                Agent.bind(
                  agent,
                  toolkit.toLayer({ submit_report: (report) => Effect.succeed(report) }),
                ),
              ),
            ]),
          ).pipe(
            Layer.provideMerge(
              ScriptedModel.layer(
                [
                  toolCalls([{ id: "x", name: "nothing\u0000here" }]),
                  toolCalls([
                    { id: "a", name: "submit_report", params: { verdict: "long ".repeat(30_000) } },
                  ]),
                ],
                { chunkSize: 10_000 },
              ),
            ),
            Layer.provideMerge(storeLayer(database.url)),
          ),
        ),
      ),
  );
});
