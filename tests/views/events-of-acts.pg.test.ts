/** What leads from an act of the audit to its own moment reads the act's events, not the run's. */
import { Effect } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { afterAll, assert, beforeAll, it } from "vitest";
import { readEventsOfActs } from "#server/views/moment-place.ts";
import { inSnapshot } from "#server/views/snapshot.ts";
import { startApi, type TestApi, type TestOperator } from "#tests/support/api-server.ts";
import { gatedRun } from "#tests/support/ledger-fixtures.ts";

let api: TestApi;
let ann: TestOperator;
beforeAll(async () => {
  api = await startApi();
  ann = await api.addOperator("operator");
});
afterAll(() => api.close());

const times = 12;
const calls = ["c1", "c2", "c3"];

it("[OP-09][C097] each of a person's many acts on one request has its own event, read without the rest of the run's", async () => {
  const expiresAt = Date.now() + 3_600_000;
  const { place, requestIds } = await api.run(gatedRun({ calls, expiresAt }));
  for (let time = 0; time < times; time++)
    for (const requestId of requestIds) {
      const extended = await api.request(`/approvals/${requestId}/extend`, {
        token: ann.token,
        body: {
          commandId: `extend-${time}-${requestId}`,
          seconds: 7_200 + time,
          reason: "not yet",
        },
      });
      assert.strictEqual(extended.status, 200, extended.text);
    }
  const audit = async () =>
    (await api.request(`/audit?runId=${place.runId}&limit=100`, { token: ann.token })).body.items;
  // The log's own order is given after the acts.
  let acts = await audit();
  for (
    let tries = 0;
    tries < 100 && acts.some((act: { moment?: number }) => act.moment === undefined);
    tries++
  ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    acts = await audit();
  }
  assert.strictEqual(acts.length, times * calls.length);
  const moments = acts.map((act: { moment: number }) => act.moment);
  assert.deepStrictEqual(
    moments,
    moments.toSorted((one: number, two: number) => two - one),
  );
  assert.strictEqual(new Set(moments).size, acts.length);

  const [act] = acts;
  const read = await api.run(
    inSnapshot(
      place.tenantId,
      readEventsOfActs(place.tenantId, [
        { runId: place.runId, target: act.target, at: act.at, kinds: ["ApprovalExtended"] },
      ]),
    ),
  );
  // Of 36 extensions and as many events beside them, the nearest few of this one request.
  assert.isAtMost(read.length, 8);
  for (const { event } of read)
    assert.deepInclude(event, { _tag: "ApprovalExtended", requestId: act.target });
  const all = await api.run(
    Effect.flatMap(
      SqlClient,
      (sql) => sql`SELECT FROM events WHERE run_id = ${place.runId} AND kind = 'ApprovalExtended'`,
    ),
  );
  assert.strictEqual(all.length, times * calls.length);
});
