/** Runs the demo's payment provider beside the server: its own process, restarted on its port when it dies. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";
import * as Schedule from "effect/Schedule";
import { LaunchRefused } from "#server/launch/LaunchRefused.ts";
import { freePort } from "#server/launch/port.ts";
import { packageRoot } from "#server/package-root.ts";

/** From the bundle when this runs from the bundle, else the source through tsx. */
const programOf = (): ReadonlyArray<string> => {
  const bundle = path.join(packageRoot, "dist/server/payment-provider.js");
  const source = path.join(packageRoot, "server/launch/payment-provider-process.ts");
  return import.meta.url.endsWith(".js") && existsSync(bundle)
    ? [bundle]
    : ["--import", "tsx", source];
};

const start = (databaseUrl: Redacted.Redacted, port: number): ChildProcess =>
  spawn(process.execPath, [...programOf(), String(process.pid)], {
    cwd: packageRoot,
    // Its own process group: Ctrl-C reaches the server, which lets refunds in flight end before it stops this one.
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: process.env["PATH"] ?? "",
      NODE_ENV: "production",
      PAYMENT_PROVIDER_PORT: String(port),
      PAYMENT_PROVIDER_DATABASE_URL: Redacted.value(databaseUrl),
    },
  });

const exited = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined)
      return resume(Effect.void);
    child.once("exit", () => resume(Effect.void));
    child.once("error", () => resume(Effect.void));
  });

const stop = (child: ChildProcess) =>
  Effect.sync(() => child.kill("SIGTERM")).pipe(
    Effect.andThen(exited(child)),
    Effect.timeoutOrElse({
      duration: "1500 millis",
      orElse: () => Effect.sync(() => void child.kill("SIGKILL")),
    }),
  );

const firstLine = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    child.stdout?.once("data", () => {
      // Whatever else it prints is read and dropped, so that a full pipe never blocks it.
      child.stdout?.resume();
      resume(Effect.void);
    });
  });

/** Gives the provider's address once it answers; it lives as long as the scope. */
export const runPaymentProvider = Effect.fn("launch.runPaymentProvider")(function* (
  databaseUrl: Redacted.Redacted,
) {
  const port = yield* freePort;
  const ready = yield* Deferred.make<void, LaunchRefused>();
  const refused = new LaunchRefused({
    reason: "provider-did-not-start",
    message: `The demo's payment provider did not start on 127.0.0.1:${port}: see what it printed above, or set PAYMENT_PROVIDER_URL to one that runs.`,
  });
  const once = Effect.acquireRelease(
    Effect.sync(() => start(databaseUrl, port)),
    stop,
  ).pipe(
    Effect.flatMap((child) =>
      Effect.raceFirst(
        firstLine(child).pipe(
          Effect.andThen(Deferred.succeed(ready, undefined)),
          Effect.andThen(exited(child)),
        ),
        exited(child),
      ),
    ),
    Effect.andThen(Deferred.fail(ready, refused)),
    Effect.andThen(Effect.logWarning("The payment provider ended and is started again")),
    Effect.scoped,
  );
  yield* once.pipe(Effect.repeat(Schedule.spaced("500 millis")), Effect.forkScoped);
  yield* Deferred.await(ready).pipe(
    Effect.timeoutOrElse({ duration: "15 seconds", orElse: () => Effect.fail(refused) }),
  );
  return `http://127.0.0.1:${port}`;
});
