import * as Effect from "effect/Effect";
import { HttpApiBuilder } from "effect/unstable/httpapi";
import { Api } from "#lib/contract/http/api.ts";
import { readCounts } from "#server/views/counts.ts";
import { listAudit } from "#server/views/list-audit.ts";
import { listObligations } from "#server/views/list-obligations.ts";
import { listWorkers } from "#server/views/list-workers.ts";
import { servicesOf } from "./services.ts";
import { operatorFor } from "./view-as.ts";

export const operationsHandlers = HttpApiBuilder.group(
  Api,
  "operations",
  Effect.fn(function* (handlers) {
    const services = yield* servicesOf;
    return handlers.handleAll({
      counts: () =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", "counts");
          return yield* readCounts(tenantId);
        }).pipe(Effect.provideContext(services)),
      obligations: ({ query }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", "obligations");
          return yield* listObligations(tenantId, query);
        }).pipe(Effect.provideContext(services)),
      workers: () =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", "workers");
          return { items: yield* listWorkers(tenantId) };
        }).pipe(Effect.provideContext(services)),
      audit: ({ query }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("read-audit", "audit");
          return yield* listAudit(tenantId, query);
        }).pipe(Effect.provideContext(services)),
    });
  }),
);
