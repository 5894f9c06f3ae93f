/** An archive is brought back as settled history that the console's views read, and goes again into no second file. */
import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { assert, layer } from "@effect/vitest";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Stream from "effect/Stream";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { verifyThread } from "#server/postgres/verify-journal.ts";
import { abandonArchive } from "#server/retention/abandon-archive.ts";
import { restoreArchive } from "#server/retention/restore-archive.ts";
import { retain } from "#server/retention/retain.ts";
import { proofLines } from "#server/views/proof-pack.ts";
import { abort, decide, resolve, waiting } from "#tests/postgres/people.ts";
import type { RunPlace } from "#tests/postgres/records.ts";
import { admit, rows, store } from "#tests/postgres/store.ts";
import {
  age,
  archivedRun,
  archivesIn,
  faultsOf,
  folderOf,
  options,
  settledRun,
  tablesWith,
} from "#tests/support/retention.ts";

/** Every row that the tables of runs hold of a run, as text. */
const everythingOf = Effect.fnUntraced(function* (place: RunPlace) {
  const found: Record<string, ReadonlyArray<unknown>> = {};
  for (const table of yield* tablesWith(place))
    found[table] = yield* rows(
      `SELECT row_to_json(t)::text AS row FROM "${table}" t WHERE run_id = $1 ORDER BY 1`,
      [place.runId],
    );
  found["approval_votes"] = yield* rows(
    `SELECT row_to_json(v)::text AS row FROM approval_votes v JOIN approval_requests a USING (tenant_id, request_id)
     WHERE a.run_id = $1 ORDER BY 1`,
    [place.runId],
  );
  return found;
});

/** A settled run with a row in every table that an archive keeps. */
const peopleWereAsked = Effect.gen(function* () {
  const { place, writer, of } = yield* waiting(["c1", "c2"]);
  const { tenantId, runId } = place;
  for (const id of ["c1", "c2"]) yield* decide(place, id, "approved");
  yield* rows(
    `INSERT INTO approval_votes (tenant_id, request_id, operator_id, operator_name, decision, reason, parameters_digest, command_id)
     SELECT tenant_id, request_id, 'ada', 'Ada', 'approved', 'fine', parameters_digest, 'c-1'
     FROM approval_requests WHERE run_id = $1`,
    [runId],
  );
  yield* rows(
    `INSERT INTO diagnostics (tenant_id, diagnostic_id, fingerprint, run_id, tool_name, title, body, captured_at)
     VALUES ($1, 'diag-1', 'f', $2, 'refund', 'It broke', '{}', now())`,
    [tenantId, runId],
  );
  const ledger = yield* SubmissionLedger;
  const decided = yield* ledger.undelivered({ tenantId, runId });
  yield* writer.append([...decided, of.prepared("c1"), of.prepared("c2"), of.settled("c1")]);
  yield* writer.append([of.unknown("c2"), of.suspended("unknown")]);
  yield* resolve(place, "c2");
  yield* writer.append([...(yield* ledger.undelivered({ tenantId, runId })), of.denied("c2")]);
  yield* abort(place);
  yield* writer.append([
    ...(yield* ledger.undelivered({ tenantId, runId })),
    of.runSettled("aborted"),
  ]);
  return place;
});

const restoreDays = (tenant: string, days: number) =>
  rows("UPDATE archives SET restored_at = now() - $2 * interval '1 day' WHERE tenant_id = $1", [
    tenant,
    days,
  ]);

