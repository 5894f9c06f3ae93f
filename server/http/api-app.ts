/** The API as one HTTP effect: every failure that reaches the edge leaves it as a sentence, never as a stack. */
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import type * as Layer from "effect/Layer";
import { HttpRouter, HttpServerResponse } from "effect/unstable/http";
import { compressed } from "./compressed.ts";

const sentence = (status: number, tag: string, message: string, extra: object = {}) =>
  HttpServerResponse.jsonUnsafe({ _tag: tag, message, ...extra }, { status });

const noSuchRoute = sentence(404, "NotFound", "There is nothing at this address.", {
  what: "route",
});

const defect = sentence(
  500,
  "Defect",
  "The server failed while answering. What happened is in its log.",
);

const answerCause = (cause: Cause.Cause<unknown>) => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause);
  const failure = cause.reasons.find(Cause.isFailReason)?.error;
  if (isRouteNotFound(failure)) return Effect.succeed(noSuchRoute);
  return Effect.as(Effect.logError("A request failed unexpectedly", cause), defect);
};

const isRouteNotFound = (error: unknown): boolean =>
  typeof error === "object" &&
  error !== null &&
  "reason" in error &&
  typeof error.reason === "object" &&
  error.reason !== null &&
  "_tag" in error.reason &&
  error.reason._tag === "RouteNotFound";

/** Builds the routes once, in the scope of the server. */
export const makeApiApp = <A, E, R>(routes: Layer.Layer<A, E, R>) =>
  Effect.map(HttpRouter.toHttpEffect(routes), (app) =>
    app.pipe(Effect.flatMap(compressed), Effect.catchCause(answerCause)),
  );
