/** Provides `CurrentOperator` to every route behind it, or answers 401 (Z-12, C043). */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Redacted from "effect/Redacted";
import * as Schema from "effect/Schema";
import { HttpServerRequest, HttpServerResponse } from "effect/unstable/http";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { StoreUnavailable, Unauthenticated } from "#lib/contract/errors.ts";
import { Authentication, CurrentOperator } from "#lib/contract/http/authentication.ts";
import { operatorOfBearer, operatorOfSignIn } from "#server/operator/find-operator.ts";
import { secretDigest } from "#server/operator/secrets.ts";
import { orStoreUnavailable } from "#server/views/snapshot.ts";
import { OwnHosts } from "./OwnHosts.ts";
import { refuseForeignOrigin } from "./same-origin.ts";

/** Longer than any secret we hand out; what is longer is not looked up. */
const maxSecretLength = 512;

const unauthenticated = () =>
  new Unauthenticated({
    message: "Sign in first: there are no credentials, or they are not valid any more.",
  });

const encodeUnavailable = Schema.encodeSync(StoreUnavailable);

const unavailable = (error: StoreUnavailable) =>
  HttpServerResponse.jsonUnsafe(encodeUnavailable(error), { status: 503 });

/** The operator of the credential, if it is still good. */
export const findOperator = Effect.fn("authentication.findOperator")(function* (
  proof: "cookie" | "bearer",
  secret: string,
) {
  if (secret === "" || secret.length > maxSecretLength) return yield* unauthenticated();
  const find = proof === "bearer" ? operatorOfBearer : operatorOfSignIn;
  const operator = yield* orStoreUnavailable(find(secret));
  if (operator === undefined) return yield* unauthenticated();
  return CurrentOperator.of({ ...operator, proof, credentialDigest: secretDigest(secret) });
});

export const authenticationLayer = Layer.effect(
  Authentication,
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const ownHosts = yield* OwnHosts;
    const find = (proof: "cookie" | "bearer", credential: Redacted.Redacted<string>) =>
      Effect.provideService(findOperator(proof, Redacted.value(credential)), SqlClient, sql);
    return Authentication.of({
      bearer: (httpEffect, { credential }) =>
        find("bearer", credential).pipe(
          Effect.map((operator) => Effect.provideService(httpEffect, CurrentOperator, operator)),
          // Answered here: a failure would go on to the cookie, which is not there, and read as 401.
          Effect.catchTag("StoreUnavailable", (error) =>
            Effect.succeed(Effect.succeed(unavailable(error))),
          ),
          Effect.flatten,
        ),
      cookie: (httpEffect, { credential }) =>
        Effect.gen(function* () {
          const operator = yield* find("cookie", credential);
          const request = yield* HttpServerRequest.HttpServerRequest;
          const refusal = refuseForeignOrigin(request, ownHosts);
          if (refusal !== undefined) return yield* refusal;
          return yield* Effect.provideService(httpEffect, CurrentOperator, operator);
        }),
    });
  }),
);
