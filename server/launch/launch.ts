/** From an environment to a serving host, in the one order in which a refusal leaves nothing half done. */
import path from "node:path";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as Redacted from "effect/Redacted";
import * as References from "effect/References";
import { ServerConfig } from "#server/Config.ts";
import { checkDatabase } from "#server/launch/check-database.ts";
import { applyMigrations, newestMigration } from "#server/launch/migrations.ts";
import { npmGone } from "#server/launch/parent.ts";
import { runPaymentProvider } from "#server/launch/payment-provider.ts";
import { ensurePortIsFree } from "#server/launch/port.ts";
import { say, sayNow } from "#server/launch/progress.ts";
import { Listening, Surroundings } from "#server/launch/Surroundings.ts";
import { start } from "#server/postgres/embedded/EmbeddedPostgres.ts";

const database = Effect.fn("launch.database")(function* (config: ServerConfig["Service"]) {
  if (Option.isSome(config.databaseUrl)) {
    return { url: config.databaseUrl.value, origin: "external" as const };
  }
  const folder = path.resolve(config.dataFolder, "postgres");
  const running = yield* start({ folder, name: "effect_agent", onProgress: sayNow });
  return { url: Redacted.make(running.url), origin: running.origin };
});

const layerSurroundings = Layer.effect(
  Surroundings,
  Effect.gen(function* () {
    const config = yield* ServerConfig;
    yield* ensurePortIsFree(config.host, config.port);
    const { url, origin } = yield* database(config);
    yield* checkDatabase(url, yield* newestMigration);
    yield* applyMigrations(url);
    const paymentProviderUrl = Option.isSome(config.paymentProviderUrl)
      ? config.paymentProviderUrl.value
      : yield* runPaymentProvider(url);
    return { databaseUrl: url, databaseOrigin: origin, paymentProviderUrl };
  }),
);

const announce = Effect.gen(function* () {
  const { origin, signInLink, notes } = yield* Listening;
  for (const note of notes) yield* say(note);
  const built = performance.getEntriesByName("effect-agent/built")[0]?.startTime ?? 0;
  const seconds = ((performance.now() - built) / 1000).toFixed(1);
  yield* say(`ready in ${seconds} s at ${origin}`);
  if (Option.isSome(signInLink)) {
    yield* say("");
    yield* say(`Sign in once with this link: ${signInLink.value}`);
  }
  yield* say("");
});

/** Builds `app` on what the launcher made ready, announces it, and serves until it is interrupted. */
export const launch = <E>(app: Layer.Layer<Listening, E, ServerConfig | Surroundings>) => {
  const serving = Layer.effectDiscard(announce).pipe(
    Layer.provide(app),
    Layer.provide(layerSurroundings),
    Layer.provideMerge(ServerConfig.layer),
  );
  const logLevel = Layer.effect(
    References.MinimumLogLevel,
    Effect.map(ServerConfig, (config) => config.logLevel),
  ).pipe(Layer.provide(ServerConfig.layer));
  return Effect.raceFirst(Layer.launch(serving), npmGone).pipe(Effect.provide(logLevel));
};
