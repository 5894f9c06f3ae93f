import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Schema from "effect/Schema";
import { HttpServerRequest, HttpServerResponse } from "effect/unstable/http";
import { HttpApiBuilder, OpenApi } from "effect/unstable/httpapi";
import { Api } from "#lib/contract/http/api.ts";
import { CurrentOperator } from "#lib/contract/http/authentication.ts";
import { Me } from "#lib/contract/shell-views.ts";
import { createSignInLink } from "#server/operator/create-sign-in-link.ts";
import { setPassword } from "#server/operator/set-password.ts";
import { signIn } from "#server/operator/sign-in.ts";
import { signOut } from "#server/operator/sign-out.ts";
import { readMe } from "#server/views/read-me.ts";
import { withoutSignInCookie, withSignInCookie } from "./cookie.ts";
import { OwnHosts } from "./OwnHosts.ts";
import { refuseForeignPage } from "./same-origin.ts";
import { servicesOf } from "./services.ts";

const encodeMe = Schema.encodeEffect(Schema.toCodecJson(Me));

const addressOf = (request: HttpServerRequest.HttpServerRequest): string =>
  Option.getOrElse(request.remoteAddress, () => "unknown");

export const signInHandlers = HttpApiBuilder.group(
  Api,
  "signIn",
  Effect.fn(function* (handlers) {
    const services = yield* servicesOf;
    const ownHosts = yield* OwnHosts;
    return handlers.handle("signIn", ({ payload, request }) =>
      Effect.gen(function* () {
        const refusal = refuseForeignPage(request, ownHosts);
        if (refusal !== undefined) return yield* refusal;
        const { operator, secret } = yield* signIn(payload, addressOf(request));
        const me = yield* Effect.orDie(encodeMe(yield* readMe(operator)));
        return yield* withSignInCookie(HttpServerResponse.jsonUnsafe(me), secret);
      }).pipe(Effect.provideContext(services)),
    );
  }),
);

// Made once: the definition never changes while the process lives.
const openApi = OpenApi.fromApi(Api);

export const meHandlers = HttpApiBuilder.group(
  Api,
  "me",
  Effect.fn(function* (handlers) {
    const services = yield* servicesOf;
    return handlers.handleAll({
      signOut: () =>
        Effect.gen(function* () {
          yield* signOut(yield* CurrentOperator);
          return yield* withoutSignInCookie(HttpServerResponse.empty({ status: 204 }));
        }).pipe(Effect.provideContext(services)),
      me: () => Effect.flatMap(CurrentOperator, readMe).pipe(Effect.provideContext(services)),
      setPassword: ({ payload }) =>
        Effect.gen(function* () {
          const operator = yield* CurrentOperator;
          yield* setPassword(operator, payload);
          return yield* readMe(operator);
        }).pipe(Effect.provideContext(services)),
      createSignInLink: ({ payload }) =>
        Effect.flatMap(CurrentOperator, (operator) => createSignInLink(operator, payload)).pipe(
          Effect.provideContext(services),
        ),
      openApi: () => Effect.succeed(HttpServerResponse.jsonUnsafe(openApi)),
    });
  }),
);
