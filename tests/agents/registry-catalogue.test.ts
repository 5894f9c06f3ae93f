import { assert, it } from "@effect/vitest";
import { Effect, Layer, Result, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { AgentId, RunId, ThreadId } from "#lib/contract/ids.ts";
import { currentModelCodec } from "#lib/engine/ModelCodec.ts";
import { AgentRegistry, register } from "#lib/host/AgentRegistry.ts";
import { RunToolVisibility } from "#lib/tool-exposure.ts";
import { approvalRule } from "#lib/tool-approval.ts";
import { catalogueLayer, toolSchemasLayer } from "#server/agents/RegistryCatalogue.ts";
import { ModelBinding } from "#server/model/ModelBinding.ts";
import { ToolSchemas } from "#server/operator/ToolSchemas.ts";
import { AgentCatalogue } from "#server/views/AgentCatalogue.ts";

const toolkit = Toolkit.make(Tool.make("look", { success: Schema.String }));
const handlers = toolkit.toLayer({ look: () => Effect.succeed("seen") });
const agentWith = (id: string, policy: { readonly unknownPolicy?: "park" | "block" }) =>
  register(
    Agent.bind(
      Agent.make(id, {
        input: Schema.String,
        output: Schema.String,
        instructions: "Serve.",
        toolkit,
        policy,
      }),
      handlers,
    ),
  );

const registry = AgentRegistry.layer(
  Effect.all([agentWith("strict", { unknownPolicy: "block" }), agentWith("relaxed", {})]),
);
const binding = Layer.effect(
  ModelBinding,
  Effect.map(currentModelCodec, (codec) => ({
    provider: "rehearsal" as const,
    modelId: "scripted",
    isRehearsal: true,
    codec,
  })),
);

it.effect("[DU-15] the catalogue says what each agent's doubts do to its queue", () =>
  Effect.gen(function* () {
    const { unknownPolicyOf } = yield* AgentCatalogue;
    assert.strictEqual(yield* unknownPolicyOf(AgentId.make("strict")), "block");
    assert.strictEqual(yield* unknownPolicyOf(AgentId.make("relaxed")), "park");
    assert.strictEqual(yield* unknownPolicyOf(AgentId.make("gone")), "park");
  }).pipe(Effect.provide(catalogueLayer.pipe(Layer.provide([registry, binding])))),
);

const Pay = approvalRule(
  Tool.make("pay", {
    parameters: Schema.Struct({
      cents: Schema.NumberFromString,
      note: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("none"))),
    }),
    success: Schema.String,
    needsApproval: true,
  }),
  { approversRequired: 2, selfApproval: false, risk: "critical" },
);
const payer = register(
  Agent.bind(
    Agent.make("payer", {
      input: Schema.String,
      output: Schema.String,
      instructions: "Pay.",
      toolkit: Toolkit.make(Pay),
    }),
    Toolkit.make(Pay).toLayer({ pay: () => Effect.succeed("paid") }),
  ),
);
const schemas = (
  visible?: (names: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>>,
) => {
  const registered = toolSchemasLayer.pipe(Layer.provide(AgentRegistry.layer(Effect.all([payer]))));
  return visible === undefined
    ? registered
    : registered.pipe(
        Layer.provide(
          Layer.succeed(RunToolVisibility, { visible: ({ toolNames }) => visible(toolNames) }),
        ),
      );
};
const agentId = AgentId.make("payer");
const checked = (text: string) =>
  Effect.flatMap(ToolSchemas, (tools) =>
    Effect.result(tools.checkArguments({ agentId, toolName: "pay", text })),
  ).pipe(Effect.provide(schemas()));

it.effect(
  "[OP-05][C059] suggested arguments are read by the tool's own decoder, defaults filled in",
  () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* checked('{"cents":"12"}'),
        Result.succeed({ cents: "12", note: "none" }),
      );
      for (const text of [
        '{"cents":12}',
        '{"cents":"12","more":1}',
        "{}",
        "null",
        '{"cents":"12"',
        "",
      ]) {
        const answer = yield* checked(text);
        assert.isTrue(Result.isFailure(answer), text);
      }
    }),
);

it.effect(
  "[OP-05][C049] what a call would be judged by now names contract, rule and filter, and says so where a filter breaks",
  () =>
    Effect.gen(function* () {
      const standing = (layer: Layer.Layer<ToolSchemas>, toolName = "pay") =>
        Effect.flatMap(ToolSchemas, (tools) =>
          tools.standingOf({
            agentId,
            toolName,
            threadId: ThreadId.make("thread-1"),
            runId: RunId.make("run-1"),
            turn: 1,
            input: "go",
          }),
        ).pipe(Effect.provide(layer));
      const usual = yield* standing(schemas());
      assert.strictEqual(usual.visibility, "visible");
      assert.strictEqual(
        usual.approvalRule,
        "2 people, never the requester, a denial is recoverable, risk critical",
      );
      assert.strictEqual(usual.authorization, "none");
      assert.isNull((yield* standing(schemas(), "gone")).toolDigest);
      const hidden = yield* standing(schemas(() => Effect.succeed([])));
      assert.strictEqual(hidden.visibility, "hidden");
      const broken = yield* standing(schemas(() => Effect.die(new Error("filter down"))));
      assert.strictEqual(broken.visibility, "not-told");
    }),
);
