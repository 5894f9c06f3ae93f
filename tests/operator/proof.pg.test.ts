/** The export over real HTTP: what the server hands out holds, and one changed byte in its database does not. */
import { Effect } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { afterAll, assert, beforeAll, it } from "vitest";
import { makeProofVerifier } from "#lib/proof/verify-proof.ts";
import { startApi, type TestApi, type TestOperator } from "#tests/support/api-server.ts";
import { gatedRun } from "#tests/support/ledger-fixtures.ts";

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
  assert.notProperty(JSON.parse(link ?? "{}"), "body");
  assert.deepStrictEqual(
    report(lines).faults.filter(({ check }) => check === "chain" || check === "file"),
    [],
  );
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
