import * as Effect from "effect/Effect";
import { HttpApiBuilder } from "effect/unstable/httpapi";
import { Api } from "#lib/contract/http/api.ts";
import { listDiagnostics, readDiagnostic } from "#server/views/diagnostics.ts";
import { unlessArchived } from "#server/views/archived-run.ts";
import { ofItem } from "./of-run.ts";
import { servicesOf } from "./services.ts";
import { operatorFor } from "./view-as.ts";

export const diagnosticsHandlers = HttpApiBuilder.group(
  Api,
  "diagnostics",
  Effect.fn(function* (handlers) {
    const services = yield* servicesOf;
    return handlers.handleAll({
      list: ({ query }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("read-diagnostics", "diagnostics");
          return yield* listDiagnostics(tenantId, query).pipe(
            unlessArchived(tenantId, query.runId),
          );
        }).pipe(Effect.provideContext(services)),
      get: ({ params }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("read-diagnostics", params.diagnosticId);
          return yield* readDiagnostic(tenantId, params.diagnosticId);
        }).pipe(ofItem(params.diagnosticId), Effect.provideContext(services)),
    });
  }),
);
