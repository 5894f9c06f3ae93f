/** A model that calls a tool its request did not offer, under the policy that gives the batch back (R87). */
import { assert, describe, it } from "@effect/vitest";
import { Effect, Exit, Layer, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import * as AgentRuntime from "#lib/engine/AgentRuntime.ts";
import { ModelCodec } from "#lib/engine/ModelCodec.ts";
import { providerCall, ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import * as ToolDiscovery from "#lib/tool-discovery.ts";
import { PinnedTool } from "#lib/tool-exposure.ts";
import { attempt, kindOf, makeStore, recordsOf } from "#tests/engine/durable-harness.ts";
import { wires } from "#tests/engine/provider-wires.ts";
import { errorTagOf, eventsOfKind, resultsIn, watch } from "#tests/engine/run-agent.ts";
import { rawEndpoint } from "#tests/model/raw-endpoint.ts";

const Read = Tool.make("read_note", { success: Schema.String }).annotate(PinnedTool, true);
const Archive = Tool.make("archive_note", { description: "Archive.", success: Schema.String });

const makeDesk = (unofferedCalls: "fail" | "return") => {
  const log: Array<string> = [];
  const discovery = ToolDiscovery.make({});
  const own = Toolkit.make(Read, Archive);
  const agent = Agent.make("notes", {
    input: Schema.String,
    output: Schema.String,
    instructions: "Go.",
    toolkit: Toolkit.make(Read, Archive, discovery.tool),
    policy: { unofferedCalls },
  });
  const handle = (name: string) => () => Effect.sync(() => (log.push(name), name));
  const handlers = Layer.merge(
    own.toLayer({ read_note: handle("read"), archive_note: handle("archive") }),
    discovery.handlers,
  );
  return { agent, handlers, log };
};

const remembered = toolCalls([
  { id: "r", name: "read_note" },
  { id: "a", name: "archive_note" },
]);

describe("calls that were not offered (X-09, R87)", () => {
  it.effect(
    "[X-09][R87] given back, the batch starts nothing, the model is told to discover, and the same run goes on",
    () =>
      Effect.gen(function* () {
        const desk = makeDesk("return");
        const run = yield* watch(desk.agent, desk.handlers, [
          remembered,
          toolCalls([{ id: "d", name: "discover_tools", params: { query: "archive" } }]),
          toolCalls([{ id: "b", name: "archive_note" }]),
          text("done"),
        ]);
        assert.isTrue(Exit.isSuccess(run.exit));
        assert.deepStrictEqual(desk.log, ["archive"]);
        const [read, archive] = resultsIn(run.requests[1]);
        assert.deepStrictEqual(
          [read?.[0], read?.[2], archive?.[0], archive?.[2]],
          ["r", true, "a", true],
        );
        assert.deepStrictEqual(archive?.[1], {
          _tag: "ToolCallNotOffered",
          message:
            "archive_note is not offered in this request, and nothing of this batch was started. Find tools with discover_tools, and call what it names in the next turn.",
        });
        assert.deepStrictEqual(
          eventsOfKind(run.events, "ToolCallDeclared").map(({ callId }) => callId as string),
          ["r", "a", "d", "b"],
        );
      }),
  );

  it.effect("[X-09][F-07][R87] by default the same call fails the run and starts nothing", () =>
    Effect.gen(function* () {
      const desk = makeDesk("fail");
      const run = yield* watch(desk.agent, desk.handlers, [remembered, text("never")]);
      assert.strictEqual(errorTagOf(run), "AgentToolCallRejected");
      assert.deepStrictEqual(desk.log, []);
      assert.strictEqual(run.requests.length, 1);
    }),
  );

  it.effect(
    "[F-13][R87] a model that never stops calling it ends at the repeated-failure limit, its siblings not counted",
    () =>
      Effect.gen(function* () {
        const desk = makeDesk("return");
        const run = yield* watch(desk.agent, desk.handlers, [remembered, remembered, remembered]);
        assert.strictEqual(errorTagOf(run), "AgentRepeatedFailureError");
        assert.strictEqual(run.requests.length, 3);
        assert.deepStrictEqual(desk.log, []);
      }),
  );

  it.effect(
    "[F-08][X-09] a process lost right after gives the same results; rejections taken out of the store stop the run",
    () =>
      Effect.gen(function* () {
        const desk = makeDesk("return");
        const store = makeStore();
        const lost = yield* attempt(store, desk.agent, () => desk.handlers, {
          crash: { append: 2, landed: true },
        });
        assert.strictEqual(lost._tag, "lost");
        const tampered = makeStore();
        tampered.appends.push(
          recordsOf(store).map((record) =>
            record._tag === "TurnRecorded" ? { ...record, rejections: [] } : record,
          ),
        );
        const resumed = yield* attempt(store, desk.agent, () => desk.handlers);
        assert.strictEqual(resumed._tag, "settled");
        assert.strictEqual(kindOf(store, "RunSettled")[0]?.outcome, "completed");
        const requests = yield* (yield* ScriptedModel).requests;
        assert.deepStrictEqual(
          resultsIn(requests[1]).map(([id, , isFailure]) => [id, isFailure]),
          [
            ["r", true],
            ["a", true],
          ],
        );
        yield* attempt(tampered, desk.agent, () => desk.handlers);
        assert.strictEqual(kindOf(tampered, "RunSettled")[0]?.finishReason, "corrupt-evidence");
        assert.deepStrictEqual(desk.log, []);
      }).pipe(Effect.provide(ScriptedModel.layer([remembered, text("done")]))),
  );

  it.effect("[T-14][X-09] what the provider executed beside it keeps its result", () =>
    Effect.gen(function* () {
      const Hosted = Tool.providerDefined({
        id: "test.hosted_search",
        customName: "HostedSearch",
        providerName: "hosted_search",
        args: Schema.Struct({}),
        parameters: Schema.Struct({ query: Schema.String }),
        success: Schema.Struct({ hits: Schema.Int }),
      })({});
      const own = Toolkit.make(Read, Hosted);
      const agent = Agent.make("notes", {
        input: Schema.String,
        output: Schema.String,
        instructions: "Go.",
        toolkit: own,
        policy: { unofferedCalls: "return" },
      });
      const run = yield* watch(agent, own.toLayer({ read_note: () => Effect.succeed("read") }), [
        {
          parts: [
            ...providerCall({
              id: "p",
              name: "HostedSearch",
              params: { query: "x" },
              result: { hits: 3 },
            }),
            ...toolCalls([{ id: "a", name: "archive_note" }]).parts,
          ],
        },
        text("done"),
      ]);
      assert.isTrue(Exit.isSuccess(run.exit));
      assert.deepStrictEqual(
        run.events.flatMap((event) => ("callId" in event ? [`${event.callId} ${event._tag}`] : [])),
        ["p ToolCallDeclared", "a ToolCallDeclared", "a ToolCallFailed"],
      );
      assert.include(JSON.stringify(run.requests[1]?.encodedPrompt), '"hits":3');
    }),
  );

  for (const wire of wires) {
    it.effect(
      `[X-09][R87] on the ${wire.name} wire the refused calls go back in the next request`,
      () =>
        Effect.gen(function* () {
          const desk = makeDesk("return");
          const { bodies, url } = yield* rawEndpoint({
            contentType: "text/event-stream",
            body: wire.streamed([
              { id: "call_1", name: "read_note", argumentsText: "{}" },
              { id: "call_2", name: "archive_note", argumentsText: "{}" },
            ]),
          });
          const error = yield* AgentRuntime.run(desk.agent, "go").pipe(
            Effect.provide([desk.handlers, wire.model(url), Layer.succeed(ModelCodec, wire.codec)]),
            Effect.flip,
          );
          assert.strictEqual(error._tag, "AgentRepeatedFailureError");
          assert.strictEqual(bodies.length, 3);
          assert.include(bodies[1], "ToolCallNotOffered");
          assert.include(bodies[1], "call_1");
          assert.deepStrictEqual(desk.log, []);
        }),
    );
  }
});
