/** A call that an endpoint gave as text is found and reported; nothing of it starts, and nothing else is taken for one (R77). */
import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as fc from "fast-check";
import * as Agent from "#lib/agent/Agent.ts";
import { type DiagnosticId, WorkerId } from "#lib/contract/ids.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { eventsOf } from "#lib/durable/record-events.ts";
import { layerMemory } from "#lib/durable/memory/layer.ts";
import { AgentRegistry, register } from "#lib/host/AgentRegistry.ts";
import { ThreadDriver } from "#lib/host/ThreadDriver.ts";
import { admit, readAll } from "#lib/testing/conformance/harness.ts";
import { ScriptedModel, text } from "#lib/testing/ScriptedModel.ts";
import { findCallAsText } from "#lib/engine/call-as-text.ts";

const offered = ["get_order", "cancel_order"];
const json = '{"name": "get_order", "arguments": {"id": "#1"}}';

const spellings = [
  ["json", json],
  ["json", '{"name":"get_order","parameters":{}}'],
  ["json", '\n{"type":"function","name":"get_order","arguments":"{\\"id\\":\\"#1\\"}"}\n'],
  ["json", '{"id":"c1","type":"function","function":{"name":"get_order","arguments":{}}}'],
  ["json", `[${json}, {"name":"cancel_order","arguments":{}}]`],
  ["tool_call", `<tool_call>\n${json}\n</tool_call>`],
  ["tool_call", `<tool_call>${json}</tool_call>\n<tool_call>${json}</tool_call>`],
  ["tool_call", `<tool_call>${json}`],
  ["tool_call", `<think>The order first.</think>\n<tool_call>${json}</tool_call>`],
  [
    "tool_call",
    "<tool_call>\n<function=get_order>\n<parameter=id>#1</parameter>\n</function>\n</tool_call>",
  ],
  ["tool_calls", `[TOOL_CALLS][${json}]`],
  ["tool_calls", `[TOOL_CALLS] ${json}`],
  ["tool_calls", '[TOOL_CALLS]get_order{"id":"#1"}'],
  ["tool_calls", '[TOOL_CALLS]get_order[ARGS]{"id":"#1"}'],
  ["function", '<function=get_order>{"id": "#1"}</function>'],
] as const;

const nearMisses = [
  ["an answer with a name", '{"name": "get_order", "price": 12}'],
  [
    "an answer with a name and more than a call has",
    '{"name":"get_order","arguments":{},"total":1}',
  ],
  ["arguments that are no object", '{"name":"get_order","arguments":["a"]}'],
  ["no arguments", '{"name":"get_order"}'],
  ["a tool that was not offered", '{"name":"drop_table","arguments":{}}'],
  [
    "a tagged call of one that was not offered",
    '<tool_call>{"name":"drop","arguments":{}}</tool_call>',
  ],
  ["a list of other things", `[${json}, 1]`],
  ["prose before the call", `You would call ${json}`],
  ["prose before a tagged call", `Write this: <tool_call>${json}</tool_call>`],
  ["prose behind a tagged call", `<tool_call>${json}</tool_call> is how it is written.`],
  ["prose behind a function", "<function=get_order>{}</function> is how it is written."],
  ["a quoted call", `\`\`\`json\n${json}\n\`\`\``],
  ["prose in the tags", "<tool_call>get_order</tool_call>"],
  ["a marker with prose", "[TOOL_CALLS] are what get_order needs"],
  ["half a call", '{"name":"get_order","arguments":{'],
  ["thoughts without an end", `<think>${json}`],
  ["nothing", ""],
] as const;

