import { readFileSync } from "node:fs";
import { assert, it } from "@effect/vitest";
import { ConfigProvider, Effect, Layer, Option, Redacted } from "effect";
import { ServerConfig, settings } from "#server/Config.ts";

const read = (env: Record<string, string>) =>
  Effect.gen(function* () {
    return yield* ServerConfig;
  }).pipe(
    Effect.provide(ServerConfig.layer),
    Effect.provide(Layer.succeed(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))),
  );

it.effect("an empty environment gives loopback, port 3000 and the bundled database", () =>
  Effect.gen(function* () {
    const config = yield* read({ DATABASE_URL: "", ADMIN_TOKEN: "" });
    assert.strictEqual(config.host, "127.0.0.1");
    assert.strictEqual(config.port, 3000);
    assert.strictEqual(config.dataFolder, ".data");
    assert.isTrue(Option.isNone(config.databaseUrl));
    assert.isTrue(Option.isNone(config.adminToken));
  }),
);

it.effect("a secret is kept redacted and a good value is taken as it is", () =>
  Effect.gen(function* () {
    const config = yield* read({
      PORT: "0",
      ADMIN_TOKEN: `canary-${"x".repeat(32)}`,
      DATABASE_URL: "postgres://u:p@h/d",
    });
    assert.strictEqual(config.port, 0);
    assert.notInclude(String(config.adminToken), "canary");
    assert.strictEqual(
      Option.getOrThrow(config.databaseUrl).pipe(Redacted.value),
      "postgres://u:p@h/d",
    );
  }),
);

it.effect.each([
  ["PORT", "99999", /^PORT must be a whole number from 0 to 65535, but is "99999": /],
  ["PORT", "eighty", /^PORT must be .* but is "eighty"/],
  ["OPENAI_BASE_URL", "localhost", /^OPENAI_BASE_URL must be .*http/],
  ["LOG_LEVEL", "loud", /^LOG_LEVEL must be one of Trace/],
  ["RETENTION_OLDER_THAN", "soon", /^RETENTION_OLDER_THAN must be a whole number .* but is "soon"/],
  ["CLUSTER_ADDRESS", "here", /^CLUSTER_ADDRESS must be host:port/],
] as const)("%s=%s is refused in one sentence that names it", ([name, value, sentence]) =>
  Effect.gen(function* () {
    const refused = yield* Effect.flip(read({ [name]: value }));
    assert.strictEqual(refused.name, name);
    assert.match(refused.message, sentence);
  }),
);

it.effect("a refused secret is not repeated in its sentence", () =>
  Effect.gen(function* () {
    const short = yield* Effect.flip(read({ ADMIN_TOKEN: "canary" }));
    assert.notInclude(short.message, "canary");
    assert.match(short.message, /^ADMIN_TOKEN must be a token of 32 to 512 characters/);
    const refused = yield* Effect.flip(read({ DATABASE_URL: "mysql://canary@h/d" }));
    assert.notInclude(refused.message, "canary");
    assert.match(refused.message, /^DATABASE_URL must be an address that begins with postgres/);
  }),
);

it(".env.example names exactly the settings, with their sentences and defaults", () => {
  const lines = Object.values(settings).flatMap((setting) => [
    `# ${setting.doc}`,
    `# ${setting.name}=${setting.fallback}`,
  ]);
  const example = readFileSync(".env.example", "utf8")
    .split("\n")
    .filter((line) => line !== "");
  assert.deepStrictEqual(example, ["# Copy to .env; every value here is the default.", ...lines]);
});
