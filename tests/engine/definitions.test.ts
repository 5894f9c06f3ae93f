import { assert, describe, it } from "@effect/vitest";
import { Context, Effect, Exit, Layer, Schema } from "effect";
import { LanguageModel, Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import * as EffectAgent from "#lib/index.ts";
import { providerCall, ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import {
  errorTagOf,
  eventsOfKind,
  resultsIn,
  terminalEvents,
  watch,
} from "#tests/engine/run-agent.ts";
import { agentOf, callOnce } from "#tests/engine/one-call.ts";

describe("one tool system (T-01, T-02, T-09, T-10)", () => {
  class Item extends Schema.Class<Item>("Item")({
    id: Schema.String,
    price: Schema.NumberFromString,
  }) {}
  const Find = Tool.make("find", {
    parameters: Schema.Struct({
      query: Schema.String,
      limit: Schema.Number.pipe(Schema.withDecodingDefault(Effect.succeed(2))),
    }),
    success: Schema.Array(Item),
  });
  const Note = Tool.make("note", { parameters: Schema.Struct({ text: Schema.String }) });
  const Weigh = Tool.make("weigh", {
    parameters: Schema.Struct({ id: Schema.String }),
    success: Schema.Number,
    failure: Schema.Struct({ reason: Schema.String }),
    failureMode: "return",
  });
  const toolkit = Toolkit.make(Find, Note, Weigh);
  const layer = toolkit.toLayer({
    find: ({ limit, query }) =>
      Effect.succeed(
        [
          new Item({ id: `${query}-1`, price: 1.5 }),
          new Item({ id: `${query}-2`, price: 2 }),
          new Item({ id: "x", price: 3 }),
        ].slice(0, limit),
      ),
    note: () => Effect.void,
    weigh: ({ id }) => (id === "air" ? Effect.fail({ reason: "weightless" }) : Effect.succeed(12)),
  });
  const script = toolCalls([
    { id: "a", name: "find", params: { query: "shoe" } },
    { id: "b", name: "note", params: { text: "hi" } },
    { id: "c", name: "weigh", params: { id: "air" } },
    { id: "d", name: "weigh", params: { id: "rock" } },
  ]);

  it.effect(
    "[T-01] the toolkit that upstream resolves by itself runs unchanged here, with equal encoded results",
    () =>
      Effect.gen(function* () {
        const upstream = yield* LanguageModel.generateText({ prompt: "go", toolkit }).pipe(
          Effect.provide([layer, ScriptedModel.layer([script])]),
        );
        const theirs = new Map(
          upstream.toolResults.map(
            (result) => [result.id, [result.encodedResult ?? null, result.isFailure]] as const,
          ),
        );
        const run = yield* watch(agentOf(toolkit), layer, [script, text("ok")]);
        const ours = resultsIn(run.requests[1]);
        assert.deepStrictEqual(
          ours.map(([id]) => id),
          ["a", "b", "c", "d"],
        );
        for (const [id, result, isFailure] of ours) {
          assert.deepStrictEqual(
            [JSON.parse(JSON.stringify(result)), isFailure],
            JSON.parse(JSON.stringify(theirs.get(id))),
            id,
          );
        }
      }),
  );

  it("[T-01] no export of the package is a tool type of its own", () => {
    const names = Object.keys(EffectAgent);
    assert.notInclude(names, "Tool");
    assert.notInclude(names, "Toolkit");
    assert.strictEqual(agentOf(toolkit).toolkit, toolkit);
  });

  it.effect(
    "[T-02][R35] a tool without options takes {}, refuses anything else and is in error mode",
    () =>
      Effect.gen(function* () {
        const Ping = Tool.make("ping");
        assert.strictEqual(Ping.failureMode, "error");
        const good = yield* callOnce(Ping, () => Effect.void, "{}");
        assert.deepStrictEqual(resultsIn(good.requests[1]), [["c1", null, false]]);
        const bad = yield* callOnce(Ping, () => Effect.void, '{"a":1}');
        assert.strictEqual(errorTagOf(bad), "AgentToolCallRejected");
      }),
  );

  it.effect(
    "[T-09] handlers built by an Effect use its services; a missing handler layer does not type-check",
    () =>
      Effect.gen(function* () {
        class Shop extends Context.Service<Shop, { readonly name: string }>()("test/Shop") {}
        const Ask = Tool.make("ask", { success: Schema.String, dependencies: [Shop] });
        const tools = Toolkit.make(Ask);
        const handlers = tools.toLayer(
          Effect.gen(function* () {
            const built = yield* Shop;
            return { ask: () => Effect.map(Shop, (shop) => `${built.name}, ${shop.name}`) };
          }),
        );
        const run = EffectAgent.AgentRuntime.run(agentOf(tools), "go");
        const shop = Layer.succeed(Shop, { name: "corner" });
        const model = ScriptedModel.layer([toolCalls([{ id: "a", name: "ask" }]), text("ok")]);
        // @ts-expect-error the handlers' layer is missing: the run still requires them
        const incomplete: Effect.Effect<unknown, unknown, never> = Effect.provide(run, [
          shop,
          model,
        ]);
        assert.isTrue(Exit.isFailure(yield* Effect.exit(incomplete)));
        const complete: Effect.Effect<
          EffectAgent.AgentRuntime.RunResult<string>,
          unknown,
          never
        > = Effect.provide(run, [Layer.provide(handlers, shop), shop, model]);
        assert.strictEqual((yield* complete).output, "ok");
      }),
  );

  it.effect(
    "[T-10] the later toolkit wins a name clash, and the empty toolkit changes nothing",
    () =>
      Effect.gen(function* () {
        const One = Tool.make("same", { success: Schema.String, description: "first" });
        const Two = Tool.make("same", { success: Schema.String, description: "second" });
        const merged = Toolkit.merge(
          Toolkit.empty,
          Toolkit.make(One),
          Toolkit.make(Two),
          Toolkit.empty,
        );
        const handlers = Toolkit.make(Two).toLayer({ same: () => Effect.succeed("second ran") });
        const run = yield* watch(agentOf(merged), handlers, [
          toolCalls([{ id: "a", name: "same" }]),
          text("ok"),
        ]);
        assert.deepStrictEqual(
          run.requests[0]?.tools.map(({ description }) => description),
          ["second"],
        );
        assert.deepStrictEqual(resultsIn(run.requests[1]), [["a", "second ran", false]]);
      }),
  );
});

describe("declarations and ids (T-07, T-12, T-14, T-16, T-17)", () => {
  const Described = Tool.make("described", {
    description: "Finds a thing.",
    parameters: Schema.Struct({
      query: Schema.String.annotate({ description: "What to look for" }),
    }),
  });
  const ByParameters = Tool.make("by_parameters", {
    parameters: Schema.Struct({ id: Schema.String }).annotate({
      description: "The whole question",
    }),
  });
  const Hosted = Tool.providerDefined({
    id: "test.hosted_search",
    customName: "HostedSearch",
    providerName: "hosted_search",
    args: Schema.Struct({}),
    parameters: Schema.Struct({ query: Schema.String }),
    success: Schema.Struct({ hits: Schema.Int }),
  })({});

  it.effect(
    "[T-07] descriptions of tools and parameters are in the request; the parameters' one stands in for a missing one",
    () =>
      Effect.gen(function* () {
        const toolkit = Toolkit.make(Described, ByParameters);
        const layer = toolkit.toLayer({
          described: () => Effect.void,
          by_parameters: () => Effect.void,
        });
        const run = yield* watch(agentOf(toolkit), layer, [text("ok")]);
        const tools = run.requests[0]?.tools ?? [];
        assert.deepStrictEqual(
          tools.map(({ description }) => description),
          ["Finds a thing.", "The whole question"],
        );
        assert.include(JSON.stringify(tools[0]?.jsonSchema), "What to look for");
      }),
  );

  it("[T-12] inspectTools tells every registered tool without a run, a layer or an exposure", () => {
    const toolkit = Toolkit.make(Described, ByParameters, Hosted);
    const agent = Agent.make("inspected", {
      input: Schema.String,
      output: Schema.String,
      instructions: "Go.",
      toolkit,
      toolExposure: { initialToolNames: ["described"] },
    });
    const expected: ReadonlyArray<Agent.InspectedTool> = [
      { name: "described", failureMode: "error", requiresHandler: true },
      { name: "by_parameters", failureMode: "error", requiresHandler: true },
      { name: "HostedSearch", failureMode: "error", requiresHandler: false },
    ];
    assert.deepStrictEqual(Agent.inspectTools(agent), expected);
    assert.deepStrictEqual(Agent.inspectTools(Agent.bind(agent, Layer.empty as never)), expected);
  });

  it.effect(
    "[T-14][Z-10] a call that the provider executed starts nothing here, is not authorized, and its result stays in history",
    () =>
      Effect.gen(function* () {
        const Local = Tool.make("local", { success: Schema.String });
        const toolkit = Toolkit.make(Hosted, Local);
        const asked: Array<string> = [];
        const run = yield* watch(
          agentOf(toolkit),
          toolkit.toLayer({ local: () => Effect.succeed("here") }),
          [
            {
              parts: [
                ...providerCall({
                  id: "p1",
                  name: "HostedSearch",
                  params: { query: "x" },
                  result: { hits: 3 },
                }),
                ...toolCalls([{ id: "l1", name: "local" }]).parts,
              ],
            },
            text("ok"),
          ],
          {
            run: {
              toolAuthorization: {
                authorize: ({ call }) =>
                  Effect.as(
                    Effect.sync(() => asked.push(call.toolName)),
                    { _tag: "allowed" as const },
                  ),
              },
            },
          },
        );
        assert.isTrue(Exit.isSuccess(run.exit));
        assert.deepStrictEqual(asked, ["local"]);
        assert.deepStrictEqual(
          eventsOfKind(run.events, "ToolCallStarted").map(({ callId }) => callId as string),
          ["l1"],
        );
        assert.deepStrictEqual(
          eventsOfKind(run.events, "ToolCallDeclared").map(({ callId, providerExecuted }) => [
            callId as string,
            providerExecuted,
          ]),
          [
            ["p1", true],
            ["l1", false],
          ],
        );
        assert.include(JSON.stringify(run.requests[1]?.encodedPrompt), '"hits":3');
      }),
  );

  it.effect("[T-14][F-07] wrong parameters of a call that the provider executed are fatal", () =>
    Effect.gen(function* () {
      const toolkit = Toolkit.make(Hosted);
      const run = yield* watch(agentOf(toolkit), Layer.empty as never, [
        {
          parts: providerCall({
            id: "p1",
            name: "HostedSearch",
            params: { query: 7 },
            result: { hits: 3 },
          }),
        },
      ]);
      assert.isTrue(Exit.isFailure(run.exit));
      assert.strictEqual(terminalEvents(run.events).length, 1);
    }),
  );

  it.effect("[T-14][F-14] provider-executed calls count toward the tool-call budget", () =>
    Effect.gen(function* () {
      const Local = Tool.make("local", { success: Schema.String });
      const toolkit = Toolkit.make(Hosted, Local);
      let started = 0;
      const run = yield* watch(
        agentOf(toolkit, { maxToolCalls: 1 }),
        toolkit.toLayer({ local: () => Effect.sync(() => `${(started += 1)}`) }),
        [
          {
            parts: [
              ...providerCall({
                id: "p1",
                name: "HostedSearch",
                params: { query: "x" },
                result: { hits: 3 },
              }),
              ...toolCalls([{ id: "l1", name: "local" }]).parts,
            ],
          },
          text("enough"),
        ],
      );
      assert.strictEqual(started, 0);
      assert.isTrue(Exit.isSuccess(run.exit));
    }),
  );

  it.effect("[T-16] ordinary requests leave the choice to the model", () =>
    Effect.gen(function* () {
      const toolkit = Toolkit.make(Described);
      const run = yield* watch(
        agentOf(toolkit),
        toolkit.toLayer({ described: () => Effect.void }),
        [text("ok")],
      );
      assert.strictEqual(run.requests[0]?.toolChoice, "auto");
    }),
  );

  const ids = [
    ["twice the same", ["a", "a"]],
    ["200 characters long", ["a".repeat(200)]],
    ["with spaces", ["a b"]],
    ["empty", [""]],
    ["starting with a dash", ["-a"]],
  ] as const;
  for (const [name, callIds] of ids) {
    it.effect(`[T-17] a call id ${name} fails the run before any handler`, () =>
      Effect.gen(function* () {
        let started = false;
        const toolkit = Toolkit.make(Described);
        const layer = toolkit.toLayer({
          described: () => Effect.sync(() => void (started = true)),
        });
        const run = yield* watch(agentOf(toolkit), layer, [
          toolCalls(callIds.map((id) => ({ id, name: "described", params: { query: "x" } }))),
        ]);
        assert.isFalse(started);
        assert.strictEqual(errorTagOf(run), "ModelProtocolError");
      }),
    );
  }

  it.effect(
    "[T-13] a dynamic tool advertises its schema as it is and hands its arguments through",
    () =>
      Effect.gen(function* () {
        const schema = {
          type: "object",
          properties: { city: { type: "string" } },
          required: ["city"],
        } as const;
        const Remote = Tool.dynamic("remote", {
          description: "Far away.",
          parameters: schema,
          success: Schema.Unknown,
        });
        const toolkit = Toolkit.make(Remote);
        const seen: Array<unknown> = [];
        const layer = toolkit.toLayer({
          remote: (params) => Effect.sync(() => (seen.push(params), "ok")),
        });
        const run = yield* watch(agentOf(toolkit), layer, [
          toolCalls([{ id: "a", name: "remote", params: { city: "Bonn" } }]),
          text("ok"),
        ]);
        assert.deepStrictEqual(run.requests[0]?.tools[0]?.jsonSchema, schema as object);
        assert.deepStrictEqual(seen, [{ city: "Bonn" }]);
      }),
  );
});
