import { assert, it } from "@effect/vitest";
import { Effect, Layer, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { AgentId } from "#lib/contract/ids.ts";
import { currentModelCodec } from "#lib/engine/ModelCodec.ts";
import { AgentRegistry, register } from "#lib/host/AgentRegistry.ts";
import { catalogueLayer } from "#server/agents/RegistryCatalogue.ts";
import { ModelBinding } from "#server/model/ModelBinding.ts";
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
