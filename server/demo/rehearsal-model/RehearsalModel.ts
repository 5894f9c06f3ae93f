/**
 * The rehearsal model's HTTP server: OpenAI's Responses protocol on a loopback
 * port, so that the provider package, its streaming and its decoding are used as
 * with a real endpoint. Behind it are rules, and every answer says so.
 */
import { createServer } from "node:http";

import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
import { Clock, Context, type Duration, Effect, Layer, Schema, Stream } from "effect";
import {
  HttpRouter,
  HttpServer,
  HttpServerRequest,
  HttpServerResponse,
  type HttpServerError,
} from "effect/unstable/http";

import { ResponsesRequest } from "./responses-wire.ts";
import { notice, takeTurn } from "./take-turn.ts";
import { eventText, modelName, responseEvents, responseObject } from "./write-response.ts";

export interface RehearsalModelOptions {
  /** Pause before each streamed event, so that a person can watch; none by default. */
  readonly eventPause?: Duration.Input;
  /** 0, the default, takes any free port. */
  readonly port?: number;
}

const badRequest = (message: string) =>
  HttpServerResponse.jsonUnsafe(
    { error: { message, type: "invalid_request_error", param: null, code: null } },
    { status: 400 },
  );

const respond = (eventPause: Duration.Input) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.schemaBodyJson(ResponsesRequest);
    const createdAt = Math.floor((yield* Clock.currentTimeMillis) / 1000);
    const turn = takeTurn(request);
    if (request.stream !== true)
      return HttpServerResponse.jsonUnsafe(responseObject(request, turn, createdAt));
    const events = Stream.fromIterable(responseEvents(request, turn, createdAt)).pipe(
      Stream.tap(() => Effect.sleep(eventPause)),
      Stream.map(eventText),
      Stream.encodeText,
    );
    return HttpServerResponse.stream(events, { contentType: "text/event-stream" });
  }).pipe(
    Effect.catchTags({
      SchemaError: (error: Schema.SchemaError) => Effect.succeed(badRequest(error.message)),
      HttpServerError: (_: HttpServerError.HttpServerError) =>
        Effect.succeed(badRequest("The body is not JSON.")),
    }),
  );

const makeRoutes = (eventPause: Duration.Input) => {
  const models = {
    object: "list",
    data: [{ id: modelName, object: "model", owned_by: "effect-agent", notice }],
  };
  const routes = [
    HttpRouter.route("GET", "/v1/models", HttpServerResponse.jsonUnsafe(models)),
    HttpRouter.route("POST", "/v1/responses", respond(eventPause)),
  ];
  return HttpRouter.addAll(routes);
};

const start = Effect.fn("RehearsalModel.start")(function* (options: RehearsalModelOptions) {
  const app = HttpRouter.serve(makeRoutes(options.eventPause ?? 0), {
    disableLogger: true,
    disableListenLog: true,
  });
  const listener = createServer();
  const server = NodeHttpServer.layer(() => listener, {
    port: options.port ?? 0,
    host: "127.0.0.1",
    disablePreemptiveShutdown: true,
  });
  const context = yield* Layer.build(app.pipe(Layer.provideMerge(server)));
  // Runs first when the scope closes: an answer half streamed must not hold up the host's end.
  yield* Effect.addFinalizer(() => Effect.sync(() => listener.closeAllConnections()));
  const { address } = Context.get(context, HttpServer.HttpServer);
  const port = "port" in address ? address.port : 0;
  return RehearsalModel.of({ apiUrl: `http://127.0.0.1:${port}/v1`, modelName });
});

export class RehearsalModel extends Context.Service<
  RehearsalModel,
  {
    /** Where it answers, for a provider client's `apiUrl`. */
    readonly apiUrl: string;
    readonly modelName: string;
  }
>()("effect-agent/server/demo/rehearsal-model/RehearsalModel") {
  static readonly layer = (options: RehearsalModelOptions = {}) =>
    Layer.effect(RehearsalModel, start(options));
}
