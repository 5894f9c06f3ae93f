import { appendFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { assert, layer } from "@effect/vitest";
import * as Effect from "effect/Effect";
import { Journal } from "#lib/durable/Journal.ts";
import { checkArchive } from "#server/retention/check-archive.ts";
import { knownMigration } from "#server/retention/known-schema.ts";
import { makeRemoveSegment } from "#server/retention/remove-segment.ts";
import { retain } from "#server/retention/retain.ts";
import { readMigrations } from "#server/postgres/Migrations.ts";
import { inDoubt, waiting } from "#tests/postgres/people.ts";
import { recordsOf } from "#tests/postgres/records.ts";
import { admit, rows, started, store } from "#tests/postgres/store.ts";
import {
  age,
  archivedRun,
  archivesIn,
  faultsOf,
  folderOf,
  options,
  passKilledAt,
  settle,
  settledRun,
  tablesWith,
} from "#tests/support/retention.ts";

layer(store, { excludeTestServices: true })("retention", (it) => {
  it.effect(
    "[PG-01] old runs leave every table whole, with a tombstone and an archive that holds, and the rest verifies",
    () =>
      Effect.gen(function* () {
        const tenant = "keeps";
        const folder = yield* folderOf;
        const old = yield* settledRun(tenant);
        const young = yield* settledRun(tenant);
        yield* age(old, 91);
        yield* age(young, 89);
        assert.include(yield* tablesWith(old), "journal_records");
        const report = yield* retain(options({ folder }));
        assert.deepStrictEqual(
          { ...report, events: 0 },
          { threads: 1, runs: 1, records: 7, events: 0, faulty: 0, held: 0 },
        );
        assert.deepStrictEqual(yield* tablesWith(old), []);
        assert.include(yield* tablesWith(young), "journal_records");
        const [archive] = archivesIn(folder);
        const [stone] = yield* rows(
          "SELECT outcome, archive FROM archived_runs WHERE run_id = $1",
          [old.runId],
        );
        assert.deepStrictEqual(stone, { outcome: "completed", archive });
        const check = yield* checkArchive(folder, archive ?? "");
        assert.deepStrictEqual([check.faults, check.records, check.manifest?.runs], [[], 7, 1]);
        assert.deepStrictEqual(yield* faultsOf(tenant), []);
        // Once is enough.
        const again = yield* retain(options({ folder }));
        assert.deepStrictEqual([again.runs, archivesIn(folder)], [0, [archive]]);
      }).pipe(Effect.scoped),
  );

  it.effect(
    "[DU-11][PG-02] an archived thread goes on: its key answers as before, and new records follow the old digest",
    () =>
      Effect.gen(function* () {
        const tenant = "goes-on";
        const { place, receipt } = yield* admit({ tenant, key: "a-key-that-stays" });
        yield* settle(place);
        yield* age(place, 100);
        yield* retain(options());
        const again = yield* admit({ tenant, key: "a-key-that-stays" });
        assert.deepStrictEqual(again.receipt, receipt);
        yield* settledRun(tenant, place);
        const journal = yield* Journal;
        const { tenantId, threadId } = place;
        const stored = yield* journal.read({ tenantId, threadId, after: 0, limit: 100 });
        assert.deepStrictEqual(
          stored.map((row) => row.sequence),
          [8, 9, 10, 11, 12, 13, 14],
        );
        assert.deepStrictEqual(yield* faultsOf(tenant), []);
      }),
  );

  it.effect("[DU-04] nothing unsettled goes, nor a run whose effect is in doubt", () =>
    Effect.gen(function* () {
      const tenant = "unsettled";
      const queued = yield* admit({ tenant });
      const asked = yield* waiting(["c1"]);
      const doubtful = yield* inDoubt(["c1"], { tenant });
      const { place, writer } = yield* started({ tenant });
      const of = recordsOf(place);
      yield* writer.append([of.opened(), of.attempt(), of.turn(["c1"]), of.prepared("c1")]);
      yield* writer.append([of.unknown("c1", true), of.runSettled("failed")]);
      yield* age(place, 400);
      const report = yield* retain(options());
      assert.strictEqual(report.runs, 0);
      for (const kept of [asked.place, doubtful.place, place])
        assert.include(yield* tablesWith(kept), "journal_records");
      assert.deepStrictEqual(yield* tablesWith(queued.place), [
        "run_titles",
        "runs",
        "submissions",
      ]);
    }),
  );

  it.effect("[PG-01] of a thread that is still used only its old beginning goes", () =>
    Effect.gen(function* () {
      const tenant = "used";
      const first = yield* settledRun(tenant);
      const second = yield* settledRun(tenant, first);
      const third = yield* settledRun(tenant, first);
      yield* age(first, 200);
      yield* age(second, 100);
      yield* age(third, 1);
      const report = yield* retain(options());
      assert.deepStrictEqual([report.runs, report.records], [2, 14]);
      assert.deepStrictEqual(yield* tablesWith(second), []);
      assert.deepStrictEqual(yield* faultsOf(tenant), []);
    }),
  );

  it.effect("[PG-02] a thread whose chain does not hold stays as it is", () =>
    Effect.gen(function* () {
      const tenant = "faulty";
      const folder = yield* folderOf;
      const bad = yield* settledRun(tenant);
      const good = yield* settledRun(tenant);
      yield* age(bad, 100);
      yield* age(good, 100);
      yield* rows(
        "UPDATE journal_records SET body = replace(body, 'refund', 'charge') WHERE run_id = $1 AND sequence = 3",
        [bad.runId],
      );
      const report = yield* retain(options({ folder }));
      assert.deepStrictEqual([report.runs, report.faulty], [1, 1]);
      assert.include(yield* tablesWith(bad), "journal_records");
      const text = readFileSync(path.join(folder, archivesIn(folder)[0] ?? ""), "utf8");
      assert.notInclude(text, bad.runId);
      yield* rows("DELETE FROM submissions WHERE run_id = $1", [bad.runId]);
    }).pipe(Effect.scoped),
  );

  it.effect(
    "[PG-09] an archive that was written when the process died is finished by the next pass, and a half-written one is written again",
    () =>
      Effect.gen(function* () {
        const tenant = "killed";
        const folder = yield* folderOf;
        const place = yield* settledRun(tenant);
        yield* age(place, 100);
        // As if the process had died after the file and before the rows.
        yield* passKilledAt("DELETE", "journal_records", folder);
        const [archive] = archivesIn(folder);
        assert.include(yield* tablesWith(place), "journal_records");
        writeFileSync(path.join(folder, "left.jsonl.partial"), "half a line");
        const report = yield* retain(options({ folder }));
        assert.strictEqual(report.runs, 1);
        assert.deepStrictEqual(archivesIn(folder), [archive]);
        assert.deepStrictEqual(readdirSync(folder).length, 2);
        assert.deepStrictEqual(yield* tablesWith(place), []);
        assert.deepStrictEqual(yield* faultsOf(tenant), []);
      }).pipe(Effect.scoped),
  );

  it.effect(
    "[PG-02] what an unfinished archive does not hold stays, as after a restored backup that went another way",
    () =>
      Effect.gen(function* () {
        const tenant = "restored";
        const { folder, place } = yield* archivedRun(tenant);
        // The backup from before the pass, in which the thread then got other records.
        yield* rows("DELETE FROM archived_runs WHERE run_id = $1", [place.runId]);
        yield* rows("DELETE FROM archives WHERE tenant_id = $1", [tenant]);
        yield* rows(
          `UPDATE threads SET kept_after_sequence = 0, kept_after_digest = repeat('0', 64), tail_sequence = 0,
             tail_digest = repeat('0', 64), last_queue_sequence = 0 WHERE thread_id = $1`,
          [place.threadId],
        );
        const other = yield* settledRun(tenant, place);
        yield* age(other, 1);
        for (const table of ["journal_records", "submissions", "runs"])
          yield* rows(`UPDATE ${table} SET run_id = $2 WHERE run_id = $1`, [
            other.runId,
            place.runId,
          ]);
        const report = yield* retain(options({ folder }));
        assert.strictEqual(report.runs, 0);
        assert.include(yield* tablesWith(place), "journal_records");
      }).pipe(Effect.scoped),
  );

  it.effect("[PG-02] an archive that was changed, cut or lost its manifest is named", () =>
    Effect.gen(function* () {
      const { file, folder, name } = yield* archivedRun("altered-archive");
      const whole = readFileSync(file, "utf8");
      const kinds = Effect.map(checkArchive(folder, name), ({ faults }) =>
        faults.map((fault) => fault.kind),
      );
      writeFileSync(file, whole.replace("I will refund.", "I will not refund."));
      assert.deepStrictEqual(yield* kinds, ["archive", "digest"]);
      writeFileSync(file, whole.split("\n").slice(0, 4).join("\n"));
      assert.deepStrictEqual(yield* kinds, ["archive", "archive", "archive"]);
      writeFileSync(file, whole);
      appendFileSync(file, "nonsense\n");
      assert.deepStrictEqual(yield* kinds, ["archive", "archive"]);
      writeFileSync(file, whole);
      assert.deepStrictEqual(yield* kinds, []);
      renameSync(file.replace(".jsonl", ".manifest.json"), path.join(folder, "gone"));
      assert.deepStrictEqual(yield* kinds, ["archive"]);
    }).pipe(Effect.scoped),
  );

  it.effect(
    "[OP-01] the event log loses its old beginning and nothing of unsettled work; a reader learns where it begins",
    () =>
      Effect.gen(function* () {
        const tenant = "events-go";
        yield* settledRun(tenant);
        const open = yield* admit({ tenant });
        yield* settledRun(tenant);
        yield* Effect.repeat(rows("SELECT assign_event_sequences($1, 2000)", [tenant]), {
          times: 2,
        });
        yield* rows("UPDATE events SET at = now() - interval '100 days' WHERE tenant_id = $1", [
          tenant,
        ]);
        const firstOf = Effect.map(
          rows(
            "SELECT first_sequence::int AS first, (SELECT min(sequence)::int FROM events WHERE tenant_id = $1) AS kept FROM event_tails WHERE tenant_id = $1",
            [tenant],
          ),
          ([row]) => row,
        );
        yield* retain(options());
        const [held] = yield* rows("SELECT min(sequence)::int AS n FROM events WHERE run_id = $1", [
          open.place.runId,
        ]);
        assert.deepStrictEqual(yield* firstOf, { first: held?.["n"], kept: held?.["n"] });
        yield* settle(open.place);
        yield* rows("SELECT assign_event_sequences($1, 2000)", [tenant]);
        yield* retain(options());
        const after = yield* firstOf;
        assert.isAbove(Number(after?.["first"]), Number(held?.["n"]));
        assert.strictEqual(after?.["first"], after?.["kept"]);
      }),
  );

  it.effect("of two passes at once one works and the other is refused", () =>
    Effect.gen(function* () {
      yield* age(yield* settledRun("twice"), 100);
      const answers = yield* Effect.all(
        [
          Effect.result(retain(options({ onProgress: () => Effect.sleep("200 millis") }))),
          Effect.delay(Effect.result(retain(options())), "100 millis"),
        ],
        { concurrency: 2 },
      );
      assert.deepStrictEqual(
        answers.map((answer) => (answer._tag === "Failure" ? answer.failure._tag : "worked")),
        ["worked", "RetentionBusy"],
      );
    }),
  );

  it.effect(
    "[PG-07] a pass of a release that is older than the database takes nothing out, also where the migration comes in the middle of it",
    () =>
      Effect.gen(function* () {
        const count = Effect.map(rows("SELECT count(*)::int AS n FROM journal_records"), ([row]) =>
          Number(row?.["n"]),
        );
        const later = (id: number) =>
          rows("INSERT INTO effect_sql_migrations (migration_id, name) VALUES ($1, 'later')", [id]);
        const forget = rows("DELETE FROM effect_sql_migrations WHERE name = 'later'");
        yield* age(yield* settledRun("outdated-1"), 100);
        yield* age(yield* settledRun("outdated-2"), 100);
        const before = yield* count;
        yield* later(knownMigration + 1);
        const refused = yield* Effect.flip(retain(options()));
        assert.strictEqual(refused._tag, "RetentionOutdated");
        assert.include(refused.message, String(knownMigration + 1));
        assert.strictEqual(yield* count, before);
        yield* forget;

        // The place between the look at the start and the first row that goes.
        const remove = yield* makeRemoveSegment;
        yield* later(knownMigration + 2);
        const segment = { tenantId: "acme", threadId: "none", agentId: "desk", ranges: [] };
        const inTheMiddle = yield* Effect.flip(remove(segment, null));
        assert.strictEqual(inTheMiddle._tag, "RetentionOutdated");
        yield* forget;
        yield* retain(options());
        assert.isBelow(yield* count, before);
      }),
  );

  it.effect("[PG-07] retention was looked over for the newest migration", () =>
    Effect.gen(function* () {
      const files = yield* readMigrations();
      assert.strictEqual(
        files.at(-1)?.id,
        knownMigration,
        "does the new migration hold something of a run? See server/retention/known-schema.ts",
      );
    }),
  );
});
