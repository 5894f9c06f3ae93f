import * as Effect from "effect/Effect";
import * as Semaphore from "effect/Semaphore";
import { HttpApiBuilder } from "effect/unstable/httpapi";
import { Api } from "#lib/contract/http/api.ts";
import { CurrentOperator } from "#lib/contract/http/authentication.ts";
import { probeUnknown } from "#server/operator/probe-unknown.ts";
import { resolveUnknown } from "#server/operator/resolve-unknown.ts";
import { readUnknownsMoment } from "#server/views/queue-moment.ts";
import { listUnknowns, readUnknownDetail } from "#server/views/unknowns.ts";
import { unlessArchived } from "#server/views/archived-run.ts";
import { ofItem } from "./of-run.ts";
import { servicesOf } from "./services.ts";
import { operatorFor } from "./view-as.ts";

/** As for the approvals' past. */
const momentsAtOnce = 2;

export const unknownsHandlers = HttpApiBuilder.group(
  Api,
  "unknowns",
  Effect.fn(function* (handlers) {
    const services = yield* servicesOf;
    const moments = yield* Semaphore.make(momentsAtOnce);
    return handlers.handleAll({
      list: ({ query }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", "unknowns");
          return yield* listUnknowns(tenantId, query).pipe(unlessArchived(tenantId, query.runId));
        }).pipe(Effect.provideContext(services)),
      moment: ({ params }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", "unknowns");
          return yield* moments.withPermit(readUnknownsMoment(tenantId, params.sequence));
        }).pipe(Effect.provideContext(services)),
      get: ({ params }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", params.unknownId);
          return yield* readUnknownDetail(tenantId, params.unknownId);
        }).pipe(ofItem(params.unknownId), Effect.provideContext(services)),
      probe: ({ params, payload }) =>
        Effect.gen(function* () {
          const operator = yield* CurrentOperator;
          yield* probeUnknown(operator, params.unknownId, payload);
          return yield* readUnknownDetail(operator.tenantId, params.unknownId);
        }).pipe(ofItem(params.unknownId), Effect.provideContext(services)),
      resolve: ({ params, payload }) =>
        Effect.gen(function* () {
          const operator = yield* CurrentOperator;
          yield* resolveUnknown(operator, params.unknownId, payload);
          return yield* readUnknownDetail(operator.tenantId, params.unknownId);
        }).pipe(ofItem(params.unknownId), Effect.provideContext(services)),
    });
  }),
);
