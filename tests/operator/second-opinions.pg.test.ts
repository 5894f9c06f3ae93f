/** Suggestions, several approvers, fresh looks and who is looking, over real HTTP on a real database. */
import { Effect } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import type { RecordOf } from "#lib/contract/records.ts";
import { makeReadUndelivered } from "#server/postgres/undelivered.ts";
import { startApi, standing, type TestApi, type TestOperator } from "#tests/support/api-server.ts";
import { gatedRun, type GateOptions } from "#tests/support/ledger-fixtures.ts";

const digest = "a".repeat(64);
let api: TestApi;
let ann: TestOperator;
let bob: TestOperator;
let viewer: TestOperator;
let ids = 0;
const commandId = () => `command-${(ids += 1)}`;

beforeAll(async () => {
  api = await startApi();
  [ann, bob, viewer] = await Promise.all([
    api.addOperator("decider"),
    api.addOperator("decider"),
    api.addOperator("viewer"),
  ]);
});
afterAll(() => api.close());

const gate = async (options: GateOptions = {}) => {
  const run = await api.run(gatedRun(options));
  return { ...run, requestId: run.requestIds[0] ?? "" };
};
type Gate = Awaited<ReturnType<typeof gate>>;

const decide = (requestId: string, by: TestOperator, body: object) =>
  api.request(`/approvals/${requestId}/decision`, {
    token: by.token,
    body: {
      commandId: commandId(),
      decision: "approved",
      parametersDigest: digest,
      reason: "",
      ...body,
    },
  });
const deny = (requestId: string, suggestion: string, by = ann) =>
  decide(requestId, by, { decision: "denied", reason: "too much", suggestion });
const detail = async (requestId: string, by = ann) =>
  (await api.request(`/approvals/${requestId}`, { token: by.token })).body;

const auditOf = async (target: string) => {
  const admin = await api.addOperator("admin");
  const { body } = await api.request("/audit?limit=200", { token: admin.token });
  return body.items.filter((row: { target: string }) => row.target === target);
};

/** The record that the run's next claim would hear of the decision by. */
const decidedRecord = async ({ place }: Gate): Promise<RecordOf<"ApprovalDecided"> | undefined> => {
  const records = await api.run(
    Effect.flatMap(makeReadUndelivered, (read) =>
      read({ tenantId: place.tenantId, runId: place.runId }),
    ),
  );
  return records.find((record) => record._tag === "ApprovalDecided");
};

const loggedKinds = ({ place }: Gate) =>
  api.run(
    Effect.flatMap(
      SqlClient,
      (sql) => sql<{ kind: string }>`
        SELECT kind FROM event_inbox WHERE run_id = ${place.runId}
        UNION ALL SELECT kind FROM events WHERE run_id = ${place.runId}`,
    ),
  );