layer(store, { excludeTestServices: true })("npm run restore-archive", (it) => {
  it.effect(
    "[PG-01][PG-02] brings back every row as it was, verifies, says so in the audit, and leaves unsettled work alone",
    () =>
      Effect.gen(function* () {
        const tenant = "acme";
        const folder = yield* folderOf;
        const first = yield* peopleWereAsked;
        const { place: open } = yield* admit({ tenant, threadId: first.threadId });
        yield* age(first, 100);
        const stored = yield* everythingOf(first);
        yield* retain(options({ folder }));
        assert.deepStrictEqual(yield* tablesWith(first), []);
        const [name] = archivesIn(folder);
        const report = yield* restoreArchive(path.join(folder, name ?? ""));
        assert.deepStrictEqual(report, { threads: 1, runs: 1, records: 17 });
        const back = yield* everythingOf(first);
        assert.deepStrictEqual(
          Object.keys(back).filter((table) => !(table in stored)),
          ["archived_copies"],
        );
        const { archived_copies: _, ...same } = back;
        assert.deepStrictEqual(same, stored);
        assert.deepStrictEqual(yield* faultsOf(tenant), []);
        assert.include(yield* tablesWith(open), "submissions");
        const [row] = yield* rows(
          "SELECT verb, target, after FROM audit_log WHERE tenant_id = $1 ORDER BY sequence DESC LIMIT 1",
          [tenant],
        );
        assert.deepInclude(row, { verb: "restore-archive", target: name });
        assert.include(String(row?.["after"]), '"runs":1');
        assert.isAbove(
          (yield* Effect.flatMap(
            proofLines(first.tenantId, first.runId, { kind: "operator", id: "ada", name: "Ada" }),
            Stream.runCollect,
          )).length,
          7,
        );
      }).pipe(Effect.scoped),
  );

  it.effect(
    "[PG-09] what was brought back goes again after its time, into no second file, and only with its archive there",
    () =>
      Effect.gen(function* () {
        const tenant = "again";
        const { file, folder, name, place } = yield* archivedRun(tenant);
        const other = yield* folderOf;
        yield* restoreArchive(file);
        assert.strictEqual((yield* retain(options({ folder }))).runs, 0);
        assert.include(yield* tablesWith(place), "runs");
        yield* restoreDays(tenant, 91);
        for (const elsewhere of [other, undefined]) {
          const report = yield* retain(options({ folder: elsewhere }));
          assert.deepStrictEqual([report.runs, report.held], [0, 1]);
        }
        const report = yield* retain(options({ folder }));
        assert.deepStrictEqual([report.runs, report.held], [1, 0]);
        assert.deepStrictEqual(archivesIn(folder), [name]);
        assert.deepStrictEqual(archivesIn(other), []);
        assert.deepStrictEqual(yield* tablesWith(place), []);
        assert.deepStrictEqual(yield* faultsOf(tenant), []);
        // And back once more; this time the archive is lost.
        yield* restoreArchive(file);
        assert.strictEqual(yield* abandonArchive(name), 1);
        assert.strictEqual((yield* retain(options({ folder: other }))).runs, 1);
        assert.strictEqual(archivesIn(other).length, 1);
      }).pipe(Effect.scoped),
  );

  it.effect(
    "[PG-02] is refused for what is here already, for a changed file and for another database's",
    () =>
      Effect.gen(function* () {
        const { file, name, place } = yield* archivedRun("refused");
        const words = Effect.map(Effect.flip(restoreArchive(file)), (error) => error.message);
        const whole = readFileSync(file, "utf8");
        appendFileSync(file, "\n");
        assert.match(yield* words, /does not hold/);
        // A changed file with a manifest that fits it is still not the file that was written.
        writeFileSync(file, whole);
        const manifest = file.replace(".jsonl", ".manifest.json");
        const said = readFileSync(manifest, "utf8");
        yield* rows("UPDATE archives SET sha256 = repeat('0', 64) WHERE archive = $1", [name]);
        assert.match(yield* words, /is not the file that was written/);
        yield* rows("UPDATE archives SET sha256 = $2 WHERE archive = $1", [
          name,
          (JSON.parse(said) as { readonly sha256: string }).sha256,
        ]);
        yield* rows("UPDATE archived_runs SET archive = 'other' WHERE run_id = $1", [place.runId]);
        assert.match(yield* words, /into another archive/);
        yield* rows("UPDATE archived_runs SET archive = $2 WHERE run_id = $1", [place.runId, name]);
        yield* rows("UPDATE threads SET kept_after_digest = repeat('1', 64) WHERE thread_id = $1", [
          place.threadId,
        ]);
        assert.match(yield* words, /do not fit/);
        assert.deepStrictEqual(yield* tablesWith(place), []);
        const [last] = whole.trimEnd().split("\n").slice(-1);
        const { through } = JSON.parse(last ?? "{}") as {
          readonly through: { readonly digest: string };
        };
        yield* rows("UPDATE threads SET kept_after_digest = $2 WHERE thread_id = $1", [
          place.threadId,
          through.digest,
        ]);
        yield* restoreArchive(file);
        assert.match(yield* words, /are here already/);
        yield* rows("DELETE FROM archives WHERE archive = $1", [name]);
        assert.match(yield* words, /was not written from this database/);
      }).pipe(Effect.scoped),
  );

  it.effect(
    "[PG-02] the file is read whole before the transaction begins, which the database ends when it says nothing for 15 seconds",
    () =>
      Effect.gen(function* () {
        const { file } = yield* archivedRun("long");
        const whole = readFileSync(file, "utf8");
        rmSync(file);
        execFileSync("mkfifo", [file]);
        const restoring = yield* Effect.forkChild(restoreArchive(file));
        // Opens when somebody reads; whoever reads waits until it is written.
        const slow = yield* Effect.promise(() => open(file, "w"));
        const [silent] = yield* rows(
          "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'",
        );
        rmSync(file);
        writeFileSync(file, whole);
        yield* Effect.promise(async () => {
          await slow.writeFile(whole);
          await slow.close();
        });
        assert.strictEqual((yield* Fiber.join(restoring)).runs, 1);
        assert.deepStrictEqual(silent, { n: 0 });
      }).pipe(Effect.scoped),
  );

  it.effect(
    "[PG-02] a run that was parked while others passed comes back around them, in the middle of a gap",
    () =>
      Effect.gen(function* () {
        const tenant = "middle";
        const folder = yield* folderOf;
        const first = yield* settledRun(tenant);
        const second = yield* settledRun(tenant, first);
        const third = yield* settledRun(tenant, first);
        yield* age(second, 100);
        yield* retain(options({ folder }));
        const [name] = archivesIn(folder);
        yield* age(first, 100);
        yield* age(third, 100);
        yield* retain(options({ folder }));
        assert.deepStrictEqual(yield* faultsOf(tenant), []);
        yield* restoreArchive(path.join(folder, name ?? ""));
        assert.include(yield* tablesWith(second), "runs");
        assert.deepStrictEqual(yield* tablesWith(third), []);
        assert.deepStrictEqual(yield* faultsOf(tenant), []);
        const { records } = yield* verifyThread(tenant, second.threadId);
        assert.strictEqual(records, 7);
      }).pipe(Effect.scoped),
  );
});
