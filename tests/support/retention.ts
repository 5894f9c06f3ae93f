/** What tests of retention begin with: runs to take out, archives, and what is left of both. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import * as Effect from "effect/Effect";
import { TenantId } from "#lib/contract/ids.ts";
import { verifyAudit } from "#server/postgres/verify-audit.ts";
import { verifyTenant } from "#server/postgres/verify-journal.ts";
import { retain, type RetentionOptions } from "#server/retention/retain.ts";
import { recordsOf, type RunPlace } from "#tests/postgres/records.ts";
import { admit, claimed, rows, writerOf } from "#tests/postgres/store.ts";

export const folderOf = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(os.tmpdir(), "effect-agent-archive-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true })),
);

export const settle = Effect.fnUntraced(function* (place: RunPlace) {
  const claim = yield* claimed(place);
  const of = recordsOf({ ...place, runId: claim.runId, submissionId: claim.submissionId });
  yield* writerOf(claim).append([
    of.opened(),
    of.attempt(),
    of.turn(["c1"]),
    of.prepared("c1"),
    of.settled("c1"),
    of.denied("c1"),
    of.runSettled(),
  ]);
});

/** A settled run on a thread of its own, or behind another on its thread. */
export const settledRun = Effect.fnUntraced(function* (tenant: string, behind?: RunPlace) {
  const { place } = yield* admit({
    tenant,
    ...(behind === undefined ? {} : { threadId: behind.threadId }),
  });
  yield* settle(place);
  return place;
});

export const age = (place: RunPlace, days: number) =>
  rows("UPDATE submissions SET settled_at = now() - $2 * interval '1 day' WHERE run_id = $1", [
    place.runId,
    days,
  ]);

const days = (count: number) => count * 86_400;
export const options = (more: Partial<RetentionOptions> = {}): RetentionOptions => ({
  olderThanSeconds: days(90),
  folder: undefined,
  onProgress: () => Effect.void,
  ...more,
});

export const archivesIn = (folder: string) =>
  readdirSync(folder).filter((name) => name.endsWith(".jsonl"));

/** An old settled run of the tenant, put away into an archive of its own. */
export const archivedRun = Effect.fnUntraced(function* (tenant: string) {
  const folder = yield* folderOf;
  const place = yield* settledRun(tenant);
  yield* age(place, 100);
  yield* retain(options({ folder }));
  const name = archivesIn(folder)[0] ?? "";
  return { folder, place, name, file: path.join(folder, name) };
});

/** A pass that dies where it would do this to a row of that table, as a process does that is killed there. */
export const passKilledAt = Effect.fnUntraced(function* (
  act: "DELETE" | "UPDATE",
  table: "archives" | "journal_records",
  folder: string,
) {
  yield* rows(
    "CREATE FUNCTION stop_here() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''killed''; END'",
  );
  yield* rows(
    `CREATE TRIGGER stop_here BEFORE ${act} ON ${table} FOR EACH ROW EXECUTE FUNCTION stop_here()`,
  );
  yield* Effect.flip(retain(options({ folder })));
  yield* rows("DROP FUNCTION stop_here CASCADE");
});

/** Every table that holds rows of runs, but for those that are meant to keep them. */
const runTables = `SELECT table_name AS name FROM information_schema.columns
  WHERE table_schema = 'public' AND column_name = 'run_id'
    AND table_name NOT IN ('archived_runs', 'archived_items', 'audit_log', 'idempotency_keys', 'events', 'event_inbox')
  ORDER BY 1`;

export const tablesWith = Effect.fnUntraced(function* (place: RunPlace) {
  const found: Array<string> = [];
  for (const table of yield* rows(runTables)) {
    const name = String(table["name"]);
    const [row] = yield* rows(`SELECT count(*)::int AS n FROM "${name}" WHERE run_id = $1`, [
      place.runId,
    ]);
    if (row?.["n"] !== 0) found.push(name);
  }
  return found;
});

export const faultsOf = (tenant: string) =>
  Effect.gen(function* () {
    const faults: Array<unknown> = [];
    yield* verifyTenant(tenant, (part) => Effect.sync(() => faults.push(...part.faults)));
    return [...faults, ...(yield* verifyAudit(TenantId.make(tenant))).faults];
  });
