/**
 * Starts the provider's process beside this one. It is given this process's pid
 * and ends on its own when that is gone, so a kill -9 here leaves none behind;
 * it picks its own port, so the next start never meets a taken one.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { Duration, Effect, Option, Redacted, Schema, Stream } from "effect";
import { ChildProcess, ChildProcessSpawner } from "effect/unstable/process";

export class ProviderNotStarted extends Schema.TaggedError<ProviderNotStarted>()("ProviderNotStarted", {
  why: Schema.String,
}) {
  override get message(): string {
    return `The payment provider did not start: ${this.why}.`;
  }
}

const Announcement = Schema.fromJsonString(Schema.Struct({ listening: Schema.Int }));
const startTimeout = Duration.seconds(20);

/** From sources tsx runs the TypeScript file; in a bundle the entry lies beside the server's. */
const defaultArguments = (): ReadonlyArray<string> => {
  const source = fileURLToPath(new URL("./main.ts", import.meta.url));
  return existsSync(source) ? ["--import", "tsx", source] : [fileURLToPath(new URL("./payment-provider.js", import.meta.url))];
};

export interface LaunchOptions {
  /** The database that holds the provider's schema; handed over by environment, never by argument. */
  readonly databaseUrl: Redacted.Redacted;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** Arguments to Node, ending in the entry file. */
  readonly nodeArguments?: ReadonlyArray<string>;
}

/** Runs until the scope closes; gives the address once the provider listens. */
export const launchProvider = Effect.fn("launchProvider")(function* (options: LaunchOptions) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner;
  const handle = yield* spawner
    .spawn(
      ChildProcess.make(process.execPath, [...(options.nodeArguments ?? defaultArguments()), String(process.pid)], {
        env: {
          PAYMENT_PROVIDER_PORT: String(options.port ?? 0),
          PAYMENT_PROVIDER_DATABASE_URL: Redacted.value(options.databaseUrl),
        },
        extendEnv: true,
        stdin: "ignore",
        stderr: "inherit",
      }),
    )
    .pipe(Effect.mapError((error) => new ProviderNotStarted({ why: error.message })));

  const firstLine = yield* handle.stdout.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.filter((line) => line.startsWith("{")),
    Stream.runHead,
    Effect.timeout(startTimeout),
    Effect.mapError(() => new ProviderNotStarted({ why: `it said nothing within ${Duration.format(startTimeout)}` })),
  );
  if (Option.isNone(firstLine)) return yield* new ProviderNotStarted({ why: "it ended at once; its own words are above" });
  const { listening } = yield* Schema.decodeUnknownEffect(Announcement)(firstLine.value).pipe(
    Effect.mapError(() => new ProviderNotStarted({ why: `its first line was not understood: ${firstLine.value.slice(0, 200)}` })),
  );
  return { url: `http://127.0.0.1:${listening}`, pid: Number(handle.pid) };
});