describe("a call emitted as text (R77)", () => {
  for (const [spelling, text] of spellings)
    it(`[R77] ${JSON.stringify(text).slice(0, 60)} is found as ${spelling}`, () => {
      assert.deepStrictEqual(findCallAsText(text, offered), { toolName: "get_order", spelling });
      assert.isUndefined(findCallAsText(text, []));
      assert.isUndefined(findCallAsText(text, ["another_tool"]));
    });

  for (const [what, text] of nearMisses)
    it(`[R77] ${what} is an answer like any other`, () => {
      assert.isUndefined(findCallAsText(text, offered));
    });

  const beginnings = ["{", "[", "<tool_call>", "<function=", "[TOOL_CALLS]", "<think>", json];
  const ends = ["", "}", "]", "</tool_call>", "</function>", "</think>", json];
  it("[R77] no text makes it throw, and what it finds was offered", () => {
    const piece = fc.oneof(fc.string({ unit: "binary" }), fc.json(), fc.constantFrom(...ends));
    fc.assert(
      fc.property(
        fc.constantFrom(...beginnings, ""),
        fc.array(piece, { maxLength: 5 }),
        fc.constantFrom(...ends),
        (beginning, middle, end) => {
          const found = findCallAsText(`${beginning}${middle.join("")}${end}`, offered);
          if (found !== undefined) assert.include(offered, found.toolName);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it("[R77] 10 MB of any spelling's beginning, of its repetition and of depth are left alone", () => {
    const tenMegabytes = 10_000_000;
    for (const one of [...beginnings, `<tool_call>${json}</tool_call>`, "\n"])
      assert.isUndefined(findCallAsText(one.repeat(Math.ceil(tenMegabytes / one.length)), offered));
    // Below the bound it looks, and a text that is deep or repeats itself is no burden either.
    for (const one of ["[", '{"name":', "<tool_call>", "<function=", "<function=a></function>"])
      assert.isUndefined(findCallAsText(one.repeat(Math.floor(250_000 / one.length)), offered));
  });
});

describe("a run whose answer is a call as text (R77)", () => {
  const GetOrder = Tool.make("get_order", { success: Schema.String });
  const toolkit = Toolkit.make(GetOrder);
  const settledWith = (output: Agent.DataSchema, answer: string) =>
    Effect.gen(function* () {
      const stored: Array<string> = [];
      const reported: Array<DiagnosticId> = [];
      const agent = Agent.make("desk", {
        input: Schema.String,
        output,
        instructions: "Go.",
        toolkit,
      });
      const handlers = toolkit.toLayer({ get_order: () => Effect.die("it must not start") });
      const watched = Layer.effect(
        Journal,
        Effect.map(Journal, (journal) =>
          Journal.of({
            ...journal,
            append: (request) => {
              stored.push(...request.diagnostics.map(({ title }) => title));
              reported.push(...request.diagnostics.map(({ diagnosticId }) => diagnosticId));
              return journal.append(request);
            },
          }),
        ),
      ).pipe(Layer.provideMerge(layerMemory));
      const run = Effect.gen(function* () {
        const { place } = yield* admit({ input: "go" });
        yield* (yield* ThreadDriver).drive({
          tenantId: place.tenantId,
          threadId: place.threadId,
        });
        const records = (yield* readAll(place)).map(({ record }) => record);
        return { records, stored, reported };
      });
      return yield* run.pipe(
        Effect.provide(
          ThreadDriver.layer(WorkerId.make("w")).pipe(
            Layer.provideMerge(
              AgentRegistry.layer(Effect.all([register(Agent.bind(agent, handlers))])),
            ),
            Layer.provideMerge(ScriptedModel.layer([text(answer)])),
            Layer.provideMerge(watched),
          ),
        ),
      );
    });

  it.effect(
    "[R77][DX-06] reports it with its settlement, starts nothing and ends as it would have",
    () =>
      Effect.gen(function* () {
        const { records, stored, reported } = yield* settledWith(Schema.String, json);
        const settled = records.at(-1);
        const [diagnosticId] = reported;
        assert.isDefined(diagnosticId);
        const callAsText = { toolName: "get_order", diagnosticId };
        assert.deepInclude(settled, { callAsText });
        // The run's page reads it from the event, the record and the fold alike.
        assert.deepStrictEqual(settled === undefined ? [] : [...eventsOf(settled)], [
          { _tag: "RunCompleted", output: json, finishReason: "answered", callAsText },
        ]);
        assert.deepInclude(settled, { outcome: "completed", output: json });
        assert.strictEqual(stored.length, 1);
        assert.include(stored[0], "a call of get_order that the endpoint gave as text");
        assert.isFalse(records.some(({ _tag }) => _tag === "ToolCallSettled"));
      }),
  );

  it.effect(
    "[R77] says so where the answer is not what was declared, and is silent where it is",
    () =>
      Effect.gen(function* () {
        const typed = yield* settledWith(Schema.Struct({ verdict: Schema.String }), json);
        const settled = typed.records.at(-1);
        assert.strictEqual(
          settled?._tag === "RunSettled" && settled.finishReason,
          "invalid-output",
        );
        assert.include(
          JSON.stringify(settled),
          "a call of get_order that the endpoint gave as text",
        );
        assert.strictEqual(typed.stored.length, 1);
        assert.nestedPropertyVal(settled, "callAsText.diagnosticId", typed.reported[0]);
        const output = Schema.Struct({ name: Schema.String, arguments: Schema.Json });
        const declared = yield* settledWith(output, json);
        assert.deepStrictEqual(declared.stored, []);
        assert.notProperty(declared.records.at(-1), "callAsText");
      }),
  );
});
