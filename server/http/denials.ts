import * as Effect from "effect/Effect";
import { HttpApiBuilder } from "effect/unstable/httpapi";
import { Api } from "#lib/contract/http/api.ts";
import { CurrentOperator } from "#lib/contract/http/authentication.ts";
import { acknowledgeDenial } from "#server/operator/acknowledge-denial.ts";
import { listDenials, readDenial } from "#server/views/denials.ts";
import { unlessArchived } from "#server/views/archived-run.ts";
import { ofItem } from "./of-run.ts";
import { servicesOf } from "./services.ts";
import { operatorFor } from "./view-as.ts";

export const denialsHandlers = HttpApiBuilder.group(
  Api,
  "denials",
  Effect.fn(function* (handlers) {
    const services = yield* servicesOf;
    return handlers.handleAll({
      list: ({ query }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", "denials");
          return yield* listDenials(tenantId, query).pipe(unlessArchived(tenantId, query.runId));
        }).pipe(Effect.provideContext(services)),
      get: ({ params }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", params.denialId);
          return yield* readDenial(tenantId, params.denialId);
        }).pipe(ofItem(params.denialId), Effect.provideContext(services)),
      acknowledge: ({ params, payload }) =>
        Effect.gen(function* () {
          const operator = yield* CurrentOperator;
          yield* acknowledgeDenial(operator, params.denialId, payload);
          return yield* readDenial(operator.tenantId, params.denialId);
        }).pipe(ofItem(params.denialId), Effect.provideContext(services)),
    });
  }),
);
