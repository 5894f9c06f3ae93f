/** What the seed writes is what the runtime would have written: within budgets, and asked for by each tool's own rule. */
import { Effect, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { afterAll, assert, beforeAll, it } from "vitest";
import { TenantId } from "#lib/contract/ids.ts";
import { orderRecheck, retailDesk } from "#server/demo/RetailDesk.ts";
import { writeLongRun } from "#server/seed/large-runs.ts";
import { writeSmallRun } from "#server/seed/small-runs.ts";
import { startApi, type TestApi, type TestOperator } from "#tests/support/api-server.ts";

const tenantId = TenantId.make("default");
const smallRuns = 15;
const longEvents = 3_000;

let api: TestApi;
let viewer: TestOperator;
beforeAll(async () => {
  api = await startApi();
  viewer = await api.addOperator("viewer");
  await api.run(
    Effect.gen(function* () {
      for (let number = 0; number < smallRuns; number++) yield* writeSmallRun(tenantId, number);
      yield* writeLongRun(tenantId, longEvents);
    }),
  );
});
afterAll(() => api.close());

const get = async (path: string) => {
  const answer = await api.request(path, { token: viewer.token });
  assert.strictEqual(answer.status, 200, answer.text);
  return answer.body;
};

const Run = Schema.Struct({ agent: Schema.String, turns: Schema.Int, calls: Schema.Int });

it("[A-03] a seeded request acts on the order of its own arguments, in the words of its tool", async () => {
  const { items } = await get("/approvals?limit=100");
  assert.isAtLeast(items.length, 20);
  for (const { requestId, summary } of items) {
    const { content } = await get(`/approvals/${requestId}`);
    const { amount, order_id: order } = content.effectiveParameters;
    assert.deepInclude(content.targets, { kind: "order", id: order });
    assert.include(summary, `Refund $${amount} for order ${order}`);
    assert.isAbove(Number(amount), 100);
  }
});

it("[RT-01] no seeded run has more turns or calls than its agent's budget", async () => {
  const rows = await api.run(
    Effect.flatMap(
      SqlClient,
      (sql) => sql`SELECT agent_id AS agent, turns, tool_calls AS calls FROM runs`,
    ),
  );
  const runs = rows.map((row) => Schema.decodeUnknownSync(Run)(row));
  assert.strictEqual(runs.length, smallRuns + 1);
  for (const { agent, calls, turns } of runs) {
    const { policy } = agent === retailDesk.id ? retailDesk : orderRecheck;
    assert.isAtMost(turns, policy.maxTurns);
    assert.isAtMost(calls, policy.maxToolCalls);
  }
  // A run of the seed's own length stays within them too.
  const long = runs.find(({ agent }) => agent === orderRecheck.id);
  const times = 50_000 / longEvents;
  assert.isAtMost((long?.turns ?? 0) * times, orderRecheck.policy.maxTurns);
  assert.isAtMost((long?.calls ?? 0) * times, orderRecheck.policy.maxToolCalls);
});
