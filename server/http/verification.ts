import * as Effect from "effect/Effect";
import * as Semaphore from "effect/Semaphore";
import { HttpApiBuilder } from "effect/unstable/httpapi";
import { Api } from "#lib/contract/http/api.ts";
import { CurrentOperator } from "#lib/contract/http/authentication.ts";
import { verifyRunJournal, verifyThreadJournal } from "#server/operator/verify-journal.ts";
import { servicesOf } from "./services.ts";

/** Each holds a connection of the pool, which runs and pages need more. */
const atOnce = 2;

export const verificationHandlers = HttpApiBuilder.group(
  Api,
  "verification",
  Effect.fn(function* (handlers) {
    const services = yield* servicesOf;
    const turns = yield* Semaphore.make(atOnce);
    return handlers.handleAll({
      run: ({ params }) =>
        Effect.gen(function* () {
          return yield* turns.withPermit(verifyRunJournal(yield* CurrentOperator, params.runId));
        }).pipe(Effect.provideContext(services)),
      thread: ({ params }) =>
        Effect.gen(function* () {
          return yield* turns.withPermit(
            verifyThreadJournal(yield* CurrentOperator, params.threadId),
          );
        }).pipe(Effect.provideContext(services)),
    });
  }),
);
