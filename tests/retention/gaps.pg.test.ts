/** Settled runs leave from between the records of work that is unsettled, and the chain is checked across the gap. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { assert, layer } from "@effect/vitest";
import * as Effect from "effect/Effect";
import * as Stream from "effect/Stream";
import type { Actor } from "#lib/contract/records.ts";
import { makeProofVerifier } from "#lib/proof/verify-proof.ts";
import { checkArchive } from "#server/retention/check-archive.ts";
import { retain } from "#server/retention/retain.ts";
import { proofLines } from "#server/views/proof-pack.ts";
import { claimOf, resolve } from "#tests/postgres/people.ts";
import { recordsOf, type RunPlace } from "#tests/postgres/records.ts";
import { admit, claimed, rows, store, writerOf } from "#tests/postgres/store.ts";
import {
  age,
  archivesIn,
  faultsOf,
  folderOf,
  options,
  passKilledAt,
  settledRun,
  tablesWith,
} from "#tests/support/retention.ts";

const exporter: Actor = { kind: "operator", id: "ada", name: "Ada" };

/** Everything that is stored of a run, as text. */
const storedOf = (place: RunPlace) =>
  Effect.forEach(
    ["journal_records", "runs", "submissions", "tool_calls", "unknown_outcomes"],
    (table) =>
      rows(`SELECT row_to_json(t)::text AS row FROM ${table} t WHERE run_id = $1 ORDER BY 1`, [
        place.runId,
      ]),
  );

/** Parks a run on a doubt and lets two others of its thread pass; one of them ran in its middle. */
const parkedBetween = Effect.fnUntraced(function* (tenant: string) {
  const before = yield* settledRun(tenant);
  const { place: parked } = yield* admit({ tenant, threadId: before.threadId });
  const claim = yield* claimed(parked);
  const of = recordsOf(parked);
  const writer = writerOf(claim);
  yield* writer.append([of.opened(), of.attempt(), of.turn(["c1"]), of.prepared("c1")]);
  yield* writer.append([of.unknown("c1"), of.suspended("unknown")]);
  const passed = yield* settledRun(tenant, before);
  return { before, parked, passed };
});

/** Answers the doubt and ends the run. */
const finishParked = Effect.fnUntraced(function* (parked: RunPlace) {
  yield* resolve(parked, "c1");
  yield* rows("UPDATE submissions SET state = 'ready', due_at = now() WHERE run_id = $1", [
    parked.runId,
  ]);
  const claim = yield* Effect.flatMap(claimOf(parked), Effect.fromOption);
  assert.strictEqual(claim.runId, parked.runId);
  const of = recordsOf(parked);
  yield* writerOf(claim).append([
    of.attempt(2),
    ...claim.undelivered,
    of.settled("c1"),
    of.runSettled(),
  ]);
});

