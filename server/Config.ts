import * as Config from "effect/Config";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import type * as Option from "effect/Option";
import * as Schema from "effect/Schema";
import { AgeText } from "#server/retention/age.ts";

/** A variable of the environment has a value that cannot be used. `message` is one sentence for a person. */
export class SettingRefused extends Schema.TaggedError<SettingRefused>()("SettingRefused", {
  name: Schema.String,
  message: Schema.String,
}) {}

export interface Setting<A> {
  readonly name: string;
  /** One sentence; `.env.example` carries the same one, and a test compares them. */
  readonly doc: string;
  /** What a good value is, for the sentence that refuses a bad one. */
  readonly expects: string;
  /** As text, for `.env.example`; empty when there is none. */
  readonly fallback: string;
  /** Secrets are never repeated in an error. */
  readonly isSecret: boolean;
  readonly config: Config.Config<A>;
}

/** An empty value in the environment or a .env file means the same as none: Effect's provider sees to it. */
type About = Pick<Setting<never>, "doc" | "expects"> & { readonly fallback?: string };

const optional = <A>(
  name: string,
  config: Config.Config<A>,
  about: About,
): Setting<Option.Option<A>> => ({
  name,
  fallback: "",
  isSecret: false,
  ...about,
  config: Config.option(config),
});

const defaulted = <A>(
  name: string,
  config: Config.Config<A>,
  value: A,
  about: About,
): Setting<A> => ({
  name,
  fallback: String(value),
  isSecret: false,
  ...about,
  config: Config.withDefault(config, value),
});

const secret = (
  name: string,
  about: About,
  text: Schema.Codec<string, string> = Schema.String,
) => ({
  ...optional(name, Config.schema(Schema.Redacted(text), name), about),
  isSecret: true,
});

const PortNumber = Schema.NumberFromString.check(
  Schema.isInt(),
  Schema.isBetween({ minimum: 0, maximum: 65_535 }),
);
const WebAddress = Schema.String.check(Schema.isPattern(/^https?:\/\/\S+$/));
/** Refused when it could be guessed, and when no request could carry it (`maxSecretLength`). */
const AdminToken = Schema.String.check(Schema.isLengthBetween(32, 512));
const PostgresAddress = Schema.String.check(Schema.isPattern(/^postgres(ql)?:\/\/\S+$/));
const atLeastOne = (maximum: number) =>
  Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum }));
const HostAndPort = Schema.String.check(Schema.isPattern(/^\S+:\d{1,5}$/));
const logLevels = ["Trace", "Debug", "Info", "Warn", "Error", "Fatal", "None"] as const;