describe("denying with a suggested call", () => {
  it("[A-06][OP-05][C059] the typed arguments go to the run with the denial, are shown again and audited; the declared ones stay what they were", async () => {
    const run = await gate();
    const before = await detail(run.requestId);
    const answer = await deny(
      run.requestId,
      '{ "amount": 5, "note": null, "tags": [], "text": "5" }',
    );
    assert.strictEqual(answer.status, 200);
    const suggestion = { amount: 5, note: null, tags: [], text: "5" };
    assert.deepStrictEqual(answer.body.suggestion, suggestion);
    assert.strictEqual(answer.body.state, "denied");
    assert.deepStrictEqual(answer.body.content, before.content);
    const record = await decidedRecord(run);
    assert.deepStrictEqual(record?.suggestion, suggestion);
    assert.strictEqual(record?.parametersDigest, digest);
    const [audit] = await auditOf(run.requestId);
    assert.deepStrictEqual(audit.after.suggestion, suggestion);
  });

  it.each([
    ["no JSON", "{amount: 5}"],
    ["a number that a double would change", '{"amount": 9007199254740993}'],
    ["the same key twice", '{"amount": 5, "amount": 6}'],
    ["arguments that the tool's decoder refuses", '{"amount": "5"}'],
  ])(
    "[C059][T-15] %s is refused with the place, and the request stays pending",
    async (_, text) => {
      const { requestId } = await gate();
      const answer = await deny(requestId, text);
      assert.strictEqual(answer.status, 422);
      assert.strictEqual(answer.body.path, "body.suggestion");
      assert.strictEqual((await detail(requestId)).state, "pending");
    },
  );

  it("[OP-05] an approval never carries other arguments: what runs is what was declared", async () => {
    const { requestId } = await gate();
    const answer = await decide(requestId, ann, { suggestion: '{"amount": 5}' });
    assert.strictEqual(answer.status, 422);
    assert.strictEqual((await detail(requestId)).state, "pending");
  });

  it("[A-02] a suggestion over 8 KiB is refused before anything is stored", async () => {
    const { requestId } = await gate();
    const answer = await deny(requestId, JSON.stringify({ amount: 5, note: "x".repeat(8_200) }));
    assert.strictEqual(answer.status, 422);
    assert.strictEqual((await auditOf(requestId)).length, 0);
  });

  it("[C022] a denial with a suggestion against an approval: one outcome, and a suggestion only with the denial", async () => {
    for (let round = 0; round < 15; round += 1) {
      const { requestId } = await gate();
      const answers = await Promise.all([
        deny(requestId, '{"amount": 5}', ann),
        decide(requestId, bob, {}),
      ]);
      assert.deepStrictEqual(
        answers.map(({ status }) => status).sort(),
        [200, 409],
        `round ${round}`,
      );
      const { state, suggestion } = await detail(requestId);
      assert.strictEqual(suggestion !== null, state === "denied");
    }
  });
});

describe("several approvers", () => {
  it("[A-02][C041] each is counted and named, the run hears of all of them with the same digest", async () => {
    const run = await gate({ approversRequired: 2 });
    assert.strictEqual((await detail(run.requestId)).approversMissing, 2);
    await decide(run.requestId, ann, { reason: "seen the invoice" });
    const between = await detail(run.requestId, bob);
    assert.strictEqual(between.approversMissing, 1);
    assert.deepInclude(between.approvers[0], {
      operatorId: ann.operatorId,
      reason: "seen the invoice",
    });
    assert.isTrue(between.mayDecide.allowed);
    assert.isUndefined(await decidedRecord(run));
    assert.include(
      (await loggedKinds(run)).map(({ kind }) => kind),
      "ApprovalCounted",
    );
    await decide(run.requestId, bob, {});
    const record = await decidedRecord(run);
    assert.deepStrictEqual(
      record?.approvers?.map(({ id }) => id),
      [ann.operatorId, bob.operatorId],
    );
    assert.strictEqual(record?.parametersDigest, digest);
    assert.strictEqual((await detail(run.requestId)).approversMissing, 0);
  });

  it("[C021] of four who give the second answer at once one is the second and three learn who it was", async () => {
    const run = await gate({ approversRequired: 2 });
    await decide(run.requestId, ann, {});
    const others = await Promise.all([1, 2, 3, 4].map(() => api.addOperator("decider")));
    const answers = await Promise.all(others.map((one) => decide(run.requestId, one, {})));
    assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
    assert.strictEqual((await decidedRecord(run))?.approvers?.length, 2);
  });

  it("[A-06] one denial ends it after any number of approvals", async () => {
    const run = await gate({ approversRequired: 3 });
    await decide(run.requestId, ann, {});
    await decide(run.requestId, bob, { decision: "denied", reason: "wrong customer" });
    assert.strictEqual((await decidedRecord(run))?.decision, "denied");
  });
});

