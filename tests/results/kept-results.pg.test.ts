/** What is kept of large results on PostgreSQL: checked, archived and removed with its run. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { assert, layer } from "@effect/vitest";
import * as Effect from "effect/Effect";
import { largeResult } from "#lib/testing/conformance/result-cases.ts";
import { rebuildProjections } from "#server/postgres/rebuild-projections.ts";
import { verifyTenant } from "#server/postgres/verify-journal.ts";
import { checkArchive } from "#server/retention/check-archive.ts";
import { restoreArchive } from "#server/retention/restore-archive.ts";
import { retain } from "#server/retention/retain.ts";
import { recordsOf, type RunPlace } from "#tests/postgres/records.ts";
import { rows, started, store } from "#tests/postgres/store.ts";
import { age, folderOf, options } from "#tests/support/retention.ts";

/** A settled run with two large results in its seven records: the fourth and fifth name them. */
const settledRun = Effect.fnUntraced(function* (tenant: string) {
  const { place, writer } = yield* started({ tenant });
  const of = recordsOf(place);
  yield* writer.append([of.opened(), of.attempt(), of.turn(["c1", "c2"])]);
  const large = ["c1", "c2"].map((id) =>
    largeResult(place, of, id, { text: `${id} ß\u0000`.repeat(20_000) }),
  );
  yield* writer.append(
    large.map(({ record }) => record),
    [],
    large.map(({ result }) => result),
  );
  yield* writer.append([of.turn([], { turn: 2 }), of.runSettled()]);
  return place;
});

const faultsOf = (tenant: string) =>
  Effect.gen(function* () {
    const faults: Array<readonly [string, number | null]> = [];
    yield* verifyTenant(tenant, (part) =>
      Effect.sync(() =>
        faults.push(...part.faults.map(({ kind, sequence }) => [kind, sequence] as const)),
      ),
    );
    return faults;
  });

const change = (place: RunPlace, statement: string) =>
  rows(`${statement} WHERE run_id = $1 AND call_id = 'c1'`, [place.runId]);

layer(store, { excludeTestServices: true })("kept results on PostgreSQL", (it) => {
  it.effect(
    "[R52][PG-01] a run with large results has no fault, and its rebuild no difference",
    () =>
      Effect.gen(function* () {
        yield* settledRun("sound");
        assert.deepStrictEqual(yield* faultsOf("sound"), []);
        assert.deepStrictEqual((yield* rebuildProjections("sound")).differences, []);
      }),
  );

  for (const [what, statement, expected] of [
    ["altered by one character", "UPDATE kept_results SET body = replace(body, 'ß', 'é')", [4]],
    [
      "altered together with its digest column",
      "UPDATE kept_results SET body = '{}', digest = encode(sha256('{}'), 'hex')",
      [4],
    ],
    ["gone", "DELETE FROM kept_results", [4]],
    ["put under another run", "UPDATE kept_results SET run_id = 'run_other'", [null, 4]],
  ] as const)
    it.effect(`[R52][PG-02] a text that is ${what} is a fault, and its run is not archived`, () =>
      Effect.gen(function* () {
        const tenant = `altered-${what}`.replaceAll(" ", "-");
        const place = yield* settledRun(tenant);
        yield* change(place, statement);
        assert.deepStrictEqual(
          yield* faultsOf(tenant),
          expected.map((sequence) => ["result", sequence]),
        );
        yield* age(place, 100);
        const report = yield* retain(options());
        assert.deepStrictEqual([report.runs, report.faulty], [0, 1]);
        // Out of the way of the other cases.
        yield* rows("UPDATE submissions SET settled_at = now() WHERE run_id = $1", [place.runId]);
      }),
    );

  it.effect(
    "[R52][PG-01] retention takes the texts out with their run, into an archive that is checked against the records",
    () =>
      Effect.gen(function* () {
        const folder = yield* folderOf;
        const place = yield* settledRun("old");
        const kept = yield* rows(
          "SELECT result_id, body FROM kept_results WHERE run_id = $1 ORDER BY call_id",
          [place.runId],
        );
        assert.strictEqual(kept.length, 2);
        yield* age(place, 100);
        assert.strictEqual((yield* retain(options({ folder }))).runs, 1);
        const [left] = yield* rows(
          "SELECT count(*)::int AS n FROM kept_results WHERE run_id = $1",
          [place.runId],
        );
        assert.strictEqual(left?.["n"], 0);
        assert.deepStrictEqual(yield* faultsOf("old"), []);
        const [name = ""] = readdirSync(folder).filter((one) => one.endsWith(".jsonl"));
        const file = path.join(folder, name);
        const text = readFileSync(file, "utf8");
        for (const row of kept) assert.include(text, JSON.stringify(row["body"]).slice(1, -1));
        assert.deepStrictEqual((yield* checkArchive(folder, name)).faults, []);
        // Brought back, they are what they were; then they go again.
        yield* restoreArchive(file);
        const back = yield* rows(
          "SELECT result_id, body FROM kept_results WHERE run_id = $1 ORDER BY call_id",
          [place.runId],
        );
        assert.deepStrictEqual(back, kept);
        assert.deepStrictEqual(yield* faultsOf("old"), []);
        // The manifest's digest tells that the file was touched; the record tells where.
        const kinds = Effect.map(checkArchive(folder, name), ({ faults }) =>
          faults.map(({ kind, sequence }) => [kind, sequence]),
        );
        writeFileSync(file, text.replace("c1 ß", "c1 é"));
        assert.deepStrictEqual(yield* kinds, [
          ["archive", null],
          ["result", 4],
        ]);
        const lines = text.split("\n").filter((line) => !line.includes('"table":"kept_results"'));
        writeFileSync(file, lines.join("\n"));
        assert.deepStrictEqual(yield* kinds, [
          ["archive", null],
          ["result", 4],
          ["result", 5],
        ]);
      }).pipe(Effect.scoped),
  );
});
