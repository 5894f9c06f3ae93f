/** A run that is not here any more because of its age says so, in place of a bare "no such run". */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { NotFound, RunArchived, type StoreUnavailable } from "#lib/contract/errors.ts";
import { EpochMillis, RunId, type TenantId } from "#lib/contract/ids.ts";
import { RunOutcome } from "#lib/contract/status.ts";
import { columnText } from "#server/postgres/columns.ts";
import { millis } from "./columns.ts";
import { decodeRows, inSnapshot } from "./snapshot.ts";

const Row = Schema.Struct({
  runId: RunId,
  outcome: RunOutcome,
  settledAt: EpochMillis,
  archivedAt: EpochMillis,
  archive: Schema.NullOr(Schema.String),
});

const archivedRun = (row: typeof Row.Type): RunArchived =>
  new RunArchived({
    ...row,
    message: `This run ended ${row.outcome} and was ${row.archive === null ? "deleted" : `moved to the archive ${row.archive}`} because of its age.`,
  });

const findArchived = (tenantId: TenantId, runId: RunId) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeRows(Row)(sql`
      SELECT run_id AS "runId", outcome, ${sql.literal(millis("settled_at"))} AS "settledAt",
        ${sql.literal(millis("archived_at"))} AS "archivedAt", archive
      FROM archived_runs WHERE tenant_id = ${tenantId} AND run_id = ${runId}`),
  );

const findArchivedOf = (tenantId: TenantId, itemId: string) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeRows(Row)(sql`
      SELECT r.run_id AS "runId", outcome, ${sql.literal(millis("settled_at"))} AS "settledAt",
        ${sql.literal(millis("archived_at"))} AS "archivedAt", archive
      FROM archived_items i JOIN archived_runs r ON r.tenant_id = i.tenant_id AND r.run_id = i.run_id
      WHERE i.tenant_id = ${tenantId} AND i.item_id = ${columnText(itemId)}`),
  );

/** Looks for what is left of the run where it was not found; asked only then. */
export const orArchived =
  (tenantId: TenantId, runId: RunId) =>
  <A, E, R>(read: Effect.Effect<A, E, R>) =>
    whereNotFound(read, inSnapshot(tenantId, findArchived(tenantId, runId)));

/** The same for one request, doubt, denial or diagnostic: its own id leads to no run, so what retention noted does. */
export const orArchivedItem =
  (tenantId: TenantId, itemId: string) =>
  <A, E, R>(read: Effect.Effect<A, E, R>) =>
    whereNotFound(read, inSnapshot(tenantId, findArchivedOf(tenantId, itemId)));

const whereNotFound = <A, E, R>(
  read: Effect.Effect<A, E, R>,
  find: Effect.Effect<ReadonlyArray<typeof Row.Type>, StoreUnavailable, SqlClient>,
): Effect.Effect<A, E | RunArchived | StoreUnavailable, R | SqlClient> =>
  Effect.catch(
    read,
    (error): Effect.Effect<never, E | RunArchived | StoreUnavailable, SqlClient> => {
      if (!(error instanceof NotFound)) return Effect.fail(error);
      return Effect.flatMap(find, ([row]) =>
        Effect.fail(row === undefined ? error : archivedRun(row)),
      );
    },
  );

/**
 * A list of one run's rows: where it is empty, a run that had none is told from one whose rows an archive took.
 * Asked only then, and only for one run.
 */
export const unlessArchived =
  (tenantId: TenantId, runId: RunId | undefined) =>
  <A extends { readonly items: ReadonlyArray<unknown> }, E, R>(
    read: Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E | RunArchived | StoreUnavailable, R | SqlClient> =>
    Effect.tap(read, ({ items }) =>
      runId === undefined || items.length > 0 ? Effect.void : refuseArchived(tenantId, runId),
    );

/** `RunArchived` where the run was put away; nothing is said of one that is there or never was. */
export const refuseArchived = (
  tenantId: TenantId,
  runId: RunId,
): Effect.Effect<void, RunArchived | StoreUnavailable, SqlClient> =>
  Effect.flatMap(inSnapshot(tenantId, findArchived(tenantId, runId)), ([row]) =>
    row === undefined ? Effect.void : Effect.fail(archivedRun(row)),
  );
