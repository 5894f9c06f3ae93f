/** The command in a process of its own, killed in the middle, on a real PostgreSQL. */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { assert, layer } from "@effect/vitest";
import * as Effect from "effect/Effect";
import { recordsOf } from "#tests/postgres/records.ts";
import { rows, started, store, TestUrl } from "#tests/postgres/store.ts";
import { folderOf } from "#tests/support/retention.ts";

const root = path.resolve(import.meta.dirname, "../..");

/** Runs a command to its end, or kills it with -9 once this holds of its output, which is asked often. */
const run = (
  url: string,
  command: string,
  args: ReadonlyArray<string>,
  killAt?: (output: string) => boolean,
) =>
  Effect.promise(
    () =>
      new Promise<{ readonly code: number | null; readonly output: string }>((resolve) => {
        const child = spawn(
          process.execPath,
          ["--import", "tsx", path.join(root, "scripts", command), ...args],
          { cwd: root, env: { ...process.env, DATABASE_URL: url } },
        );
        let output = "";
        child.stdout.on("data", (chunk: Buffer) => {
          output += chunk.toString();
        });
        const watch = setInterval(() => {
          if (killAt?.(output) === true) child.kill("SIGKILL");
        }, 5);
        child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
        child.on("close", (code) => {
          clearInterval(watch);
          resolve({ code, output });
        });
      }),
  );

const archivedRuns = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => readFileSync(path.join(folder, name), "utf8").trimEnd().split("\n"))
    .flatMap((line): ReadonlyArray<string> => JSON.parse(line).runIds ?? [])
    .toSorted();

const threads = 160;

const settledRuns = Effect.fnUntraced(function* (tenant: string, count: number) {
  const settledRun = Effect.gen(function* () {
    const { place, writer } = yield* started({ tenant });
    const of = recordsOf(place);
    yield* writer.append([of.opened(), of.attempt(), of.turn(["c1"]), of.prepared("c1")]);
    yield* writer.append([of.settled("c1"), of.runSettled()]);
    return String(place.runId);
  });
  const made = yield* Effect.forEach(Array.from({ length: count }), () => settledRun, {
    concurrency: 6,
  });
  yield* rows("UPDATE submissions SET settled_at = now() - interval '100 days'");
  return made;
});

layer(store, { excludeTestServices: true })("npm run retention", (it) => {
  it.effect(
    "[PG-09] killed with -9 between its batches it loses no run and takes none twice when it is run again",
    () =>
      Effect.gen(function* () {
        const url = yield* TestUrl;
        const folder = yield* folderOf;
        const made = yield* settledRuns("killed", threads);
        const args = ["--older-than", "90d", "--archive", folder];
        // The second line: one batch is over, and the third has begun or is about to.
        const killed = yield* run(url, "retention.ts", args, (output) =>
          /records in [^\n]*\n[^\n]*records in /.test(output),
        );
        assert.isNull(killed.code, killed.output);
        const taken = archivedRuns(folder).length;
        assert.isTrue(taken > 0 && taken < threads, `${taken} runs were archived before the kill`);
        const again = yield* run(url, "retention.ts", args);
        assert.strictEqual(again.code, 0, again.output);
        assert.deepStrictEqual(archivedRuns(folder), made.toSorted());
        const left = yield* rows(
          "SELECT (SELECT count(*) FROM runs)::int AS runs, (SELECT count(*) FROM archived_runs)::int AS stones",
        );
        assert.deepStrictEqual(left, [{ runs: 0, stones: threads }]);
        const database = yield* run(url, "verify-journal.ts", []);
        assert.include(database.output, `verify: ${threads} threads, 0 records, 0 faults`);
        const archives = yield* run(url, "verify-journal.ts", ["--archive", folder]);
        assert.include(
          archives.output,
          `verify: ${threads} threads, ${threads * 6} records, 0 faults`,
        );
      }).pipe(Effect.scoped),
  );

  it.effect(
    "[PG-09] killed with -9 between a file and its rows, and gone on with elsewhere, every run stands in exactly one archive and comes back from it",
    () =>
      Effect.gen(function* () {
        const url = yield* TestUrl;
        const first = yield* folderOf;
        const second = yield* folderOf;
        const made = yield* settledRuns("between", 70);
        // Slow rows, so that the kill finds some of the first file's runs gone and some not.
        yield* rows(
          "CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.02); RETURN OLD; END'",
        );
        yield* rows(
          "CREATE TRIGGER slowly BEFORE DELETE ON runs FOR EACH ROW EXECUTE FUNCTION slowly()",
        );
        const age = ["--older-than", "90d", "--archive"];
        const killed = yield* run(url, "retention.ts", [...age, first], () =>
          readdirSync(first).some((name) => name.endsWith(".jsonl")),
        );
        assert.isNull(killed.code, killed.output);
        yield* rows("DROP FUNCTION slowly CASCADE");
        const [here] = yield* rows(
          "SELECT count(*)::int AS n FROM archived_copies WHERE tenant_id = 'between'",
        );
        assert.isAbove(Number(here?.["n"]), 0);
        const elsewhere = yield* run(url, "retention.ts", [...age, second]);
        assert.strictEqual(elsewhere.code, 1, elsewhere.output);
        assert.include(elsewhere.output, `${here?.["n"]} runs stay`);
        const again = yield* run(url, "retention.ts", [...age, first]);
        assert.strictEqual(again.code, 0, again.output);
        const archived = [...archivedRuns(first), ...archivedRuns(second)].toSorted();
        assert.deepStrictEqual(archived, made.toSorted());

        const [name] = readdirSync(second).filter((file) => file.endsWith(".jsonl"));
        const back = yield* run(url, "restore-archive.ts", [path.join(second, name ?? "")]);
        assert.strictEqual(back.code, 0, back.output);
        const inFile = archivedRuns(second).length;
        assert.include(back.output, `restore-archive: ${inFile} runs of ${inFile} threads`);
        const twice = yield* run(url, "restore-archive.ts", [path.join(second, name ?? "")]);
        assert.strictEqual(twice.code, 2, twice.output);
        assert.include(twice.output, "are here already");
        const verified = yield* run(url, "verify-journal.ts", ["--tenant", "between"]);
        assert.include(verified.output, `${inFile * 6} records, 0 faults`);
      }).pipe(Effect.scoped),
  );

  it.effect("[PG-02] a planted fault makes npm run verify-journal name it and end with 1", () =>
    Effect.gen(function* () {
      const url = yield* TestUrl;
      const { place, writer } = yield* started({ tenant: "planted" });
      yield* writer.append([recordsOf(place).opened(), recordsOf(place).attempt()]);
      yield* rows(
        "UPDATE journal_records SET body = replace(body, 'hello', 'hullo') WHERE run_id = $1",
        [place.runId],
      );
      const found = yield* run(url, "verify-journal.ts", ["--tenant", "planted"]);
      assert.strictEqual(found.code, 1, found.output);
      assert.match(
        found.output,
        new RegExp(
          `^fault {2}tenant planted {2}thread ${place.threadId} {2}record 1 {2}digest: expected [0-9a-f]{64}, seen [0-9a-f]{64}$`,
          "m",
        ),
      );
      assert.include(found.output, "verify: 1 threads, 2 records, 1 faults");
      const refused = yield* run(url, "retention.ts", ["--older-than", "soon"]);
      assert.strictEqual(refused.code, 2, refused.output);
    }),
  );
});
