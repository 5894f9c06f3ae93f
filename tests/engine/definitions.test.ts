import { assert, describe, it } from "@effect/vitest";
import { Context, Effect, Exit, Layer, Schema, SchemaGetter } from "effect";
import { LanguageModel, Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { utf8ByteLength } from "#lib/contract/json/utf8.ts";
import { ModelCodec } from "#lib/engine/ModelCodec.ts";
import * as EffectAgent from "#lib/index.ts";
import { providerCall, ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { attempt, makeStore, recordsOf } from "#tests/engine/durable-harness.ts";
import { errorTagOf, eventsOfKind, resultsIn, terminalEvents, watch } from "#tests/engine/run-agent.ts";

const agentOf = <Tools extends Record<string, Tool.Any>>(toolkit: Toolkit.Toolkit<Tools>, policy = {}) =>
  Agent.make("definitions", { input: Schema.String, output: Schema.String, instructions: "Go.", toolkit, policy });

/** One tool, one call with these arguments, and what its handler and the model got. */
const callOnce = <T extends Tool.Any>(tool: T, handle: (params: unknown) => Effect.Effect<unknown, unknown>, argumentsText: string) => {
  const toolkit = Toolkit.make(tool);
  // The handler's types are the tool's own, which a test over any tool cannot name.
  const layer = toolkit.toLayer({ [tool.name]: handle } as never) as unknown as Layer.Layer<Tool.HandlersFor<typeof toolkit.tools>>;
  return watch(agentOf(toolkit), layer, [toolCalls([{ id: "c1", name: tool.name, argumentsText }]), text("done")]);
};

describe("one tool system (T-01, T-02, T-09, T-10)", () => {
  class Item extends Schema.Class<Item>("Item")({ id: Schema.String, price: Schema.NumberFromString }) {}
  const Find = Tool.make("find", {
    parameters: Schema.Struct({ query: Schema.String, limit: Schema.Number.pipe(Schema.withDecodingDefault(Effect.succeed(2))) }),
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
      Effect.succeed([new Item({ id: `${query}-1`, price: 1.5 }), new Item({ id: `${query}-2`, price: 2 }), new Item({ id: "x", price: 3 })].slice(0, limit)),
    note: () => Effect.void,
    weigh: ({ id }) => (id === "air" ? Effect.fail({ reason: "weightless" }) : Effect.succeed(12)),
  });
  const script = toolCalls([
    { id: "a", name: "find", params: { query: "shoe" } },
    { id: "b", name: "note", params: { text: "hi" } },
    { id: "c", name: "weigh", params: { id: "air" } },
    { id: "d", name: "weigh", params: { id: "rock" } },
  ]);

  it.effect("[T-01] the toolkit that upstream resolves by itself runs unchanged here, with equal encoded results", () =>
    Effect.gen(function* () {
      const upstream = yield* LanguageModel.generateText({ prompt: "go", toolkit }).pipe(
        Effect.provide([layer, ScriptedModel.layer([script])]),
      );
      const theirs = new Map(upstream.toolResults.map((result) => [result.id, [result.encodedResult ?? null, result.isFailure]] as const));
      const run = yield* watch(agentOf(toolkit), layer, [script, text("ok")]);
      const ours = resultsIn(run.requests[1]);
      assert.deepStrictEqual(ours.map(([id]) => id), ["a", "b", "c", "d"]);
      for (const [id, result, isFailure] of ours) {
        assert.deepStrictEqual([JSON.parse(JSON.stringify(result)), isFailure], JSON.parse(JSON.stringify(theirs.get(id))), id);
      }
    }),
  );

  it("[T-01] no export of the package is a tool type of its own", () => {
    const names = Object.keys(EffectAgent);
    assert.notInclude(names, "Tool");
    assert.notInclude(names, "Toolkit");
    assert.strictEqual(agentOf(toolkit).toolkit, toolkit);
  });

  it.effect("[T-02][R35] a tool without options takes {}, refuses anything else and is in error mode", () =>
    Effect.gen(function* () {
      const Ping = Tool.make("ping");
      assert.strictEqual(Ping.failureMode, "error");
      const good = yield* callOnce(Ping, () => Effect.void, "{}");
      assert.deepStrictEqual(resultsIn(good.requests[1]), [["c1", null, false]]);
      const bad = yield* callOnce(Ping, () => Effect.void, '{"a":1}');
      assert.strictEqual(errorTagOf(bad), "AgentToolCallRejected");
    }),
  );

  it.effect("[T-09] handlers built by an Effect use its services; a missing handler layer does not type-check", () =>
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
      const incomplete: Effect.Effect<unknown, unknown, never> = Effect.provide(run, [shop, model]);
      assert.isTrue(Exit.isFailure(yield* Effect.exit(incomplete)));
      const complete: Effect.Effect<EffectAgent.AgentRuntime.RunResult<string>, unknown, never> = Effect.provide(run, [
        Layer.provide(handlers, shop),
        shop,
        model,
      ]);
      assert.strictEqual((yield* complete).output, "ok");
    }),
  );

  it.effect("[T-10] the later toolkit wins a name clash, and the empty toolkit changes nothing", () =>
    Effect.gen(function* () {
      const One = Tool.make("same", { success: Schema.String, description: "first" });
      const Two = Tool.make("same", { success: Schema.String, description: "second" });
      const merged = Toolkit.merge(Toolkit.empty, Toolkit.make(One), Toolkit.make(Two), Toolkit.empty);
      const handlers = Toolkit.make(Two).toLayer({ same: () => Effect.succeed("second ran") });
      const run = yield* watch(agentOf(merged), handlers, [toolCalls([{ id: "a", name: "same" }]), text("ok")]);
      assert.deepStrictEqual(run.requests[0]?.tools.map(({ description }) => description), ["second"]);
      assert.deepStrictEqual(resultsIn(run.requests[1]), [["a", "second ran", false]]);
    }),
  );
});

