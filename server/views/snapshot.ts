/**
 * Everything one answer shows is read in one snapshot of one tenant, so that its
 * lists, counts and `asOf` agree (C070, C071).
 */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { isSqlError, type SqlError } from "effect/unstable/sql/SqlError";
import { StoreUnavailable } from "#lib/contract/errors.ts";
import type { TenantId } from "#lib/contract/ids.ts";
import { StoreError } from "#lib/durable/StoreError.ts";
import { transaction } from "#server/postgres/Database.ts";
import { ReadDatabase } from "#server/postgres/ReadDatabase.ts";

/**
 * SQLSTATE classes of a database that cannot be reached as it is configured: connection (08), sign-in
 * (28), no such database (3D). Trying the same again may help once somebody has seen to it.
 */
const awayState = /^(08|28|3D)/;

const codeOf = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return "";
  if ("code" in value && typeof value.code === "string") return value.code;
  return "cause" in value ? codeOf(value.cause) : "";
};

const isAway = (error: StoreError): boolean =>
  error.retryable || (isSqlError(error.cause) && awayState.test(codeOf(error.cause.reason)));

const tookTooLong = (error: StoreError): boolean =>
  isSqlError(error.cause) && error.cause.reason._tag === "StatementTimeoutError";

/** A store that is away or busy is an answer; one that refuses our own query is a defect. */
export const orStoreUnavailable = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, Exclude<E, StoreError> | StoreUnavailable, R> =>
  Effect.catch(effect, (error): Effect.Effect<never, Exclude<E, StoreError> | StoreUnavailable> => {
    // What is no StoreError is one of the other members of E.
    if (!(error instanceof StoreError)) return Effect.fail(error as Exclude<E, StoreError>);
    if (!isAway(error)) return Effect.die(error);
    if (tookTooLong(error))
      return Effect.fail(
        new StoreUnavailable({
          message:
            "The database was given up on after the longest time that one read may take. Narrow what is asked for; nothing was changed.",
        }),
      );
    return Effect.fail(
      new StoreUnavailable({
        message: "The database does not answer at the moment. Nothing was changed; try again.",
      }),
    );
  });

/**
 * Puts the transaction that runs now under the database's own row policies: it sees
 * and changes rows of this tenant only, in a role that owns nothing (PG-05).
 */
export const actForTenant = (tenantId: TenantId) =>
  Effect.flatMap(SqlClient, (sql) => sql`SELECT act_for_tenant(${tenantId})`);

/**
 * Runs the reads in one REPEATABLE READ, READ ONLY transaction, below the row policies of
 * this tenant: a read that forgot its tenant sees nothing of another one. The predicates
 * stay: without the role (docs/production.md) they are all there is.
 */
export const inSnapshot = <A, E, R>(tenantId: TenantId, reads: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const outer = yield* SqlClient;
    const client = (yield* ReadDatabase) ?? outer;
    const snapshot = transaction(
      "views.inSnapshot",
      Effect.gen(function* () {
        const sql = yield* SqlClient;
        yield* sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY`;
        yield* actForTenant(tenantId);
        // A view that took its client before this one was opened holds the other pool's: a statement of
        // that client would run on a connection of its own, beside the snapshot and below no policy.
        const connection = yield* Effect.serviceOption(sql.transactionService);
        return yield* Option.match(connection, {
          onNone: () => Effect.die("A transaction has a connection"),
          onSome: (held) => Effect.provideService(reads, outer.transactionService, held),
        });
      }),
    );
    return yield* Effect.provideService(snapshot, SqlClient, client);
  }).pipe(orStoreUnavailable);

/** Rows in the shape of the schema; a row of another shape is our own fault, never the client's. */
export const decodeRows = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(Schema.Array(schema));
  return <R>(
    rows: Effect.Effect<ReadonlyArray<unknown>, SqlError, R>,
  ): Effect.Effect<ReadonlyArray<S["Type"]>, SqlError, R> =>
    Effect.flatMap(rows, (found) => Effect.orDie(decode(found)));
};

const Newest = Schema.Struct({ last: Schema.Int, now: Schema.Int });

/** The newest event this snapshot reflects at least, and the database's clock, milliseconds. */
export const newest = (tenantId: TenantId) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeRows(Newest)(
      sql`
        SELECT coalesce((SELECT last_sequence FROM event_tails WHERE tenant_id = ${tenantId}), 0)::float8 AS last,
          trunc(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`,
    ),
  ).pipe(Effect.map((rows) => rows[0] ?? { last: 0, now: 0 }));
