import * as Effect from "effect/Effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { HttpApiBuilder } from "effect/unstable/httpapi";
import { StoreUnavailable } from "#lib/contract/errors.ts";
import { Api } from "#lib/contract/http/api.ts";
import { ping } from "#server/postgres/Database.ts";

/** Readiness gives up on the database after this long. */
const pingTimeout = "2 seconds";

/** Alive is this process's own word; ready asks the database. */
export const healthHandlers = HttpApiBuilder.group(
  Api,
  "health",
  Effect.fn(function* (handlers) {
    const sql = yield* SqlClient;
    const ready = ping.pipe(
      Effect.timeout(pingTimeout),
      Effect.provideService(SqlClient, sql),
      Effect.mapError(() => new StoreUnavailable({ message: "The database does not answer." })),
    );
    return handlers.handleAll({
      health: () => Effect.succeed({ status: "alive" as const }),
      ready: () => Effect.as(ready, { status: "ready" as const }),
    });
  }),
);
