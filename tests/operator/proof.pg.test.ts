/** The export over real HTTP: what the server hands out holds, and one changed byte in its database does not. */
import { Effect, Result, Stream } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { afterAll, assert, beforeAll, it } from "vitest";
import { makeProofVerifier } from "#lib/proof/verify-proof.ts";
import { retain } from "#server/retention/retain.ts";
import { recordBytesPerAnswer } from "#server/views/list-records.ts";
import { proofLines, recordBytesPerPage } from "#server/views/proof-pack.ts";
import { startApi, type TestApi, type TestOperator } from "#tests/support/api-server.ts";
import { gatedRun, startedRun } from "#tests/support/ledger-fixtures.ts";

let api: TestApi;
let ann: TestOperator;
let ids = 0;
beforeAll(async () => {
  api = await startApi();
  ann = await api.addOperator("operator");
});
afterAll(() => api.close());

const exported = async (runId: string) => {
  const answer = await api.request(`/runs/${runId}/proof`, {
    token: ann.token,
    body: { commandId: `proof-command-${(ids += 1)}` },
  });
  assert.strictEqual(answer.status, 200);
  return { ...answer, lines: answer.text.split("\n") };
};
const report = (lines: ReadonlyArray<string>) => {
  const verifier = makeProofVerifier();
  for (const line of lines) verifier.take(line);
  return verifier.end();
};

/** A run with a decision that has reached it; the fixture's digests are stand-ins, so only the chains can hold. */
const decidedRun = async () => {
  const run = await api.run(gatedRun());
  const requestId = run.requestIds[0] ?? "";
  const decision = { decision: "approved", parametersDigest: "a".repeat(64), reason: "" };
  for (const commandId of ["first", "second"])
    await api.request(`/approvals/${requestId}/decision`, {
      token: ann.token,
      body: { ...decision, commandId: `${commandId}-${run.place.runId}` },
    });
  return { runId: run.place.runId, requestId };
};

it("[C099][PG-02] the pack holds chain, audit and end, its own export and the refused second answer included", async () => {
  const { runId, requestId } = await decidedRun();
  const { lines, headers } = await exported(runId);
  assert.include(headers.get("content-disposition"), `proof-${runId}.ndjson`);
  const { faults, checked } = report(lines);
  assert.deepStrictEqual(
    faults.filter(({ check }) => check !== "approved"),
    [],
  );
  assert.match(checked.chain, /^5 records/);
  const audit = lines
    .filter((line) => line.startsWith('{"kind":"audit"'))
    .map((line) => JSON.parse(line));
  assert.deepStrictEqual(
    audit.map(({ verb, accepted, target }) => [verb, accepted, target]),
    [
      ["decide-approval", true, requestId],
      ["decide-approval", false, requestId],
      ["export-proof", true, runId],
    ],
  );
});

it("[C042][PG-02] a record of another run between joins the chain without a word of what it says", async () => {
  const { runId } = await decidedRun();
  await api.run(
    Effect.flatMap(
      SqlClient,
      // The column says whose the record is; the digest is of its place and text alone.
      (sql) => sql`UPDATE journal_records SET run_id = 'run_of_another'
        WHERE run_id = ${runId} AND sequence = 2`,
    ),
  );
  const { lines } = await exported(runId);
  const [link, ...more] = lines.filter((line) => line.startsWith('{"kind":"link"'));
  assert.deepStrictEqual(more, []);
  assert.deepStrictEqual(Object.keys(JSON.parse(link ?? "{}").seal), ["state", "bytes"]);
  assert.notProperty(JSON.parse(link ?? "{}"), "body");
  assert.deepStrictEqual(
    report(lines).faults.filter(({ check }) => check === "chain" || check === "file"),
    [],
  );
});

it("[C098][PG-02] another run's record that was changed in the database is found by its seal", async () => {
  const { runId } = await decidedRun();
  await api.run(
    Effect.flatMap(
      SqlClient,
      (sql) => sql`UPDATE journal_records SET run_id = 'run_of_another', body = body || ' '
        WHERE run_id = ${runId} AND sequence = 2`,
    ),
  );
  const { faults } = report((await exported(runId)).lines);
  assert.deepInclude(faults, {
    check: "chain",
    where: "record 2",
    message: "Its content is not what was digested.",
  });
});

