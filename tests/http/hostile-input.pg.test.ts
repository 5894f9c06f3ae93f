/** Whatever is sent, the answer is one of the contract's, never a failure of the server. */
import fc from "fast-check";
import { afterAll, assert, beforeAll, it } from "vitest";
import { startApi, type TestApi, type TestOperator } from "#tests/support/api-server.ts";
import { gatedRun, unknownRun } from "#tests/support/ledger-fixtures.ts";

let api: TestApi;
let admin: TestOperator;
let requestId = "";
let unknownId = "";

beforeAll(async () => {
  api = await startApi();
  admin = await api.addOperator("admin");
  requestId = (await api.run(gatedRun())).requestIds[0] ?? "";
  unknownId = (await api.run(unknownRun())).unknownId;
});
afterAll(() => api.close());

const hostile = fc.oneof(
  fc.constantFrom(
    "\u0000",
    "\ud800",
    "'; DROP TABLE runs; --",
    "../../etc",
    "__proto__",
    "%00",
    "\u202e",
    "",
  ),
  fc.string({ unit: "binary", maxLength: 40 }),
);

it("[PG-06] bodies of any JSON are refused or taken, never a 500", async () => {
  const paths = () => [
    "/session",
    "/me/password",
    "/operators/sign-in-links",
    "/submissions",
    `/approvals/${requestId}/decision`,
    `/approvals/${requestId}/extend`,
    `/unknowns/${unknownId}/resolution`,
  ];
  const field = fc.oneof(hostile, fc.jsonValue({ maxDepth: 3 }));
  const names = [
    "commandId",
    "decision",
    "parametersDigest",
    "reason",
    "seconds",
    "resolution",
    "result",
    "evidence",
    "agentId",
    "input",
    "threadId",
    "email",
    "password",
    "token",
    "name",
    "role",
    "__proto__",
  ];
  const body = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...names), field));
  await fc.assert(
    fc.asyncProperty(fc.nat(6), body, async (at, drawn) => {
      const answer = await api.request(paths()[at] ?? "", {
        token: admin.token,
        body: drawn,
        headers: { "idempotency-key": "hostile-key-1" },
      });
      assert.notStrictEqual(answer.status, 500, JSON.stringify(drawn));
      if (answer.status >= 400) assert.isString(answer.body._tag);
    }),
    { numRuns: 150 },
  );
});

it("[PG-06] well-formed commands with hostile text are stored as text or refused", async () => {
  await fc.assert(
    fc.asyncProperty(
      hostile,
      hostile,
      fc.jsonValue({ maxDepth: 2 }),
      fc.nat(),
      async (reason, evidence, extra, n) => {
        const { unknownId: fresh } = await api.run(unknownRun());
        const answer = await api.request(`/unknowns/${fresh}/resolution`, {
          token: admin.token,
          body: {
            commandId: `hostile-${n}`,
            resolution: "completed-with-result",
            result: { ok: true, extra },
            parametersDigest: "a".repeat(64),
            reason,
            evidence,
          },
        });
        assert.include([200, 409, 422], answer.status, JSON.stringify({ reason, evidence, extra }));
      },
    ),
    { numRuns: 40 },
  );
});

it("[PG-06] any query and any path is answered or refused, never a 500", async () => {
  const lists = [
    "/runs",
    "/approvals",
    "/unknowns",
    "/denials",
    "/diagnostics",
    "/audit",
    "/obligations",
    "/agents",
  ];
  const keys = [
    "state",
    "agentId",
    "threadId",
    "tool",
    "failureTag",
    "outcome",
    "from",
    "to",
    "text",
    "cursor",
    "limit",
    "kind",
    "verb",
    "actorId",
    "accepted",
    "fingerprint",
    "runId",
  ];
  const value = fc.oneof(
    hostile,
    fc.integer().map(String),
    fc.constantFrom("failed", "1e400", "9".repeat(30), "-1"),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...lists),
      fc.option(hostile),
      fc.array(fc.tuple(fc.constantFrom(...keys), value), { maxLength: 4 }),
      async (list, id, pairs) => {
        const query = new URLSearchParams(pairs).toString();
        const path = id === null ? list : `${list}/${encodeURIComponent(id.toWellFormed())}`;
        const answer = await api.request(`${path}?${query}`, { token: admin.token });
        assert.notStrictEqual(answer.status, 500, `${path}?${query}`);
      },
    ),
    { numRuns: 250 },
  );
});
