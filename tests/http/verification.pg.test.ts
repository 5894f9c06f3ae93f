/** Verifying over the API: who may, what is found, and what is written down about it. */
import { Effect } from "effect";
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import { SqlClient } from "effect/unstable/sql";
import type { JournalVerification } from "#lib/contract/verification.ts";
import {
  type Answer,
  startApi,
  type TestApi,
  type TestOperator,
} from "#tests/support/api-server.ts";
import { retain } from "#server/retention/retain.ts";
import { gatedRun, startedRun } from "#tests/support/ledger-fixtures.ts";

let api: TestApi;
let operator: TestOperator;
beforeAll(async () => {
  api = await startApi();
  operator = await api.addOperator("operator");
});
afterAll(() => api.close());

describe("POST /runs/:runId/verification", () => {
  it("[PG-02][OP-09] a sound thread has no fault, an altered one is named, and both looks are audited", async () => {
    const { place } = await api.run(gatedRun());
    const verify = async (): Promise<JournalVerification> => {
      const answer = await api.request(`/runs/${place.runId}/verification`, {
        method: "POST",
        token: operator.token,
      });
      assert.strictEqual(answer.status, 200);
      return answer.body;
    };
    const sound = await verify();
    assert.deepStrictEqual(sound.faults, []);
    assert.isAbove(sound.records, 2);
    await api.run(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) =>
          sql`UPDATE journal_records SET body = body || ' ' WHERE run_id = ${place.runId} AND sequence = 1`,
      ),
    );
    const broken = await verify();
    assert.deepStrictEqual(
      broken.faults.map(({ kind, where, sequence }) => [kind, where, sequence]),
      [["digest", place.threadId, 1]],
    );
    const audit = await api.request("/audit?verb=verify-journal", { token: operator.token });
    assert.deepStrictEqual(
      audit.body.items.map((row: Answer) => [row.target, row.runId, row.after]),
      [
        [place.threadId, place.runId, { records: sound.records, faults: 1 }],
        [place.threadId, place.runId, { records: sound.records, faults: 0 }],
      ],
    );
  });
});

describe("a run that was put away because of its age", () => {
  it("[PG-01] says so where its page is asked for, and a run that never was does not", async () => {
    const place = await api.run(
      Effect.gen(function* () {
        const run = yield* startedRun();
        yield* run.append([run.records.runSettled()]);
        return run.place;
      }),
    );
    await api.run(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`UPDATE submissions SET settled_at = now() - interval '100 days'
          WHERE run_id = ${place.runId}`,
      ),
    );
    await api.run(
      retain({ olderThanSeconds: 86_400, folder: undefined, onProgress: () => Effect.void }),
    );
    const get = (path: string, method = "GET", body?: unknown) =>
      api.request(path, {
        token: operator.token,
        method,
        ...(body === undefined ? {} : { body }),
      });
    for (const [path, method, body] of [
      [`/runs/${place.runId}`, "GET"],
      [`/runs/${place.runId}/records`, "GET"],
      [`/runs/${place.runId}/verification`, "POST"],
      [`/runs/${place.runId}/moments/5`, "GET"],
      [`/runs/${place.runId}/explanation`, "GET"],
      [`/runs/${place.runId}/turns/1/body?callId=c1&body=wholeResult`, "GET"],
      [`/runs/${place.runId}/proof`, "POST", { commandId: "proof-of-an-archived-run" }],
    ] as const) {
      const answer = await get(path, method, body);
      assert.strictEqual(answer.status, 410, path);
      assert.strictEqual(answer.body._tag, "RunArchived");
      assert.strictEqual(answer.body.outcome, "completed");
      assert.isNull(answer.body.archive);
    }
    assert.strictEqual((await get("/runs/run_none")).status, 404);
    const stranger = await api.addOperator("admin", "other");
    const foreign = await api.request(`/runs/${place.runId}`, { token: stranger.token });
    assert.strictEqual(foreign.status, 404);
  });
});
