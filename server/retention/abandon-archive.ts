/** Gives an archive up that is lost while its runs are in the database too: they are no copies of anything any more. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { TenantId } from "#lib/contract/ids.ts";
import { Audit } from "#lib/durable/Audit.ts";
import { transaction } from "#server/postgres/Database.ts";
import { makeArchiveRows } from "./archive-rows.ts";
import { retentionActor } from "./batch.ts";
import { onePass } from "./one-pass.ts";
import { ArchiveRefused } from "./write-archive.ts";

const Abandoned = Schema.Struct({ tenantId: TenantId });

const abandon = Effect.fnUntraced(function* (archive: string) {
  const sql = yield* SqlClient.SqlClient;
  const archiveRows = yield* makeArchiveRows;
  const audit = yield* Audit;
  const [row] = yield* SqlSchema.findAll({
    Request: Schema.String,
    Result: Abandoned,
    execute: (name) => sql`
      UPDATE archives SET finished_at = now(), restored_at = NULL
      WHERE archive = ${name} AND (finished_at IS NULL OR restored_at IS NOT NULL)
      RETURNING tenant_id AS "tenantId"`,
  })(archive);
  if (row === undefined)
    return yield* new ArchiveRefused({
      message: `No archive ${archive} waits for anything: either there is none of that name, or none of its runs is in the database.`,
    });
  const { tenantId } = row;
  const copies = yield* archiveRows.dropCopies(tenantId, archive);
  yield* audit.append({
    tenantId,
    actor: retentionActor,
    verb: "abandon-archive",
    target: archive,
    runId: null,
    accepted: true,
    reason: "The archive is lost; what of it is in the database is archived again.",
    before: null,
    after: { runs: copies.length },
    commandId: null,
  });
  return copies.length;
});

/** @returns how many runs of it are in the database alone from now on */
export const abandonArchive = Effect.fn("abandonArchive")((archive: string) =>
  onePass(transaction("abandonArchive", abandon(archive))),
);
