import { layer } from "@effect/vitest";
import { durableConformance } from "#lib/testing/durable-conformance.ts";
import { store } from "#tests/postgres/store.ts";

layer(store, { excludeTestServices: true })("the ports on PostgreSQL", (it) => {
  for (const { name, effect } of durableConformance) {
    it.effect(name, () => effect);
  }
});
