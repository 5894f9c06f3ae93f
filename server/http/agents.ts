import * as Effect from "effect/Effect";
import { HttpApiBuilder } from "effect/unstable/httpapi";
import { Api } from "#lib/contract/http/api.ts";
import { AgentCatalogue } from "#server/views/AgentCatalogue.ts";
import { notFound } from "#server/views/require-run.ts";
import { servicesOf } from "./services.ts";
import { operatorFor } from "./view-as.ts";

export const agentsHandlers = HttpApiBuilder.group(
  Api,
  "agents",
  Effect.fn(function* (handlers) {
    const services = yield* servicesOf;
    const list = Effect.flatMap(AgentCatalogue, (catalogue) => catalogue.list());
    return handlers.handleAll({
      list: () =>
        Effect.gen(function* () {
          yield* operatorFor("view", "agents");
          return { items: yield* list };
        }).pipe(Effect.provideContext(services)),
      get: ({ params }) =>
        Effect.gen(function* () {
          yield* operatorFor("view", params.agentId);
          const agents = yield* list;
          const agent = agents.find((candidate) => candidate.agentId === params.agentId);
          return agent ?? (yield* notFound("agent"));
        }).pipe(Effect.provideContext(services)),
    });
  }),
);
