/**
 * The payment provider's process. Started by the shop's process with its own pid
 * as the argument; it ends by itself within two seconds of that process ending,
 * however it ended, and prints the port it listens on as its first line.
 */
import { createServer } from "node:http";

import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
import * as NodeRuntime from "@effect/platform-node/NodeRuntime";
import * as PgClient from "@effect/sql-pg/PgClient";
import { Config, Console, Effect, Layer, Schedule } from "effect";
import { HttpServer } from "effect/unstable/http";

import { providerApp } from "./routes.ts";

const watchMillis = 500;

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Completes when the process `pid` is gone. */
const parentGone = (pid: number) =>
  Effect.sync(() => isAlive(pid)).pipe(
    Effect.repeat({ schedule: Schedule.spaced(watchMillis), while: (alive) => alive }),
  );

const announce = Effect.gen(function* () {
  const server = yield* HttpServer.HttpServer;
  const port = "port" in server.address ? server.address.port : 0;
  yield* Console.log(JSON.stringify({ listening: port }));
});

const main = Effect.gen(function* () {
  const port = yield* Config.Port("PAYMENT_PROVIDER_PORT").pipe(Config.withDefault(0));
  const url = yield* Config.Redacted("PAYMENT_PROVIDER_DATABASE_URL");
  const parentPid = Number(process.argv[2]);

  const server = NodeHttpServer.layer(() => createServer(), {
    port,
    host: "127.0.0.1",
    gracefulShutdownTimeout: "1 second",
  });
  const provider = providerApp.pipe(
    Layer.merge(Layer.effectDiscard(announce)),
    Layer.provide(server),
    Layer.provide(PgClient.layer({ url, maxConnections: 8, applicationName: "payment-provider" })),
  );
  const run = Layer.launch(provider);
  yield* Number.isInteger(parentPid) && parentPid > 0
    ? Effect.raceFirst(run, parentGone(parentPid))
    : run;
});

NodeRuntime.runMain(main);
