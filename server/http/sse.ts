/** `GET /events`: the event stream over one long answer, guarded like every other route. */
import { NodeHttpServerRequest } from "@effect/platform-node";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";
import * as Stream from "effect/Stream";
import { HttpServerResponse, type HttpServerRequest } from "effect/unstable/http";
import { HttpApiBuilder } from "effect/unstable/httpapi";
import { Api } from "#lib/contract/http/api.ts";
import { signInCookieName } from "#lib/contract/http/authentication.ts";
import { StoreError } from "#lib/durable/StoreError.ts";
import { orArchived } from "#server/views/archived-run.ts";
import { requireRun } from "#server/views/require-run.ts";
import { inSnapshot } from "#server/views/snapshot.ts";
import { findOperator } from "./authentication.ts";
import { eventFrames } from "./event-stream.ts";
import { OpenStreams, StreamsPerOperator } from "./open-streams.ts";
import { ServerClosing } from "./ServerClosing.ts";
import { servicesOf } from "./services.ts";
import { operatorFor } from "./view-as.ts";

/**
 * Milliseconds for which a client may take nothing before it is cut; it comes
 * back with its last id. Longer than the 15 s between heartbeats, so that a quiet
 * stream is never taken for a stuck one; under 30 s, so that all it held is free
 * by then. A peer that vanished without a word is told from a live one only by
 * the operating system, when it gives up sending (docs/production.md).
 */
export const StuckMillis = Context.Reference<number>("effect-agent/http/StuckMillis", {
  defaultValue: () => 28_000,
});

const cutWhenStuck = (request: HttpServerRequest.HttpServerRequest, stuckMillis: number) =>
  Effect.sync(() => {
    const { socket } = NodeHttpServerRequest.toIncomingMessage(request);
    socket.setTimeout(stuckMillis, () => socket.destroy());
  });

/** The secret this stream was opened with, in the form it was proved. */
const secretOf = (
  request: HttpServerRequest.HttpServerRequest,
  proof: "cookie" | "bearer",
): string =>
  proof === "cookie"
    ? (request.cookies[signInCookieName] ?? "")
    : (request.headers["authorization"]?.replace(/^bearer\s+/i, "") ?? "");

export const eventsHandlers = HttpApiBuilder.group(
  Api,
  "events",
  Effect.fn(function* (handlers) {
    const services = yield* servicesOf;
    const stuckMillis = yield* StuckMillis;
    const open = new OpenStreams(yield* StreamsPerOperator);
    return handlers.handle("follow", ({ headers, query, request }) =>
      Effect.gen(function* () {
        const operator = yield* operatorFor("view", "events");
        const { tenantId } = operator;
        if (query.runId !== undefined)
          yield* inSnapshot(tenantId, requireRun(tenantId, query.runId)).pipe(
            orArchived(tenantId, query.runId),
          );
        const holder = JSON.stringify([tenantId, operator.operatorId]);
        yield* open.admit(holder);
        const closing = yield* ServerClosing;
        const secret = Redacted.make(secretOf(request, operator.proof));
        const mayFollow = findOperator(operator.proof, Redacted.value(secret)).pipe(
          Effect.as(true),
          Effect.catchTags({
            Unauthenticated: () => Effect.succeed(false),
            // The store's silence is no verdict about the operator.
            StoreUnavailable: () => Effect.succeed(true),
          }),
          Effect.provideContext(services),
        );
        const followed = eventFrames({
          tenantId,
          runId: query.runId,
          after: headers["last-event-id"] ?? query.after,
          mayFollow,
        });
        const frames = Stream.unwrap(Effect.as(open.hold(holder), followed)).pipe(
          // A store that is away ends the stream; the client resumes where it was.
          Stream.catchIf(
            (error) => error instanceof StoreError,
            (error) => Stream.fromEffectDrain(Effect.logWarning("An event stream ended", error)),
          ),
          Stream.interruptWhen(closing),
          Stream.provideContext(services),
          // What was read together is written together: one packet, not two hundred.
          Stream.mapArray((texts) => [texts.join("")]),
          Stream.encodeText,
        );
        yield* cutWhenStuck(request, stuckMillis);
        return HttpServerResponse.stream(frames, {
          contentType: "text/event-stream",
          headers: { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" },
        });
      }).pipe(Effect.provideContext(services)),
    );
  }),
);
