/**
 * The one way to PostgreSQL: a pool, transactions that retry only what the
 * database itself asks to retry (PG-08), and the mapping of its errors.
 */
import * as PgClient from "@effect/sql-pg/PgClient";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import type * as Layer from "effect/Layer";
import type * as Redacted from "effect/Redacted";
import * as Schedule from "effect/Schedule";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import { isSqlError, type SqlError } from "effect/unstable/sql/SqlError";
import { retryAfterFailure } from "#lib/durable/retry-after-failure.ts";
import { StoreError } from "#lib/durable/StoreError.ts";

export interface DatabaseOptions {
  readonly url: Redacted.Redacted;
  /** Connections of the pool; the event log keeps one of them for LISTEN. Default 12. */
  readonly maxConnections?: number;
  readonly applicationName?: string;
  /** A statement that runs longer is cancelled by the server. Default 30 s. */
  readonly statementTimeoutMillis?: number;
  /** A statement that waits longer for a lock fails. Default 10 s. */
  readonly lockTimeoutMillis?: number;
  /** The server ends a session that says nothing for this long; default: never. */
  readonly idleSessionTimeoutMillis?: number;
}

/** `PgClient` and `SqlClient` on one pool; connects when first used. */
export const layer = (
  options: DatabaseOptions,
): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, SqlError> =>
  PgClient.layer({
    url: options.url,
    maxConnections: options.maxConnections ?? 12,
    applicationName: options.applicationName ?? "effect-agent",
    connectTimeout: "5 seconds",
    idleTimeout: "60 seconds",
    maxMessageSize: 64 * 1024 * 1024,
    startupParameters: {
      statement_timeout: String(options.statementTimeoutMillis ?? 30_000),
      lock_timeout: String(options.lockTimeoutMillis ?? 10_000),
      // A process that lost its network must not hold a thread's row lock for good.
      idle_in_transaction_session_timeout: "15000",
      ...(options.idleSessionTimeoutMillis === undefined
        ? {}
        : { idle_session_timeout: String(options.idleSessionTimeoutMillis) }),
      timezone: "UTC",
    },
  });

/** Serialization failure and deadlock: the database rolled back and asks to try again. */
const isConflict = (error: unknown): boolean =>
  isSqlError(error) &&
  (error.reason._tag === "SerializationError" || error.reason._tag === "DeadlockError");

const stateOf = (error: SqlError): string => {
  const cause = error.reason.cause;
  const code: unknown =
    typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return typeof code === "string" ? code : "";
};

/** Resources (53), operator intervention (57), system (58), a standby before it is promoted (25006). */
const passingState = /^(53|57|58)|^25006$/;

const isPassing = (error: SqlError): boolean => {
  switch (error.reason._tag) {
    case "ConnectionError":
    case "DeadlockError":
    case "SerializationError":
    case "LockTimeoutError":
    case "StatementTimeoutError":
      return true;
    default:
      return passingState.test(stateOf(error));
  }
};

/** The server's own sentence where there is one; its DETAIL, which may quote rows, is left out. */
const sentenceOf = (error: SqlError): string => {
  const { cause } = error.reason;
  const words = cause instanceof Error && cause.message !== "" ? cause.message : error.message;
  const state = stateOf(error);
  return `"${words}"${state === "" ? "" : ` (${state})`}`;
};

export const toStoreError = (operation: string, fault: SqlError | Schema.SchemaError): StoreError =>
  isSqlError(fault)
    ? new StoreError({
        operation,
        message: `${operation}: the database answered ${sentenceOf(fault)}.`,
        retryable: isPassing(fault),
        cause: fault,
      })
    : new StoreError({
        operation,
        message: `${operation}: a stored row is not what this version can read. ${fault.message}`,
        retryable: false,
        cause: fault,
      });

type Fault = SqlError | Schema.SchemaError;

const isFault = (value: unknown): value is Fault =>
  isSqlError(value) || Schema.isSchemaError(value);

/** A failed COMMIT or ROLLBACK arrives as a defect; it is an answer of the store all the same. */
const faultIn = (cause: Cause.Cause<unknown>): Fault | undefined => {
  for (const reason of cause.reasons) {
    const value = Cause.isFailReason(reason)
      ? reason.error
      : Cause.isDieReason(reason)
        ? reason.defect
        : undefined;
    if (isFault(value)) return value;
  }
  return undefined;
};

const conflictRetries = Schedule.max([
  Schedule.exponential("5 millis").pipe(Schedule.jittered),
  Schedule.recurs(6),
]);

/**
 * Runs one idempotent transition: conflicts are tried again, at most 6 times;
 * what the store cannot answer becomes a `StoreError`.
 */
export const transition = <A, E, R>(
  operation: string,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, Exclude<E, Fault> | StoreError, R> =>
  effect.pipe(
    Effect.catchCause((cause): Effect.Effect<never, E | Fault> => {
      const fault = Cause.hasInterrupts(cause) ? undefined : faultIn(cause);
      return fault === undefined ? Effect.failCause(cause) : Effect.fail(fault);
    }),
    retryAfterFailure({ schedule: conflictRetries, while: isConflict }),
    Effect.mapError((error) =>
      // `isFault` narrows a generic union, whose rest TypeScript does not compute.
      isFault(error) ? toStoreError(operation, error) : (error as Exclude<E, Fault>),
    ),
  );

/** `transition` of several statements in one transaction. */
export const transaction = <A, E, R>(
  operation: string,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, Exclude<E, Fault> | StoreError, R | SqlClient.SqlClient> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => transition(operation, sql.withTransaction(effect)));

const Writable = Schema.Tuple([Schema.Struct({ readOnly: Schema.Literals(["on", "off"]) })]);

/** Whether the database answers and takes writes: a standby before it is promoted answers everything and keeps nothing. */
export const ping: Effect.Effect<void, StoreError, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const [{ readOnly }] = yield* transition(
    "Database.ping",
    Effect.flatMap(
      sql`SELECT current_setting('transaction_read_only') AS "readOnly"`,
      Schema.decodeUnknownEffect(Writable),
    ),
  );
  if (readOnly === "on")
    return yield* new StoreError({
      operation: "Database.ping",
      message: "Database.ping: the database takes no writes: it is a standby, or set to read-only.",
      retryable: true,
    });
});