describe("decoding (T-03, T-04, T-15, R35 to R49)", () => {
  const When = Tool.make("when", {
    parameters: Schema.Struct({
      count: Schema.NumberFromString,
      at: Schema.DateFromString,
      note: Schema.optionalKey(Schema.String),
      tags: Schema.optional(Schema.Array(Schema.String)),
      limit: Schema.Number.pipe(Schema.withDecodingDefault(Effect.succeed(10))),
    }),
    success: Schema.Unknown,
    failure: Schema.Never,
    failureMode: "return",
  });

  const codecs = [
    ["plain", ModelCodec.plain, { count: "7", at: "2026-01-02T00:00:00.000Z" }],
    ["responses", ModelCodec.responses, { count: "7", at: "2026-01-02T00:00:00.000Z", note: null, tags: null, limit: null }],
    ["anthropic", ModelCodec.anthropic, { count: "7", at: "2026-01-02T00:00:00.000Z" }],
  ] as const;
  for (const [name, codec, params] of codecs) {
    it.effect(`[T-03][T-04][R41][R43] under the ${name} codec a handler gets decoded values with defaults, history keeps what was written`, () =>
      Effect.gen(function* () {
        const seen: Array<unknown> = [];
        const toolkit = Toolkit.make(When);
        const layer = toolkit.toLayer({ when: (decoded) => Effect.sync(() => (seen.push(decoded), "ok")) });
        const run = yield* watch(
          agentOf(toolkit),
          layer,
          [toolCalls([{ id: "c1", name: "when", params }]), text("done")],
          { model: { codecTransformer: codec.transformer } },
        ).pipe(Effect.provideService(ModelCodec, codec));
        assert.isTrue(Exit.isSuccess(run.exit));
        const [decoded] = seen as ReadonlyArray<{ count: unknown; at: unknown; limit: unknown }>;
        assert.strictEqual(decoded?.count, 7);
        assert.instanceOf(decoded?.at, Date);
        assert.strictEqual(decoded?.limit, 10);
        assert.deepStrictEqual(eventsOfKind(run.events, "ToolCallDeclared")[0]?.parameters, params);
        const assistant = run.requests[1]?.prompt.content.find((message) => message.role === "assistant");
        assert.include(JSON.stringify(assistant), '"count":"7"');
      }),
    );
  }

  it.effect("[R41] null for an optional key is read as absent by a model without strict mode too", () =>
    Effect.gen(function* () {
      const run = yield* callOnce(When, () => Effect.succeed("ok"), '{"count":"7","at":"2026-01-02T00:00:00.000Z","note":null,"tags":null,"limit":null}');
      assert.isTrue(Exit.isSuccess(run.exit));
      assert.strictEqual(resultsIn(run.requests[1])[0]?.[2], false);
    }),
  );

  const Shaped = Tool.make("shaped", {
    parameters: Schema.Struct({ by: Schema.Record(Schema.String, Schema.Number), pair: Schema.Tuple([Schema.String, Schema.Number]) }),
    success: Schema.Unknown,
    failure: Schema.Never,
    failureMode: "return",
  });
  const shapes = [
    ["as written by strict Responses", { by: [{ "0": "a", "1": 1 }], pair: { "0": "x", "1": 2 } }],
    ["as declared", { by: { a: 1 }, pair: ["x", 2] }],
  ] as const;
  for (const [name, params] of shapes) {
    it.effect(`[R42] records and tuples ${name} reach the handler as the tool's own type`, () =>
      Effect.gen(function* () {
        const seen: Array<unknown> = [];
        const run = yield* callOnce(Shaped, (decoded) => Effect.sync(() => (seen.push(decoded), "ok")), JSON.stringify(params)).pipe(
          Effect.provideService(ModelCodec, ModelCodec.responses),
        );
        assert.strictEqual(resultsIn(run.requests[1])[0]?.[2], false);
        assert.deepStrictEqual(JSON.parse(JSON.stringify(seen)), [{ by: { a: 1 }, pair: ["x", 2] }]);
      }),
    );
  }

  it.effect("[R42] a wrong shape is a parameter failure that shows the path on the wire", () =>
    Effect.gen(function* () {
      const run = yield* callOnce(Shaped, () => Effect.succeed("ok"), '{"by":[{"0":"a","1":"one"}],"pair":{"0":"x","1":2}}').pipe(
        Effect.provideService(ModelCodec, ModelCodec.responses),
      );
      const [, result, isFailure] = resultsIn(run.requests[1])[0] ?? [];
      assert.isTrue(isFailure);
      assert.include(JSON.stringify(result), 'by\\"][0]');
    }),
  );

  const Echo = Tool.make("echo", {
    parameters: Schema.Struct({ value: Schema.Unknown }),
    success: Schema.Unknown,
    failure: Schema.Never,
    failureMode: "return",
  });
  const echo = (params: unknown) => Effect.succeed((params as { readonly value: unknown }).value);

  it.effect("[T-15] arguments with __proto__ reach no handler and change no prototype", () =>
    Effect.gen(function* () {
      let started = false;
      const run = yield* callOnce(Echo, () => Effect.sync(() => (started = true)), '{"value":1,"__proto__":{"polluted":true}}');
      assert.isFalse(started);
      assert.isTrue(Exit.isFailure(run.exit));
      assert.isUndefined(({} as { polluted?: boolean }).polluted);
    }),
  );

  it.effect("[T-03] keys that the tool does not declare are refused, not dropped", () =>
    Effect.gen(function* () {
      let started = false;
      const run = yield* callOnce(Echo, () => Effect.sync(() => (started = true)), '{"value":1,"values":2}');
      assert.isFalse(started);
      assert.include(JSON.stringify(resultsIn(run.requests[1])[0]?.[1]), "values");
    }),
  );

  it.effect("[R35] no text at all for a tool with required keys is a parameter failure", () =>
    Effect.gen(function* () {
      const run = yield* callOnce(Echo, echo, "{}");
      assert.strictEqual(resultsIn(run.requests[1])[0]?.[2], true);
    }),
  );

  const hostile = [
    ["R45", "NUL, a lone surrogate and a byte order mark", '{"value":"a\\u0000b\\ud800c\\ufeff"}', "a\u0000b\ud800c\ufeff"],
    ["R45", "text in other scripts", '{"value":"日本語 עברית 👩‍👩‍👧"}', "日本語 עברית 👩‍👩‍👧"],
  ] as const;
  for (const [id, name, argumentsText, value] of hostile) {
    it.effect(`[${id}] ${name} in arguments and results pass through unchanged`, () =>
      Effect.gen(function* () {
        const run = yield* callOnce(Echo, echo, argumentsText);
        assert.isTrue(Exit.isSuccess(run.exit));
        assert.deepStrictEqual(resultsIn(run.requests[1]), [["c1", value, false]]);
      }),
    );
  }

  for (const number of ["9007199254740993", "1e400", "0.1000000000000000055"]) {
    it.effect(`[R46] the number ${number}, which a double would change, is refused before the handler`, () =>
      Effect.gen(function* () {
        let started = false;
        const run = yield* callOnce(Echo, () => Effect.sync(() => (started = true)), `{"value":${number}}`);
        assert.isFalse(started);
        assert.strictEqual(resultsIn(run.requests[1])[0]?.[2], true);
      }),
    );
  }

  const tooMuch = [
    ["R48", "5,000 levels deep", `{"value":${"[".repeat(5_000)}${"]".repeat(5_000)}}`],
    ["R49", "10,000 keys wide", `{"value":{${Array.from({ length: 10_000 }, (_, index) => `"k${index}":1`).join(",")}}}`],
    ["R49", "over 1 MiB long", JSON.stringify({ value: "x".repeat(1_100_000) })],
  ] as const;
  for (const [id, name, argumentsText] of tooMuch) {
    it.effect(`[${id}] arguments ${name} are refused before storage and before the handler`, () =>
      Effect.gen(function* () {
        let started = false;
        const toolkit = Toolkit.make(Echo);
        const layer = toolkit.toLayer({ echo: () => Effect.sync(() => (started = true)) });
        const run = yield* watch(agentOf(toolkit), layer, [toolCalls([{ id: "c1", name: "echo", argumentsText }]), text("done")], {
          model: { chunkSize: 65_536 },
        });
        assert.isFalse(started);
        assert.isBelow(JSON.stringify(run.events).length, 20_000);
        assert.isBelow(JSON.stringify(run.requests[1]?.encodedPrompt ?? []).length, 20_000);
        assert.strictEqual(terminalEvents(run.events).length, 1);
      }),
    );
  }
});