describe("the fresh look before an approval", () => {
  it("[C049] what changed around the call since it was shown is named, and the same press after a new look decides", async () => {
    const { requestId } = await gate();
    const shown = await detail(requestId);
    const usual = standing.now;
    standing.now = { ...usual, authorization: "none", visibility: "hidden" };
    try {
      const refused = await decide(requestId, ann, { basis: shown.basis });
      assert.strictEqual(refused.status, 409);
      assert.strictEqual(refused.body._tag, "ApprovalChanged");
      assert.deepStrictEqual(
        refused.body.changes.map(({ part }: { part: string }) => part),
        ["authorization", "visibility"],
      );
      const again = await detail(requestId);
      assert.deepStrictEqual(
        again.changedSinceAsked.map(({ part }: { part: string }) => part),
        ["visibility"],
      );
      assert.strictEqual((await decide(requestId, ann, { basis: again.basis })).status, 200);
    } finally {
      standing.now = usual;
    }
  });

  it("[C049] a moved expiry asks for a fresh look; a denial never does", async () => {
    const { requestId } = await gate({ expiresAt: Date.now() + 120_000 });
    const { basis } = await detail(requestId);
    await api.request(`/approvals/${requestId}/extend`, {
      token: bob.token,
      body: { commandId: commandId(), seconds: 3_600, reason: "need more time" },
    });
    const refused = await decide(requestId, ann, { basis });
    assert.strictEqual(refused.body.changes[0].part, "expiresAt");
    const denied = await decide(requestId, ann, { decision: "denied", reason: "no", basis });
    assert.strictEqual(denied.status, 200);
  });

  it("[OP-05] a tool whose contract changed since the call was asked for is said so before anybody decides", async () => {
    const { requestId } = await gate();
    assert.deepStrictEqual((await detail(requestId)).changedSinceAsked, []);
    const usual = standing.now;
    standing.now = { ...usual, toolDigest: null };
    try {
      const [change] = (await detail(requestId)).changedSinceAsked;
      assert.deepInclude(change, { part: "toolDigest", now: "not registered" });
    } finally {
      standing.now = usual;
    }
  });
});

describe("who is looking", () => {
  const look = (requestId: string, by: TestOperator, looking = true) =>
    api.request(`/approvals/${requestId}/look`, { token: by.token, body: { looking } });

  it("[OP-05] another operator sees who looks, blocks nobody, and it ends with the look or by itself", async () => {
    const run = await gate();
    const { requestId } = run;
    assert.deepStrictEqual((await look(requestId, ann)).body.lookers, []);
    const seen = (await look(requestId, bob)).body.lookers;
    assert.strictEqual(seen[0].operatorId, ann.operatorId);
    assert.strictEqual((await detail(requestId, bob)).lookers.length, 1);
    await look(requestId, ann);
    const events = (await loggedKinds(run)).filter(({ kind }) => kind === "ApprovalLookedAt");
    assert.strictEqual(events.length, 2, "a look that goes on is told once");
    await look(requestId, ann, false);
    assert.deepStrictEqual((await detail(requestId, bob)).lookers, []);
    await look(requestId, ann);
    await api.run(
      Effect.flatMap(
        SqlClient,
        (sql) => sql`UPDATE approval_looks SET looks_until = now() - interval '1 second'`,
      ),
    );
    assert.deepStrictEqual((await detail(requestId, bob)).lookers, []);
    assert.strictEqual((await decide(requestId, bob, {})).status, 200);
    assert.deepStrictEqual((await look(requestId, ann)).body.lookers, []);
  });

  it("[Z-12][C042] whoever may not decide does not look, and a foreign request looks like a missing one", async () => {
    const { requestId } = await gate();
    assert.strictEqual((await look(requestId, viewer)).status, 403);
    const stranger = await api.addOperator("admin", "another");
    assert.strictEqual((await look(requestId, stranger)).status, 404);
    assert.strictEqual((await look("apr_missing_0123456789", ann)).status, 404);
  });
});
