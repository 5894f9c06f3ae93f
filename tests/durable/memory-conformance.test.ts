import { describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { layerMemory } from "#lib/durable/memory/layer.ts";
import { durableConformance } from "#lib/testing/durable-conformance.ts";

describe("the ports in memory", () => {
  for (const { name, effect } of durableConformance) {
    it.live(name, () => effect.pipe(Effect.provide(layerMemory)));
  }
});
