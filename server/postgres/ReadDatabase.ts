/**
 * The console's own small pool. Searches that take long hold its connections and
 * nobody else's: journal, heartbeats and tools have theirs, and go on.
 */
import * as Context from "effect/Context";
import * as Layer from "effect/Layer";
import type * as Redacted from "effect/Redacted";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { SqlError } from "effect/unstable/sql/SqlError";
import * as Database from "#server/postgres/Database.ts";

/** The pool that the console's reads use; by default the one of everything else. */
export const ReadDatabase = Context.Reference<SqlClient | undefined>(
  "effect-agent/server/postgres/ReadDatabase",
  { defaultValue: () => undefined },
);

/** @param options at least 1 connection; a read that takes longer than `statementSeconds` is cancelled by the server */
export const layer = (options: {
  readonly url: Redacted.Redacted;
  readonly connections: number;
  readonly statementSeconds: number;
}): Layer.Layer<never, SqlError> =>
  Layer.effect(ReadDatabase, SqlClient).pipe(
    Layer.provide(
      Database.layer({
        url: options.url,
        maxConnections: options.connections,
        applicationName: "effect-agent console",
        statementTimeoutMillis: options.statementSeconds * 1_000,
      }),
    ),
  );
