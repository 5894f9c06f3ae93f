/** A launcher that a test can kill -9: starts the bundled PostgreSQL in argv[2], prints how, and stays. */
import { Console, Effect } from "effect";
import { start } from "#server/postgres/embedded/EmbeddedPostgres.ts";

const folder = process.argv[2] ?? "";
const fiber = Effect.runFork(
  Effect.scoped(
    start({ folder, name: "effect_agent" }).pipe(
      Effect.tap((server) =>
        Console.log(
          `READY ${JSON.stringify({ origin: server.origin, pid: server.pid, url: server.url })}`,
        ),
      ),
      Effect.andThen(Effect.never),
    ),
  ).pipe(
    Effect.catch((refused) =>
      Console.log(`REFUSED ${refused.reason}: ${refused.message}`).pipe(
        Effect.andThen(Effect.sync(() => process.exit(1))),
      ),
    ),
  ),
);
// A fiber that waits keeps no process alive by itself.
setInterval(() => undefined, 60_000);
process.on("SIGTERM", () => {
  fiber.addObserver(() => process.exit(0));
  fiber.interruptUnsafe();
});
