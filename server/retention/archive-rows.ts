/** What the database knows of its archives: which are begun, whole or brought back, and which runs are in one and here as well. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { TenantId } from "#lib/contract/ids.ts";
import { textArray } from "#server/postgres/columns.ts";
import { transaction, transition } from "#server/postgres/Database.ts";
import type { Manifest } from "./archive-format.ts";
import { runsOf, type Segment } from "./find-segments.ts";

/** An archive that some pass has to go on with, because its runs are here still or again. */
export const PendingArchive = Schema.Struct({
  tenantId: TenantId,
  archive: Schema.String,
  sha256: Schema.String,
  /** Where its pass wrote it; null: a release from before did. */
  folder: Schema.NullOr(Schema.String),
  isWritten: Schema.Boolean,
  isRestored: Schema.Boolean,
  copies: Schema.Int,
});
export type PendingArchive = typeof PendingArchive.Type;

export const makeArchiveRows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const inTransaction = <A, E, R>(name: string, work: Effect.Effect<A, E, R>) =>
    transaction(name, work).pipe(Effect.provideService(SqlClient.SqlClient, sql));

  /** Before the file has its name: from here on no other archive takes these runs. */
  const begin = (manifest: Manifest, folder: string, segments: ReadonlyArray<Segment>) =>
    inTransaction(
      "Retention.begin",
      Effect.gen(function* () {
        const { tenantId, file, sha256, runs, records } = manifest;
        yield* sql`
          INSERT INTO archives (tenant_id, archive, sha256, runs, records, folder, finished_at)
          VALUES (${tenantId}, ${file}, ${sha256}, ${runs}, ${records}, ${folder}, NULL)`;
        yield* sql`
          INSERT INTO archived_copies (tenant_id, run_id, archive)
          SELECT ${tenantId}, run_id, ${file} FROM unnest(${textArray(segments.flatMap(runsOf))}) AS run_id`;
      }),
    );

  /** The file has its name; rows may go. */
  const written = ({ tenantId, file }: Manifest) =>
    transition(
      "Retention.written",
      sql`UPDATE archives SET written_at = coalesce(written_at, now())
        WHERE tenant_id = ${tenantId} AND archive = ${file}`,
    );

  /** In the caller's transaction: what could go is gone, and nothing waits for this archive any more. */
  const finish = Effect.fnUntraced(function* ({ tenantId, file, sha256, runs, records }: Manifest) {
    yield* sql`
      INSERT INTO archives (tenant_id, archive, sha256, runs, records, written_at)
      VALUES (${tenantId}, ${file}, ${sha256}, ${runs}, ${records}, now())
      ON CONFLICT (tenant_id, archive) DO UPDATE SET finished_at = now(), restored_at = NULL`;
    yield* dropCopies(tenantId, file);
  });

  const dropCopies = (tenantId: string, archive: string) =>
    sql`DELETE FROM archived_copies WHERE tenant_id = ${tenantId} AND archive = ${archive} RETURNING run_id`;

  /** Nothing of it was ever under its name: its runs are as if no pass had been there. */
  const forget = (pending: PendingArchive) =>
    inTransaction(
      "Retention.forget",
      Effect.gen(function* () {
        yield* dropCopies(pending.tenantId, pending.archive);
        yield* sql`DELETE FROM archives
          WHERE tenant_id = ${pending.tenantId} AND archive = ${pending.archive}`;
      }),
    );

  const listPending = SqlSchema.findAll({
    Request: Schema.Finite,
    Result: PendingArchive,
    execute: (olderThanSeconds) => sql`
      SELECT tenant_id AS "tenantId", archive, sha256, folder, written_at IS NOT NULL AS "isWritten",
        restored_at IS NOT NULL AS "isRestored", (
          SELECT count(*)::integer FROM archived_copies c
          WHERE c.tenant_id = a.tenant_id AND c.archive = a.archive) AS copies
      FROM archives a
      WHERE finished_at IS NULL
        OR restored_at < now() - ${olderThanSeconds}::float8 * interval '1 second'
      ORDER BY tenant_id, archive`,
  });
  /** Begun and not finished, or brought back so long ago. */
  const pending = (olderThanSeconds: number) =>
    transition("Retention.pending", listPending(olderThanSeconds));

  const listNames = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ archive: Schema.String }),
    execute: () => sql`SELECT archive FROM archives`,
  });
  const names = Effect.map(
    transition("Retention.archives", listNames()),
    (rows) => new Set(rows.map((row) => row.archive)),
  );

  return { begin, written, finish, dropCopies, forget, pending, names };
});