describe("what a refused batch stores (R48, R49)", () => {
  it.effect("[R48][R49][F-07] arguments beyond every bound end an error-mode batch and are not in its records or prompts", () =>
    Effect.gen(function* () {
      const Take = Tool.make("take", { parameters: Schema.Struct({ value: Schema.Unknown }) });
      const toolkit = Toolkit.make(Take);
      const store = makeStore();
      const argumentsText = `{"value":${"[".repeat(5_000)}"${"x".repeat(2_000_000)}"${"]".repeat(5_000)}}`;
      const end = yield* attempt(store, agentOf(toolkit), () => toolkit.toLayer({ take: () => Effect.void })).pipe(
        Effect.provide(ScriptedModel.layer([toolCalls([{ id: "c1", name: "take", argumentsText }])], { chunkSize: 65_536 })),
      );
      assert.strictEqual(end._tag === "settled" ? end.settled.finishReason : end._tag, "refused");
      assert.isBelow(JSON.stringify([recordsOf(store), store.events, store.diagnostics]).length, 20_000);
    }),
  );
});

describe("results (T-05, T-06, T-08, T-18)", () => {
  const results = [
    ["the default success", Tool.make("t"), Effect.void, null],
    ["Schema.Void", Tool.make("t", { success: Schema.Void }), Effect.void, null],
    [
      "a codec of its own",
      Tool.make("t", { success: Schema.Literal("ok").pipe(Schema.decodeTo(Schema.Undefined, { decode: SchemaGetter.transform((): undefined => undefined), encode: SchemaGetter.transform(() => "ok" as const) })) }),
      Effect.void,
      "ok",
    ],
  ] as const;
  for (const [name, tool, handle, expected] of results) {
    it.effect(`[scenario 9][T-05][R51] nothing returned through ${name} is ${JSON.stringify(expected)} for the model and in the event`, () =>
      Effect.gen(function* () {
        const run = yield* callOnce(tool, () => handle, "{}");
        assert.deepStrictEqual(resultsIn(run.requests[1]), [["c1", expected, false]]);
        assert.deepStrictEqual(eventsOfKind(run.events, "ToolCallSucceeded")[0]?.result, expected);
      }),
    );
  }

  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  const notJson = [
    ["a BigInt", { amount: 10n }],
    ["a cycle", cyclic],
    ["a function", { run: () => 1 }],
    ["NaN", Number.NaN],
    ["Infinity", [Number.POSITIVE_INFINITY]],
  ] as const;
  for (const [name, value] of notJson) {
    it.effect(`[T-06][F-05][R46] ${name} through Schema.Any fails the run and is no result`, () =>
      Effect.gen(function* () {
        const run = yield* callOnce(Tool.make("t", { success: Schema.Any }), () => Effect.succeed(value), "{}");
        assert.strictEqual(errorTagOf(run), "AgentToolResultEncodingError");
        assert.strictEqual(run.requests.length, 1);
      }),
    );
  }

  const Progress = Tool.make("progress", { success: Schema.Union([Schema.String, Schema.Struct({ percent: Schema.Int })]) });
  const progressKit = Toolkit.make(Progress);

  it.effect("[T-08][R55] preliminary values are progress, then exactly one end; history has the returned value only", () =>
    Effect.gen(function* () {
      const layer = progressKit.toLayer({
        progress: (_, context) =>
          Effect.gen(function* () {
            for (const percent of [10, 50, 90]) yield* context.preliminary({ percent });
            return "finished";
          }),
      });
      const run = yield* watch(agentOf(progressKit), layer, [toolCalls([{ id: "c1", name: "progress" }]), text("ok")]);
      const kinds = run.events.map((event) => event._tag).filter((tag) => tag.startsWith("Tool"));
      assert.deepStrictEqual(kinds, ["ToolCallDeclared", "ToolCallStarted", "ToolProgress", "ToolProgress", "ToolProgress", "ToolCallSucceeded"]);
      assert.deepStrictEqual(eventsOfKind(run.events, "ToolProgress").map(({ value }) => value), [{ percent: 10 }, { percent: 50 }, { percent: 90 }]);
      assert.notInclude(JSON.stringify(run.requests[1]?.encodedPrompt), "percent");
      assert.deepStrictEqual(resultsIn(run.requests[1]), [["c1", "finished", false]]);
    }),
  );

  it.effect("[T-08][B-10] a thousand preliminary values become at most 256 events, and the last one says how many were left out", () =>
    Effect.gen(function* () {
      const layer = progressKit.toLayer({
        progress: (_, context) =>
          Effect.gen(function* () {
            for (let percent = 1; percent <= 1_000; percent++) yield* context.preliminary({ percent });
            return "finished";
          }),
      });
      const run = yield* watch(agentOf(progressKit), layer, [toolCalls([{ id: "c1", name: "progress" }]), text("ok")]);
      const progress = eventsOfKind(run.events, "ToolProgress");
      assert.strictEqual(progress.length, 256);
      assert.deepInclude(progress.at(-1), { value: { percent: 1_000 }, dropped: 744 });
    }),
  );

  it.effect("[T-18][R52] a large result of multi-byte text is bounded once, the same for record and prompt, and tells its size", () =>
    Effect.gen(function* () {
      const Big = Tool.make("big", { success: Schema.String });
      const toolkit = Toolkit.make(Big);
      const value = "ß€👍".repeat(3_000);
      const layer = toolkit.toLayer({ big: () => Effect.succeed(value) });
      const run = yield* watch(agentOf(toolkit, { toolResultBounds: { maxBytes: 1_000 } }), layer, [
        toolCalls([{ id: "c1", name: "big" }]),
        text("ok"),
      ]);
      const [, result] = resultsIn(run.requests[1])[0] ?? [];
      assert.isAtMost(utf8ByteLength(JSON.stringify(result)), 1_000);
      const event = eventsOfKind(run.events, "ToolCallSucceeded")[0];
      assert.deepStrictEqual(event?.result, JSON.parse(JSON.stringify(result)));
      assert.strictEqual(event?.originalBytes, utf8ByteLength(JSON.stringify(value)));
      assert.deepInclude(result as object, { truncated: true, originalBytes: event?.originalBytes });
      assert.notMatch(JSON.stringify(result), /\\ud[89a-f]/);
    }),
  );
});

