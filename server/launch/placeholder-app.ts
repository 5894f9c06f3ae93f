/** Listens and answers health only, until server/App.ts exists and main.ts launches that. */
import { createServer } from "node:http";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import { ServerConfig } from "#server/Config.ts";
import { portRefusal } from "#server/launch/port.ts";
import { Listening, Surroundings } from "#server/launch/Surroundings.ts";

export const placeholderApp = Layer.effect(
  Listening,
  Effect.gen(function* () {
    const { host, port } = yield* ServerConfig;
    const { databaseOrigin, paymentProviderUrl } = yield* Surroundings;
    const server = createServer((_, response) => response.end("ok"));
    const actual = yield* Effect.acquireRelease(
      Effect.callback<number, ReturnType<typeof portRefusal>>((resume) => {
        server.once("error", (error: NodeJS.ErrnoException) =>
          resume(Effect.fail(portRefusal(host, port, error.code ?? "unknown"))),
        );
        server.listen(port, host, () => {
          const address = server.address();
          resume(
            Effect.succeed(typeof address === "object" && address !== null ? address.port : port),
          );
        });
      }),
      () => Effect.sync(() => server.close()),
    );
    return {
      origin: `http://${host}:${actual}`,
      signInLink: Option.none<string>(),
      notes: [`database: ${databaseOrigin}`, `payment provider: ${paymentProviderUrl}`],
    };
  }),
);
