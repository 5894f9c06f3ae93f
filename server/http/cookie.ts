import * as Effect from "effect/Effect";
import { HttpServerRequest, HttpServerResponse } from "effect/unstable/http";
import { signInCookieName } from "#lib/contract/http/authentication.ts";
import { signInDays } from "#server/operator/start-sign-in.ts";

/** True when the browser's own connection was encrypted, here or at the proxy in front. */
const cameByHttps = (request: HttpServerRequest.HttpServerRequest): boolean => {
  const forwarded = request.headers["x-forwarded-proto"]?.split(",", 1)[0]?.trim();
  if (forwarded !== undefined) return forwarded === "https";
  return request.headers["origin"]?.startsWith("https:") === true;
};

const options = (request: HttpServerRequest.HttpServerRequest) =>
  ({
    httpOnly: true,
    sameSite: "strict",
    path: "/",
    secure: cameByHttps(request),
  }) as const;

/** The answer with the cookie that signs the browser in. */
export const withSignInCookie = (response: HttpServerResponse.HttpServerResponse, secret: string) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest;
    return HttpServerResponse.setCookieUnsafe(response, signInCookieName, secret, {
      ...options(request),
      maxAge: `${signInDays} days`,
    });
  });

/** The answer that makes the browser forget the cookie. */
export const withoutSignInCookie = (response: HttpServerResponse.HttpServerResponse) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest;
    return HttpServerResponse.setCookieUnsafe(response, signInCookieName, "", {
      ...options(request),
      maxAge: "0 seconds",
    });
  });
