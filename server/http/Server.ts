/**
 * One `node:http` server for everything: requests under `/api/` go to the Effect
 * handler, all others to the console's pages. Both get the security headers.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { NodeHttpServer } from "@effect/platform-node";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import type * as Layer from "effect/Layer";
import * as Schema from "effect/Schema";
import * as Scope from "effect/Scope";
import { makeApiApp } from "./api-app.ts";
import { refuseBody } from "./body-limit.ts";
import type { NextHandler } from "./NextHandler.ts";
import { securityHeaders } from "./security-headers.ts";
import { ServerClosing } from "./ServerClosing.ts";

/** The address cannot be listened on: the port is taken or not allowed, or the host is not this machine's. */
export class ListenRefused extends Schema.TaggedError<ListenRefused>()("ListenRefused", {
  host: Schema.String,
  port: Schema.Int,
  code: Schema.String,
}) {
  override get message() {
    const address = `${this.host}:${this.port}`;
    if (this.code === "EADDRINUSE")
      return `${address} is taken by another program. Stop it, or choose another port with PORT.`;
    if (this.code === "EACCES")
      return `This user may not listen on ${address}. Choose a port above 1023 with PORT.`;
    return `The server cannot listen on ${address} (${this.code}).`;
  }
}

export interface ServerOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Loosens the content security policy for development's reloading. */
  readonly development: boolean;
  readonly pages: NextHandler;
  /** How long requests in flight may take to end once the server closes. */
  readonly graceMillis?: number;
}

export interface ListeningServer {
  readonly host: string;
  readonly port: number;
}

const isApi = (url: string | undefined): boolean =>
  url !== undefined && /^\/api(?:[/?]|$)/.test(url);

const listen = (server: ReturnType<typeof createServer>, options: ServerOptions) =>
  Effect.callback<ListeningServer, ListenRefused>((resume) => {
    const onError = (error: NodeJS.ErrnoException) =>
      resume(
        Effect.fail(
          new ListenRefused({ host: options.host, port: options.port, code: error.code ?? "?" }),
        ),
      );
    server.once("error", onError);
    server.listen({ host: options.host, port: options.port }, () => {
      server.off("error", onError);
      // A TCP server's address is never a path.
      const address = server.address() as AddressInfo;
      resume(Effect.succeed({ host: options.host, port: address.port }));
    });
  });

/** Stops accepting, lets what is in flight end, and cuts what does not. */
const close = (server: ReturnType<typeof createServer>, graceMillis: number) =>
  Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void));
    server.closeIdleConnections();
  }).pipe(
    Effect.timeoutOption(graceMillis),
    Effect.andThen(Effect.sync(() => server.closeAllConnections())),
  );

/**
 * Starts listening; the scope's end closes the server. `routes` is the HttpApi
 * layer with everything it needs but the router.
 */
export const startServer = <A, E, R>(options: ServerOptions, routes: Layer.Layer<A, E, R>) =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope;
    const closing = yield* Deferred.make<void>();
    const app = yield* makeApiApp(routes);
    const handlerScope = yield* Scope.fork(scope);
    const api = yield* NodeHttpServer.makeHandler(app, { scope: handlerScope }).pipe(
      Effect.provideService(ServerClosing, Deferred.await(closing)),
    );

    const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
      const headers = securityHeaders(options.development);
      for (const [name, value] of headers.all) response.setHeader(name, value);
      if (isApi(request.url)) {
        response.setHeader("cache-control", "no-store");
        if (!refuseBody(request, response)) api(request, response);
        return;
      }
      // Next takes the nonce from the request and puts it on the scripts it writes into the page.
      request.headers["content-security-policy"] = headers.contentSecurityPolicy;
      options.pages.handle(request, response);
    };
    const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
      if (options.pages.upgrade === undefined || isApi(request.url)) socket.destroy();
      else options.pages.upgrade(request, socket, head);
    };

    const server = createServer({ requestTimeout: 60_000, headersTimeout: 20_000 }, onRequest);
    server.on("upgrade", onUpgrade);
    const listening = yield* listen(server, options);
    yield* Effect.addFinalizer(() =>
      Effect.andThen(
        Deferred.succeed(closing, undefined),
        close(server, options.graceMillis ?? 3_000),
      ),
    );
    return listening;
  });
