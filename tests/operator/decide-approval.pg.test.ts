/** Decisions over real HTTP: races, repeats, changed content, time, and who may decide. */
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import { startApi, type TestApi, type TestOperator } from "#tests/support/api-server.ts";
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
  ann = await api.addOperator("decider");
  bob = await api.addOperator("decider");
  viewer = await api.addOperator("viewer");
});
afterAll(() => api.close());

const gate = async (options: GateOptions = {}) => {
  const run = await api.run(gatedRun(options));
  return { ...run, requestId: run.requestIds[0] ?? "" };
};

const decide = (
  requestId: string,
  by: TestOperator,
  body: Partial<{
    commandId: string;
    decision: string;
    parametersDigest: string;
    reason: string;
  }> = {},
) =>
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

const detail = (requestId: string) => api.request(`/approvals/${requestId}`, { token: ann.token });

const auditOf = async (target: string) => {
  const admin = await api.addOperator("admin");
  const { body } = await api.request("/audit?limit=200", { token: admin.token });
  return body.items.filter((row: { target: string }) => row.target === target);
};

describe("deciding", () => {
  it("[A-09] [OP-05] an approval is stored with who, when and why, and wakes its thread", async () => {
    const { requestId, place } = await gate();
    const woken = api.woken.length;
    const answer = await decide(requestId, ann, { reason: "looks right" });
    assert.strictEqual(answer.status, 200);
    assert.strictEqual(answer.body.state, "approved");
    assert.strictEqual(answer.body.decision.id, ann.operatorId);
    assert.strictEqual(answer.body.reason, "looks right");
    assert.isNumber(answer.body.delivery.decidedAt);
    assert.isNull(answer.body.delivery.deliveredAt);
    assert.deepStrictEqual(api.woken.slice(woken), [
      { tenantId: place.tenantId, threadId: place.threadId },
    ]);
  });

  it("[A-09] [C021] of 50 parallel approvals one wins and 49 learn who it was", async () => {
    const { requestId } = await gate();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => decide(requestId, at % 2 === 0 ? ann : bob)),
    );
    const won = answers.filter(({ status }) => status === 200);
    const lost = answers.filter(({ status }) => status === 409);
    assert.strictEqual(won.length, 1);
    assert.strictEqual(lost.length, 49);
    const winner = won[0]?.body.decidedBy;
    const decidedAt = won[0]?.body.decidedAt;
    for (const { body } of lost) {
      assert.strictEqual(body._tag, "ApprovalAlreadyDecided");
      assert.strictEqual(body.decidedBy, winner);
      assert.strictEqual(body.decidedAt, decidedAt);
      assert.strictEqual(body.decision, "approved");
    }
    const audit = await auditOf(requestId);
    assert.strictEqual(audit.filter((row: { accepted: boolean }) => row.accepted).length, 1);
    assert.strictEqual(audit.filter((row: { accepted: boolean }) => !row.accepted).length, 49);
  });

  it("[A-09] [C022] approve against deny, 40 rounds: one outcome each, the loser is told the winner's choice", async () => {
    for (let round = 0; round < 40; round += 1) {
      const { requestId } = await gate();
      const [approve, deny] = await Promise.all([
        decide(requestId, ann),
        decide(requestId, bob, { decision: "denied", reason: "no" }),
      ]);
      const statuses = [approve.status, deny.status].sort();
      assert.deepStrictEqual(statuses, [200, 409], `round ${round}`);
      const winner = approve.status === 200 ? "approved" : "denied";
      const loser = approve.status === 200 ? deny : approve;
      assert.strictEqual(loser.body.decision, winner);
      assert.strictEqual((await detail(requestId)).body.state, winner);
    }
  });

  it("[OP-09] [C023] the same command sent 10 times at once decides once and answers each the same", async () => {
    const { requestId } = await gate();
    const same = { commandId: commandId(), reason: "once" };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => decide(requestId, ann, same)),
    );
    for (const { status, body } of answers) {
      assert.strictEqual(status, 200);
      assert.strictEqual(body.decidedAt, answers[0]?.body.decidedAt);
    }
    assert.strictEqual((await auditOf(requestId)).length, 1);
  });

  it("[OP-09] a command id used for something else is refused and changes nothing", async () => {
    const first = await gate();
    const second = await gate();
    const id = commandId();
    assert.strictEqual((await decide(first.requestId, ann, { commandId: id })).status, 200);
    for (const answer of [
      await decide(first.requestId, ann, { commandId: id, decision: "denied", reason: "other" }),
      await decide(second.requestId, ann, { commandId: id }),
      await decide(first.requestId, bob, { commandId: id }),
    ]) {
      assert.strictEqual(answer.status, 409);
      assert.strictEqual(answer.body._tag, "IdempotencyConflict");
    }
    assert.strictEqual((await detail(second.requestId)).body.state, "pending");
  });

  it("[A-09] [A-12] [C026] [C049] a decision about other arguments is refused with both digests", async () => {
    const { requestId } = await gate();
    const seen = "b".repeat(64);
    const answer = await decide(requestId, ann, { parametersDigest: seen });
    assert.strictEqual(answer.status, 409);
    assert.deepInclude(answer.body, {
      _tag: "ApprovalChanged",
      seenDigest: seen,
      currentDigest: digest,
    });
    assert.strictEqual((await detail(requestId)).body.state, "pending");
  });

  it("[A-12] [C026] approving one call leaves its sibling pending", async () => {
    const { requestIds } = await gate({ calls: ["one", "two"] });
    assert.strictEqual((await decide(requestIds[0] ?? "", ann)).status, 200);
    const other = await detail(requestIds[1] ?? "");
    assert.strictEqual(other.body.state, "pending");
    assert.strictEqual(other.body.batchPending, 1);
    assert.strictEqual(other.body.batch.length, 2);
  });

  it("[A-07] [C007] a request past its time is refused although nobody has swept it", async () => {
    const { requestId } = await gate({ expiresAt: Date.now() - 1_000 });
    const answer = await decide(requestId, ann);
    assert.strictEqual(answer.status, 409);
    assert.deepInclude(answer.body, { _tag: "ApprovalAlreadyDecided", decision: "expired" });
    const shown = await detail(requestId);
    assert.isFalse(shown.body.mayDecide.allowed);
  });

  it("[A-06] a denial without a reason is refused; with one it is stored for the model", async () => {
    const { requestId } = await gate();
    const blank = await decide(requestId, ann, { decision: "denied", reason: "  " });
    assert.strictEqual(blank.status, 422);
    assert.strictEqual(blank.body.path, "body.reason");
    const denied = await decide(requestId, ann, { decision: "denied", reason: "wrong order" });
    assert.strictEqual(denied.body.state, "denied");
    assert.strictEqual(denied.body.reason, "wrong order");
  });

  it("[C041] whoever asked for the run cannot decide its calls where that is ruled out, not even deny", async () => {
    const requester = { kind: "operator" as const, id: ann.operatorId, name: "Ann" };
    const { requestId } = await gate({ requester, selfApproval: false });
    for (const decision of ["approved", "denied"]) {
      const answer = await decide(requestId, ann, { decision, reason: "mine" });
      assert.strictEqual(answer.status, 403);
      assert.strictEqual(answer.body._tag, "ApproverRefused");
    }
    assert.isFalse((await detail(requestId)).body.mayDecide.allowed);
    assert.strictEqual((await decide(requestId, bob)).status, 200);
  });

  it("[C041] a request that needs two people stays pending after one and is decided by another, once each", async () => {
    const { requestId } = await gate({ approversRequired: 2 });
    const first = await decide(requestId, ann);
    assert.strictEqual(first.status, 200);
    assert.strictEqual(first.body.state, "pending");
    const again = await decide(requestId, ann);
    assert.strictEqual(again.body._tag, "ApproverRefused");
    const second = await decide(requestId, bob);
    assert.strictEqual(second.body.state, "approved");
  });

  it("[C041] two approvers at once are both counted", async () => {
    for (let round = 0; round < 10; round += 1) {
      const { requestId } = await gate({ approversRequired: 2 });
      await Promise.all([decide(requestId, ann), decide(requestId, bob)]);
      assert.strictEqual((await detail(requestId)).body.state, "approved");
    }
  });

  it("[Z-12] [C099] a refused act of a viewer leaves an audit row and nothing else", async () => {
    const { requestId } = await gate();
    const answer = await decide(requestId, viewer);
    assert.strictEqual(answer.status, 403);
    const audit = await auditOf(requestId);
    assert.strictEqual(audit.length, 1);
    assert.deepInclude(audit[0], { accepted: false, verb: "decide-approval" });
    assert.strictEqual(audit[0].actor.id, viewer.operatorId);
    assert.strictEqual((await detail(requestId)).body.state, "pending");
  });

  it("[A-07] [C013] extending moves the expiry, is audited, and an earlier time is refused", async () => {
    const { requestId } = await gate({ expiresAt: Date.now() + 120_000 });
    const extend = (seconds: number) =>
      api.request(`/approvals/${requestId}/extend`, {
        token: ann.token,
        body: { commandId: commandId(), seconds, reason: "need more time" },
      });
    const earlier = await extend(60);
    assert.strictEqual(earlier.status, 422);
    const later = await extend(3_600);
    assert.strictEqual(later.status, 200);
    assert.approximately(later.body.expiresAt, later.body.serverTime + 3_600_000, 5_000);
    const audit = await auditOf(requestId);
    const accepted = audit.find((row: { accepted: boolean }) => row.accepted);
    assert.strictEqual(accepted.verb, "extend-approval");
    assert.strictEqual(accepted.after.expiresAt, later.body.expiresAt);
  });

  it("[A-07] a decided request cannot be extended", async () => {
    const { requestId } = await gate({ expiresAt: Date.now() + 120_000 });
    await decide(requestId, ann);
    const answer = await api.request(`/approvals/${requestId}/extend`, {
      token: ann.token,
      body: { commandId: commandId(), seconds: 3_600, reason: "late" },
    });
    assert.strictEqual(answer.body._tag, "ApprovalAlreadyDecided");
  });
});