describe("declarations and ids (T-07, T-12, T-14, T-16, T-17)", () => {
  const Described = Tool.make("described", {
    description: "Finds a thing.",
    parameters: Schema.Struct({ query: Schema.String.annotate({ description: "What to look for" }) }),
  });
  const ByParameters = Tool.make("by_parameters", {
    parameters: Schema.Struct({ id: Schema.String }).annotate({ description: "The whole question" }),
  });
  const Hosted = Tool.providerDefined({
    id: "test.hosted_search",
    customName: "HostedSearch",
    providerName: "hosted_search",
    args: Schema.Struct({}),
    parameters: Schema.Struct({ query: Schema.String }),
    success: Schema.Struct({ hits: Schema.Int }),
  })({});

  it.effect("[T-07] descriptions of tools and parameters are in the request; the parameters' one stands in for a missing one", () =>
    Effect.gen(function* () {
      const toolkit = Toolkit.make(Described, ByParameters);
      const layer = toolkit.toLayer({ described: () => Effect.void, by_parameters: () => Effect.void });
      const run = yield* watch(agentOf(toolkit), layer, [text("ok")]);
      const tools = run.requests[0]?.tools ?? [];
      assert.deepStrictEqual(tools.map(({ description }) => description), ["Finds a thing.", "The whole question"]);
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

  it.effect("[T-14][Z-10] a call that the provider executed starts nothing here, is not authorized, and its result stays in history", () =>
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
              ...providerCall({ id: "p1", name: "HostedSearch", params: { query: "x" }, result: { hits: 3 } }),
              ...toolCalls([{ id: "l1", name: "local" }]).parts,
            ],
          },
          text("ok"),
        ],
        { run: { toolAuthorization: { authorize: ({ call }) => Effect.as(Effect.sync(() => asked.push(call.toolName)), { _tag: "allowed" as const }) } } },
      );
      assert.isTrue(Exit.isSuccess(run.exit));
      assert.deepStrictEqual(asked, ["local"]);
      assert.deepStrictEqual(eventsOfKind(run.events, "ToolCallStarted").map(({ callId }) => callId as string), ["l1"]);
      assert.deepStrictEqual(
        eventsOfKind(run.events, "ToolCallDeclared").map(({ callId, providerExecuted }) => [callId as string, providerExecuted]),
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
        { parts: providerCall({ id: "p1", name: "HostedSearch", params: { query: 7 }, result: { hits: 3 } }) },
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
              ...providerCall({ id: "p1", name: "HostedSearch", params: { query: "x" }, result: { hits: 3 } }),
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
      const run = yield* watch(agentOf(toolkit), toolkit.toLayer({ described: () => Effect.void }), [text("ok")]);
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
        const layer = toolkit.toLayer({ described: () => Effect.sync(() => void (started = true)) });
        const run = yield* watch(agentOf(toolkit), layer, [
          toolCalls(callIds.map((id) => ({ id, name: "described", params: { query: "x" } }))),
        ]);
        assert.isFalse(started);
        assert.strictEqual(errorTagOf(run), "ModelProtocolError");
      }),
    );
  }

  it.effect("[T-13] a dynamic tool advertises its schema as it is and hands its arguments through", () =>
    Effect.gen(function* () {
      const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;
      const Remote = Tool.dynamic("remote", { description: "Far away.", parameters: schema, success: Schema.Unknown });
      const toolkit = Toolkit.make(Remote);
      const seen: Array<unknown> = [];
      const layer = toolkit.toLayer({ remote: (params) => Effect.sync(() => (seen.push(params), "ok")) });
      const run = yield* watch(agentOf(toolkit), layer, [toolCalls([{ id: "a", name: "remote", params: { city: "Bonn" } }]), text("ok")]);
      assert.deepStrictEqual(run.requests[0]?.tools[0]?.jsonSchema, schema as object);
      assert.deepStrictEqual(seen, [{ city: "Bonn" }]);
    }),
  );
});
