import * as Effect from "effect/Effect";
import { HttpApiBuilder } from "effect/unstable/httpapi";
import { Api } from "#lib/contract/http/api.ts";
import { CurrentOperator } from "#lib/contract/http/authentication.ts";
import { submitInput } from "#server/operator/submit-input.ts";
import { servicesOf } from "./services.ts";

export const submissionsHandlers = HttpApiBuilder.group(
  Api,
  "submissions",
  Effect.fn(function* (handlers) {
    const services = yield* servicesOf;
    return handlers.handle("submit", ({ headers, payload }) =>
      Effect.flatMap(CurrentOperator, (operator) =>
        submitInput(operator, payload, headers["idempotency-key"]),
      ).pipe(Effect.provideContext(services)),
    );
  }),
);