it("[C098][C099] an export whose run is put away meanwhile fails, and never ends as if it were whole", async () => {
  const run = await api.run(
    Effect.gen(function* () {
      const { append, place, records } = yield* startedRun();
      const text = "x".repeat(recordBytesPerPage);
      for (let turn = 1; turn <= 2; turn++) yield* append([{ ...records.turn([]), turn, text }]);
      yield* append([records.runSettled()]);
      yield* Effect.flatMap(
        SqlClient,
        (sql) => sql`UPDATE submissions SET settled_at = now() - interval '100 days'
          WHERE run_id = ${place.runId}`,
      );
      return place;
    }),
  );
  const kinds: Array<string> = [];
  const ended = await api.run(
    Effect.gen(function* () {
      const lines = yield* proofLines(run.tenantId, run.runId, {
        kind: "operator",
        id: "ann",
        name: "Ann",
      });
      return yield* Effect.result(
        Stream.runForEach(lines, (line) => {
          const isFirst = !kinds.includes("record") && line.startsWith('{"kind":"record"');
          kinds.push(JSON.parse(line).kind);
          return isFirst
            ? retain({ olderThanSeconds: 86_400, folder: undefined, onProgress: () => Effect.void })
            : Effect.void;
        }),
      );
    }),
  );
  assert.isTrue(Result.isFailure(ended), kinds.join());
  assert.include(
    Result.isFailure(ended) ? ended.failure.message : "",
    "was put away while its proof was exported",
  );
  // The rows of the audit come last: a pack with them would look whole.
  assert.notInclude(kinds, "audit");
});

it("[C098] a run of large records is read in pages of bytes, by the export and by the list of records", async () => {
  const { place, append, records } = await api.run(startedRun());
  const large = "x".repeat(700_000);
  for (let turn = 0; turn < 6; turn += 1)
    await api.run(append([{ ...records.turn([]), turn: turn + 1, text: large }]));
  const pages = await api.run(
    Effect.flatMap(
      proofLines(place.tenantId, place.runId, { kind: "operator", id: "op", name: "Op" }),
      (lines) =>
        Stream.runFold(
          Stream.chunks(lines),
          (): ReadonlyArray<number> => [],
          (sizes, page) => [...sizes, page.reduce((sum, line) => sum + line.length, 0)],
        ),
    ),
  );
  assert.isAtMost(Math.max(...pages), recordBytesPerPage + 800_000);
  assert.isAbove(pages.length, 3);

  const read: Array<number> = [];
  let cursor = "";
  do {
    const answer = await api.request(`/runs/${place.runId}/records?limit=200${cursor}`, {
      token: ann.token,
    });
    assert.strictEqual(answer.status, 200);
    assert.isAtMost(answer.text.length, recordBytesPerAnswer + 900_000);
    read.push(...answer.body.items.map(({ sequence }: { sequence: number }) => sequence));
    cursor = answer.body.next === undefined ? "" : `&cursor=${answer.body.next}`;
  } while (cursor !== "");
  assert.deepStrictEqual(read, [1, 2, 3, 4, 5, 6, 7, 8]);
});

it.each([
  [
    "a record's text",
    "UPDATE journal_records SET body = replace(body, 'hello', 'jello') WHERE run_id = ",
  ],
  [
    "an audit row",
    "UPDATE audit_log SET reason = 'other' WHERE verb = 'decide-approval' AND run_id = ",
  ],
])("[C098] %s that was changed in the database is found in the pack", async (_, statement) => {
  const { runId } = await decidedRun();
  const before = report((await exported(runId)).lines).faults.length;
  await api.run(Effect.flatMap(SqlClient, (sql) => sql`${sql.literal(statement)} ${runId}`));
  const { faults } = report((await exported(runId)).lines);
  assert.isAbove(faults.length, before);
});
