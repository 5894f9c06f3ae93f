import * as Effect from "effect/Effect";
import * as Stream from "effect/Stream";
import { HttpServerResponse } from "effect/unstable/http";
import { HttpApiBuilder } from "effect/unstable/httpapi";
import { Api } from "#lib/contract/http/api.ts";
import { CurrentOperator } from "#lib/contract/http/authentication.ts";
import { exportProof } from "#server/operator/export-proof.ts";
import { orArchived } from "#server/views/archived-run.ts";
import { servicesOf } from "./services.ts";

export const proofHandlers = HttpApiBuilder.group(
  Api,
  "proof",
  Effect.fn(function* (handlers) {
    const services = yield* servicesOf;
    return handlers.handle("export", ({ params, payload }) =>
      Effect.gen(function* () {
        const operator = yield* CurrentOperator;
        const lines = yield* exportProof(operator, params.runId, payload).pipe(
          orArchived(operator.tenantId, params.runId),
        );
        // A store that goes away cuts the answer: a pack without its last line is refused by its verifier.
        const bytes = lines.pipe(Stream.provideContext(services), Stream.encodeText);
        return HttpServerResponse.stream(bytes, {
          contentType: "application/x-ndjson",
          headers: {
            "cache-control": "no-store",
            "content-disposition": `attachment; filename="proof-${params.runId}.ndjson"`,
          },
        });
      }).pipe(Effect.provideContext(services)),
    );
  }),
);
