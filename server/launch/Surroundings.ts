import * as Context from "effect/Context";
import type * as Option from "effect/Option";
import type * as Redacted from "effect/Redacted";

/** What the launcher made ready before the application's layers are built: a migrated database and a payment provider. */
export class Surroundings extends Context.Service<
  Surroundings,
  {
    readonly databaseUrl: Redacted.Redacted;
    /** `external` is DATABASE_URL; the others say how the bundled server came to run. */
    readonly databaseOrigin: "external" | "initialized" | "started" | "reused";
    readonly paymentProviderUrl: string;
  }
>()("effect-agent/server/launch/Surroundings") {}

/** What the application tells the launcher once it listens. */
export class Listening extends Context.Service<
  Listening,
  {
    /** Scheme, host and port as a browser on this machine reaches it. */
    readonly origin: string;
    /** Signs the first administrator in once; none when one exists or ADMIN_TOKEN is set. */
    readonly signInLink: Option.Option<string>;
    /** One line each: which model answers, what a newcomer should know. */
    readonly notes: ReadonlyArray<string>;
  }
>()("effect-agent/server/launch/Listening") {}