/** Every environment variable the server reads, each decoded here and nowhere else. */
export const settings = {
  port: defaulted("PORT", Config.schema(PortNumber, "PORT"), 3000, {
    doc: "The one port that serves the console and the API; 0 takes any free one.",
    expects: "a whole number from 0 to 65535",
  }),
  host: defaulted("HOST", Config.String("HOST"), "127.0.0.1", {
    doc: "The address to listen on; 0.0.0.0 makes the console reachable from other machines, behind TLS please.",
    expects: "a host name or an address",
  }),
  dataFolder: defaulted("DATA_DIR", Config.String("DATA_DIR"), ".data", {
    doc: "The folder that holds the bundled database, relative to where the server starts.",
    expects: "a folder this user may write",
  }),
  databaseUrl: secret(
    "DATABASE_URL",
    {
      doc: "A PostgreSQL 15 or newer to use in place of the bundled one: postgres://user:password@host:5432/database.",
      expects: "an address that begins with postgres:// or postgresql://",
    },
    PostgresAddress,
  ),
  databaseConnections: defaulted(
    "DATABASE_CONNECTIONS",
    Config.schema(atLeastOne(500), "DATABASE_CONNECTIONS"),
    12,
    {
      doc: "Connections for the work itself: journal, claims, heartbeats, events, operators' commands and the demo's tools.",
      expects: "a whole number from 1 to 500",
    },
  ),
  consoleConnections: defaulted(
    "CONSOLE_CONNECTIONS",
    Config.schema(atLeastOne(500), "CONSOLE_CONNECTIONS"),
    4,
    {
      doc: "Connections for what the console reads, apart from those of the work, so that slow searches hold up only each other.",
      expects: "a whole number from 1 to 500",
    },
  ),
  consoleStatementSeconds: defaulted(
    "CONSOLE_STATEMENT_SECONDS",
    Config.schema(atLeastOne(600), "CONSOLE_STATEMENT_SECONDS"),
    10,
    {
      doc: "The longest that one read of the console may take in the database, in seconds; what takes longer is cancelled.",
      expects: "a whole number from 1 to 600",
    },
  ),
  adminToken: secret(
    "ADMIN_TOKEN",
    {
      doc: "Seeds an administrator's bearer token; without it the first start prints a one-time sign-in link.",
      expects:
        "a token of 32 to 512 characters: it is an administrator's, and nothing else stands before it",
    },
    AdminToken,
  ),
  openAiKey: secret("OPENAI_API_KEY", {
    doc: "With a key the agent uses OpenAI's Responses API; without any model key the rehearsal model answers.",
    expects: "a key",
  }),
  openAiBaseUrl: optional("OPENAI_BASE_URL", Config.schema(WebAddress, "OPENAI_BASE_URL"), {
    doc: "A chat-completions endpoint to use in place of OpenAI (Ollama, vLLM, LM Studio, a gateway).",
    expects: "an address that begins with http:// or https://",
  }),
  openAiModel: optional("OPENAI_MODEL", Config.String("OPENAI_MODEL"), {
    doc: "The model's name at OpenAI or at OPENAI_BASE_URL.",
    expects: "a model name",
  }),
  anthropicKey: secret("ANTHROPIC_API_KEY", {
    doc: "With a key, and no OpenAI setting, the agent uses Anthropic's Messages API.",
    expects: "a key",
  }),
  anthropicModel: optional("ANTHROPIC_MODEL", Config.String("ANTHROPIC_MODEL"), {
    doc: "The model's name at Anthropic.",
    expects: "a model name",
  }),
  clusterAddress: optional("CLUSTER_ADDRESS", Config.schema(HostAndPort, "CLUSTER_ADDRESS"), {
    doc: "Where other hosts reach this one, as host:port; set it on every host to run several on one database.",
    expects: "host:port",
  }),
  paymentProviderUrl: optional(
    "PAYMENT_PROVIDER_URL",
    Config.schema(WebAddress, "PAYMENT_PROVIDER_URL"),
    {
      doc: "A payment provider that already runs; without it the demo starts its own beside the server.",
      expects: "an address that begins with http:// or https://",
    },
  ),
  dataset: optional("DATASET", Config.String("DATASET"), {
    doc: "A folder with a shop to load at the first start in place of the bundled one (users.json, orders.json, products.json); also --dataset FOLDER.",
    expects: "a folder",
  }),
  publicUrl: optional("PUBLIC_URL", Config.schema(WebAddress, "PUBLIC_URL"), {
    doc: "How browsers reach the console when a proxy stands in front; links are made with it.",
    expects: "an address that begins with http:// or https://",
  }),
  retentionOlderThan: optional(
    "RETENTION_OLDER_THAN",
    Config.schema(AgeText, "RETENTION_OLDER_THAN"),
    {
      doc: "Runs settled longer ago than this leave the database, an hour apart: 90d, 36h or 30m; needs RETENTION_TO.",
      expects: "a whole number from 1 to 99999 and d, h or m, such as 90d",
    },
  ),
  retentionTo: optional("RETENTION_TO", Config.String("RETENTION_TO"), {
    doc: "Where they go: a folder for archives, of this database alone and reached by every host, or the word delete.",
    expects: "a folder or the word delete",
  }),
  logLevel: defaulted("LOG_LEVEL", Config.Literals(logLevels, "LOG_LEVEL"), "Info", {
    doc: "The least severe entries the log shows.",
    expects: `one of ${logLevels.join(", ")}`,
  }),
} satisfies Readonly<Record<string, Setting<unknown>>>;

type Decoded<S> = { readonly [K in keyof S]: S[K] extends Setting<infer A> ? A : never };

export type ServerSettings = Decoded<typeof settings>;

const decode = <A>(setting: Setting<A>) =>
  setting.config.pipe(
    Effect.catch(() =>
      Effect.flatMap(Config.String(setting.name).pipe(Effect.orElseSucceed(() => "")), (text) => {
        const seen = setting.isSecret ? "" : `, but is ${JSON.stringify(text.slice(0, 80))}`;
        return Effect.fail(
          new SettingRefused({
            name: setting.name,
            message: `${setting.name} must be ${setting.expects}${seen}: change it and start again.`,
          }),
        );
      }),
    ),
  );

/** What the environment of a running server says, decoded once at its start. */
export class ServerConfig extends Context.Service<ServerConfig, ServerSettings>()(
  "effect-agent/server/Config/ServerConfig",
) {
  static readonly layer = Layer.effect(
    ServerConfig,
    Effect.all({
      port: decode(settings.port),
      host: decode(settings.host),
      dataFolder: decode(settings.dataFolder),
      databaseUrl: decode(settings.databaseUrl),
      databaseConnections: decode(settings.databaseConnections),
      consoleConnections: decode(settings.consoleConnections),
      consoleStatementSeconds: decode(settings.consoleStatementSeconds),
      adminToken: decode(settings.adminToken),
      openAiKey: decode(settings.openAiKey),
      openAiBaseUrl: decode(settings.openAiBaseUrl),
      openAiModel: decode(settings.openAiModel),
      anthropicKey: decode(settings.anthropicKey),
      anthropicModel: decode(settings.anthropicModel),
      clusterAddress: decode(settings.clusterAddress),
      paymentProviderUrl: decode(settings.paymentProviderUrl),
      dataset: decode(settings.dataset),
      publicUrl: decode(settings.publicUrl),
      retentionOlderThan: decode(settings.retentionOlderThan),
      retentionTo: decode(settings.retentionTo),
      logLevel: decode(settings.logLevel),
    }),
  );
}