layer(store, { excludeTestServices: true })("gaps in a journal", (it) => {
  it.effect(
    "[PG-01][PG-02][DU-04] settled runs go from before and behind unsettled work, which stays as it is, verifies and goes on",
    () =>
      Effect.gen(function* () {
        const tenant = "gaps";
        const folder = yield* folderOf;
        const { before, parked, passed } = yield* parkedBetween(tenant);
        yield* age(before, 100);
        yield* age(passed, 100);
        const stored = yield* storedOf(parked);
        const report = yield* retain(options({ folder }));
        assert.deepStrictEqual([report.runs, report.records, report.held], [2, 14, 0]);
        assert.deepStrictEqual(yield* tablesWith(before), []);
        assert.deepStrictEqual(yield* tablesWith(passed), []);
        assert.deepStrictEqual(yield* storedOf(parked), stored);
        assert.deepStrictEqual(yield* faultsOf(tenant), []);
        const [name] = archivesIn(folder);
        const check = yield* checkArchive(folder, name ?? "");
        assert.deepStrictEqual([check.faults, check.records, check.segments.length], [[], 14, 1]);

        yield* finishParked(parked);
        assert.deepStrictEqual(yield* faultsOf(tenant), []);
        const later = yield* settledRun(tenant, before);
        assert.deepStrictEqual(yield* faultsOf(tenant), []);
        // Its own records stand around the gap; when it goes too, the gaps are one.
        yield* age(parked, 100);
        assert.strictEqual((yield* retain(options({ folder }))).runs, 1);
        assert.include(yield* tablesWith(later), "journal_records");
        assert.deepStrictEqual(
          yield* rows("SELECT count(*)::int AS n FROM journal_gaps WHERE tenant_id = $1", [tenant]),
          [{ n: 0 }],
        );
        assert.deepStrictEqual(yield* faultsOf(tenant), []);
      }).pipe(Effect.scoped),
  );

  it.effect(
    "[PG-02] a gap that says another digest, or hides records that are not gone, is a fault",
    () =>
      Effect.gen(function* () {
        const tenant = "false-gap";
        const { before, parked, passed } = yield* parkedBetween(tenant);
        yield* age(passed, 100);
        yield* retain(options());
        assert.deepStrictEqual(yield* faultsOf(tenant), []);
        const kinds = Effect.map(faultsOf(tenant), (faults) =>
          faults.map((fault) => (fault as { readonly kind: string }).kind).toSorted(),
        );
        const set = (column: string, value: string) =>
          rows(`UPDATE journal_gaps SET ${column} = $2 WHERE tenant_id = $1`, [tenant, value]);
        const [gap] = yield* rows("SELECT * FROM journal_gaps WHERE tenant_id = $1", [tenant]);
        yield* set("after_digest", "0".repeat(64));
        assert.deepStrictEqual(yield* kinds, ["gap", "tail"]);
        yield* set("after_digest", String(gap?.["after_digest"]));
        yield* set("through_digest", "0".repeat(64));
        assert.deepStrictEqual(yield* kinds, ["tail"]);
        yield* set("through_digest", String(gap?.["through_digest"]));
        assert.deepStrictEqual(yield* kinds, []);
        // Somebody takes a record of the unsettled run away and writes a gap that begins one record earlier.
        yield* rows("DELETE FROM journal_records WHERE run_id = $1 AND kind = 'RunSuspended'", [
          parked.runId,
        ]);
        assert.include(yield* kinds, "gap");
        assert.include(yield* tablesWith(before), "journal_records");
      }),
  );

  it.effect("[PG-02] the proof of a run around a gap holds", () =>
    Effect.gen(function* () {
      const tenant = "proof-gap";
      const { before, parked, passed } = yield* parkedBetween(tenant);
      yield* age(before, 100);
      yield* age(passed, 100);
      yield* retain(options());
      yield* finishParked(parked);
      const lines = yield* Effect.flatMap(
        proofLines(parked.tenantId, parked.runId, exporter),
        Stream.runCollect,
      );
      const isLink = (line: string) => line.startsWith('{"kind":"link"');
      const faults = (pack: ReadonlyArray<string>) => {
        const verifier = makeProofVerifier();
        for (const line of pack) verifier.take(line);
        return verifier.end().faults.filter(({ check }) => check === "chain");
      };
      assert.deepStrictEqual(faults(lines), []);
      assert.strictEqual(lines.filter(isLink).length, 7);
      assert.notInclude(lines.join(), passed.runId);
      // Every digest across the gap is made again: one that was changed there is met.
      const last = lines.findLastIndex(isLink);
      const forged = lines.with(last, (lines[last] ?? "").replace(/"epoch":\d+/, '"epoch":9'));
      assert.notDeepEqual(faults(forged), []);
    }),
  );

  it.effect(
    "[PG-09] a run stands in one archive, also when a pass with another folder comes between",
    () =>
      Effect.gen(function* () {
        const tenant = "one-file";
        const folder = yield* folderOf;
        const other = yield* folderOf;
        const place = yield* settledRun(tenant);
        yield* age(place, 100);
        // As if the process had died after the file and before the rows.
        yield* passKilledAt("DELETE", "journal_records", folder);
        for (const elsewhere of [other, undefined]) {
          const report = yield* retain(options({ folder: elsewhere }));
          assert.deepStrictEqual([report.runs, report.held], [0, 1]);
        }
        assert.deepStrictEqual(archivesIn(other), []);
        const report = yield* retain(options({ folder }));
        assert.deepStrictEqual([report.runs, report.held, archivesIn(folder).length], [1, 0, 1]);
        assert.deepStrictEqual(yield* tablesWith(place), []);
      }).pipe(Effect.scoped),
  );

  it.effect(
    "[PG-09] runs of a file that never got its name go into the next one, and into no other",
    () =>
      Effect.gen(function* () {
        const tenant = "no-name";
        const folder = yield* folderOf;
        const place = yield* settledRun(tenant);
        yield* age(place, 100);
        // The row is there, the file is not: the process died between them.
        yield* passKilledAt("UPDATE", "archives", folder);
        const [lost] = archivesIn(folder);
        yield* Effect.sync(() => {
          for (const name of readdirSync(folder)) rmSync(path.join(folder, name));
        });
        const report = yield* retain(options({ folder }));
        assert.deepStrictEqual([report.runs, report.held], [1, 0]);
        const [name] = archivesIn(folder);
        assert.notStrictEqual(name, lost);
        assert.include(readFileSync(path.join(folder, name ?? ""), "utf8"), place.runId);
        const [row] = yield* rows("SELECT count(*)::int AS n FROM archives WHERE tenant_id = $1", [
          tenant,
        ]);
        assert.deepStrictEqual(row, { n: 1 });
      }).pipe(Effect.scoped),
  );
});
