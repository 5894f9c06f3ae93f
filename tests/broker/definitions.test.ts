import { assert, describe, it } from "@effect/vitest";
import { Effect, Schema, Tracer } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { toolDigestOf } from "#lib/agent/definition-digest.ts";
import { ToolExecutionClass } from "#lib/durable-step.ts";
import { register } from "#lib/host/AgentRegistry.ts";
import { ProgrammaticTools, type ProgrammaticToolsOptions } from "#lib/tool-broker.ts";
import { agentView } from "#server/agents/agent-view.ts";
import { agentOf } from "#tests/engine/one-call.ts";
import { call, caught, makeDesk, makeHandlers, outerOnce, Refused } from "#tests/broker/desk.ts";
import { watch } from "#tests/engine/run-agent.ts";

const Look = Tool.make("look", { success: Schema.String }).annotate(ToolExecutionClass, "readonly");
const Send = Tool.make("send", { success: Schema.String });
const Nested = Tool.make("nested").annotate(ProgrammaticTools, { toolNames: ["look"] });
const outerOf = (options: ProgrammaticToolsOptions) =>
  Tool.make("outer").annotate(ProgrammaticTools, options);

describe("the list of programmatic tools", () => {
  const refused: ReadonlyArray<readonly [ProgrammaticToolsOptions, RegExp]> = [
    [{ toolNames: [] }, /1 to 128 names; seen 0/],
    [{ toolNames: ["look", "look"] }, /name a tool twice/],
    [{ toolNames: ["elsewhere"] }, /"elsewhere", which is not registered/],
    [{ toolNames: ["toString"] }, /"toString", which is not registered/],
    [{ toolNames: ["nested"] }, /programmatic tools of its own/],
    [{ toolNames: ["outer"] }, /programmatic tools of its own/],
    [{ toolNames: ["look"], maxCalls: 0 }, /1 to 1000 calls; seen 0/],
    [{ toolNames: ["look"], maxCalls: 1_001 }, /1 to 1000 calls; seen 1001/],
  ];
  for (const [options, message] of refused) {
    it(`[CM-01] ${JSON.stringify(options)} is refused when the agent is defined`, () => {
      assert.throws(() => agentOf(Toolkit.make(Look, Send, Nested, outerOf(options))), message);
    });
  }

  it("[CM-01][DU-05] a readonly tool may call readonly ones only: it runs again freely, with all that is inside", () => {
    const readonlyOuter = (toolNames: ReadonlyArray<string>) =>
      Toolkit.make(Look, Send, outerOf({ toolNames }).annotate(ToolExecutionClass, "readonly"));
    assert.throws(() => agentOf(readonlyOuter(["send"])), /readonly ones only/);
    assert.doesNotThrow(() => agentOf(readonlyOuter(["look"])));
  });

  it("[DU-19] is part of the tool's contract, and other tools keep their digest", () => {
    const digests = [
      Tool.make("outer"),
      outerOf({ toolNames: ["look"] }),
      outerOf({ toolNames: ["look", "send"] }),
      outerOf({ toolNames: ["look"], maxCalls: 3 }),
    ].map(toolDigestOf);
    assert.strictEqual(new Set(digests).size, 4);
    assert.strictEqual(
      toolDigestOf(Send),
      "1d0cf9eded37c4f65a05871bf4e89f25bd75964bc2b40c1c903a0a7a8afad6ed",
    );
  });
});

describe("the Agents page", () => {
  it.effect("[CM-01] says of each tool what its program may call, and how often", () =>
    Effect.gen(function* () {
      const toolkit = Toolkit.make(Look, Send, outerOf({ toolNames: ["look", "send"] }));
      const handlers = toolkit.toLayer({
        look: () => Effect.succeed(""),
        send: () => Effect.succeed(""),
        outer: () => Effect.void,
      });
      const registered = yield* register(Agent.bind(agentOf(toolkit), handlers));
      const { tools } = agentView(registered, {
        authorization: undefined,
        visibility: undefined,
      });
      assert.deepStrictEqual(
        tools.map(({ name, programmaticTools }) => [name, programmaticTools]),
        [
          ["look", undefined],
          ["send", undefined],
          ["outer", { toolNames: ["look", "send"], maxCalls: 64 }],
        ],
      );
    }).pipe(Effect.scoped),
  );
});

describe("spans of calls inside a call", () => {
  it.effect(
    "[TE-01][TE-05][CM-07] say that a program made them, in which call and place, and that a failure went back to it",
    () =>
      Effect.gen(function* () {
        const spans: Array<Tracer.NativeSpan> = [];
        const tracer = Tracer.make({
          span: (options) => {
            const span = new Tracer.NativeSpan(options);
            spans.push(span);
            return span;
          },
        });
        const desk = makeDesk();
        const { layer } = makeHandlers(
          desk,
          (broker) => Effect.forEach(["a", "no"], (id) => caught(broker.invoke(call("send", id)))),
          (id) =>
            id === "no" ? Effect.fail(new Refused({ message: "secret-9" })) : Effect.succeed(id),
        );
        yield* watch(desk.agent, layer(), outerOnce).pipe(
          Effect.provideService(Tracer.Tracer, tracer),
        );
        const toolSpans = spans.filter(({ name }) => name.startsWith("execute_tool"));
        const shown = toolSpans.map(({ attributes }) =>
          [
            "gen_ai.tool.name",
            "effect_agent.tool.invocation_kind",
            "effect_agent.tool.parent_call.id",
            "effect_agent.tool.sequence_index",
            "effect_agent.tool.failure_handling",
          ].map((name) => attributes.get(name)),
        );
        assert.deepStrictEqual(shown, [
          ["outer", "model", undefined, undefined, undefined],
          ["send", "programmatic", "o", 0, undefined],
          ["send", "programmatic", "o", 1, "returned-to-caller"],
        ]);
        assert.notInclude(
          JSON.stringify(spans.map(({ attributes }) => [...attributes])),
          "secret-9",
        );
      }),
  );
});
