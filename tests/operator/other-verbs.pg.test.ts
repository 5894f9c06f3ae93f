/** Resolutions, aborts, acknowledgements and submissions over real HTTP. */
import { Effect } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { startApi, type TestApi, type TestOperator } from "#tests/support/api-server.ts";
import { deniedRun, gatedRun, startedRun, unknownRun } from "#tests/support/ledger-fixtures.ts";

const digest = "a".repeat(64);
let api: TestApi;
let ann: TestOperator;
let bob: TestOperator;
let admin: TestOperator;
let ids = 0;
const commandId = () => `command-${(ids += 1)}`;

beforeAll(async () => {
  api = await startApi();
  ann = await api.addOperator("operator");
  bob = await api.addOperator("operator");
  admin = await api.addOperator("admin");
});
afterAll(() => api.close());

const post = (path: string, by: TestOperator, body: object, headers: Record<string, string> = {}) =>
  api.request(path, { token: by.token, body, headers });

const resolve = (unknownId: string, by: TestOperator, body: object) =>
  post(`/unknowns/${unknownId}/resolution`, by, {
    commandId: commandId(),
    parametersDigest: digest,
    reason: "I looked it up",
    evidence: "provider ledger, entry 7",
    ...body,
  });

const auditOf = async (target: string) => {
  const { body } = await api.request("/audit?limit=200", { token: admin.token });
  return body.items.filter((row: { target: string }) => row.target === target);
};

describe("resolving an effect in doubt", () => {
  it("[DU-07] [C102] a completion carries a result that fits the tool's schema, a reason and evidence", async () => {
    const { unknownId, place } = await api.run(unknownRun());
    const wrong = await resolve(unknownId, ann, {
      resolution: "completed-with-result",
      result: { nope: 1 },
    });
    assert.strictEqual(wrong.status, 422);
    const none = await resolve(unknownId, ann, { resolution: "completed-with-result" });
    assert.strictEqual(none.body.path, "body.result");
    const noEvidence = await resolve(unknownId, ann, {
      resolution: "never-happened",
      evidence: " ",
    });
    assert.strictEqual(noEvidence.body.path, "body.evidence");
    const open = await api.request(`/unknowns/${unknownId}`, { token: ann.token });
    assert.strictEqual(open.body.state, "open");
    assert.deepStrictEqual(open.body.parameters, { amount: 10 });
    const woken = api.woken.length;
    const good = await resolve(unknownId, ann, {
      resolution: "completed-with-result",
      result: { ok: true },
    });
    assert.strictEqual(good.status, 200);
    assert.strictEqual(good.body.resolution.kind, "completed-with-result");
    assert.deepStrictEqual(good.body.resolution.result, { ok: true });
    assert.strictEqual(good.body.resolution.evidence, "provider ledger, entry 7");
    assert.deepStrictEqual(api.woken.slice(woken), [
      { tenantId: place.tenantId, threadId: place.threadId },
    ]);
    const undelivered = await api.run(
      Effect.flatMap(SubmissionLedger, (ledger) =>
        ledger.undelivered({ tenantId: place.tenantId, runId: place.runId }),
      ),
    );
    assert.deepInclude(undelivered[0], { _tag: "UnknownResolved", result: { ok: true } });
  });

  it("[DU-07] [C102] two people at once: one winner, the other is told who and how", async () => {
    for (let round = 0; round < 15; round += 1) {
      const { unknownId } = await api.run(unknownRun());
      const answers = await Promise.all([
        resolve(unknownId, ann, { resolution: "never-happened" }),
        resolve(unknownId, bob, { resolution: "safe-to-retry" }),
      ]);
      assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [200, 409]);
      const lost = answers.find(({ status }) => status === 409);
      const won = answers.find(({ status }) => status === 200);
      assert.strictEqual(lost?.body._tag, "UnknownAlreadyResolved");
      assert.strictEqual(lost?.body.resolution, won?.body.resolution.kind);
      assert.strictEqual(lost?.body.resolvedBy, won?.body.resolution.actor.name);
    }
  });

  it("[DU-07] the same person saying the same again changes nothing; saying something else is refused", async () => {
    const { unknownId } = await api.run(unknownRun());
    const first = await resolve(unknownId, ann, { resolution: "never-happened" });
    const again = await resolve(unknownId, ann, { resolution: "never-happened" });
    assert.strictEqual(again.status, 200);
    assert.strictEqual(again.body.resolvedAt, first.body.resolvedAt);
    const other = await resolve(unknownId, ann, { resolution: "safe-to-retry" });
    assert.strictEqual(other.body._tag, "UnknownAlreadyResolved");
  });

  it("[DU-09] an effect left over by a settled run can be noted, but nothing is run or ended for it", async () => {
    const { place, records, append } = await api.run(startedRun());
    const left = records.unknown("call-1", true);
    await api.run(
      append([
        records.turn(["call-1"]),
        records.prepared("call-1"),
        left,
        records.runSettled("failed"),
      ]),
    );
    const retry = await resolve(left.unknownId, ann, { resolution: "safe-to-retry" });
    assert.strictEqual(retry.body._tag, "RunAlreadySettled");
    const noted = await resolve(left.unknownId, ann, { resolution: "never-happened" });
    assert.strictEqual(noted.status, 200);
    const run = await api.request(`/runs/${place.runId}`, { token: ann.token });
    assert.strictEqual(run.body.state, "failed");
  });

  it("[PG-06] a result too deep to be stored is refused with the place, and audited", async () => {
    const { unknownId } = await api.run(unknownRun());
    let deep: unknown = 1;
    for (let depth = 0; depth < 100; depth += 1) deep = [deep];
    const answer = await resolve(unknownId, ann, {
      resolution: "completed-with-result",
      result: deep,
    });
    assert.strictEqual(answer.status, 422);
    assert.strictEqual(answer.body.path, "body.result");
    assert.strictEqual((await auditOf(unknownId)).length, 1);
  });
});

describe("aborting a run", () => {
  const abort = (runId: string, by: TestOperator, reason = "enough") =>
    post(`/runs/${runId}/abort`, by, { commandId: commandId(), reason });

  it("[DU-12] an abort is stored once with its first author, wakes the thread, and its repeat is harmless", async () => {
    const { place } = await api.run(gatedRun());
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        abort(place.runId, at % 2 === 0 ? ann : bob, `reason ${at}`),
      ),
    );
    for (const { status, body } of answers) {
      assert.strictEqual(status, 200);
      assert.deepStrictEqual(body.abort, answers[0]?.body.abort);
    }
    const undelivered = await api.run(
      Effect.flatMap(SubmissionLedger, (ledger) =>
        ledger.undelivered({ tenantId: place.tenantId, runId: place.runId }),
      ),
    );
    assert.strictEqual(undelivered.filter(({ _tag }) => _tag === "AbortRequested").length, 1);
    assert.isTrue(api.woken.some(({ threadId }) => threadId === place.threadId));
  });

  it("[DU-12] a settled run does not become aborted", async () => {
    const { place } = await api.run(deniedRun());
    const answer = await abort(place.runId, ann);
    assert.strictEqual(answer.status, 409);
    assert.deepInclude(answer.body, { _tag: "RunAlreadySettled", state: "failed" });
  });
});

describe("acknowledging a denial", () => {
  it("[OP-06] the first note stays, and nothing is woken", async () => {
    const { denialId } = await api.run(deniedRun());
    const woken = api.woken.length;
    const ack = (by: TestOperator, note: string) =>
      post(`/denials/${denialId}/acknowledge`, by, { commandId: commandId(), note });
    const first = await ack(ann, "expected");
    assert.strictEqual(first.body.note, "expected");
    const second = await ack(bob, "me too");
    assert.strictEqual(second.status, 200);
    assert.strictEqual(second.body.note, "expected");
    assert.strictEqual(api.woken.length, woken);
  });
});

describe("submitting input", () => {
  const submit = (by: TestOperator, key: string, body: object) =>
    post(
      "/submissions",
      by,
      { agentId: "desk", input: { text: "Please help" }, ...body },
      { "idempotency-key": key },
    );

  it("[DU-11] 20 requests with one key are one submission, one audit row and one receipt", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => submit(ann, "key-twenty", {})),
    );
    for (const { status, body } of answers) {
      assert.strictEqual(status, 202);
      assert.deepStrictEqual(body, answers[0]?.body);
    }
    assert.strictEqual((await auditOf(answers[0]?.body.submissionId)).length, 1);
    const run = await api.request(`/runs/${answers[0]?.body.runId}`, { token: ann.token });
    assert.strictEqual(run.body.state, "queued");
    assert.strictEqual(run.body.title, "Please help");
    assert.deepStrictEqual(run.body.input, { text: "Please help" });
  });

  it("[DU-11] the same key with another input is a conflict; another person's same key is not", async () => {
    assert.strictEqual((await submit(ann, "key-conflict", {})).status, 202);
    const other = await submit(ann, "key-conflict", { input: { text: "Other" } });
    assert.strictEqual(other.body._tag, "IdempotencyConflict");
    assert.strictEqual(
      (await submit(bob, "key-conflict", { input: { text: "Other" } })).status,
      202,
    );
  });

  it("[DU-11] a submission needs a key, a known agent, input that fits, and a thread that exists", async () => {
    const noKey = await post("/submissions", ann, { agentId: "desk", input: {} });
    assert.strictEqual(noKey.body.path, "headers.idempotency-key");
    assert.strictEqual((await submit(ann, "key-agent-1", { agentId: "nobody" })).status, 404);
    const wrong = await submit(ann, "key-input-1", { input: { forbidden: 1 } });
    assert.strictEqual(wrong.body.path, "body.input.forbidden");
    assert.strictEqual((await submit(ann, "key-thread-1", { threadId: "thr_none" })).status, 404);
    const large = await submit(ann, "key-large-1", { input: { text: "x".repeat(70_000) } });
    assert.strictEqual(large.status, 422);
    assert.strictEqual(large.body.path, "body.input");
  });

  it("[DU-15] the agent's policy for doubts goes with its submission", async () => {
    const { body } = await submit(ann, "key-policy-1", {});
    const rows = await api.run(
      Effect.flatMap(
        SqlClient,
        (sql) =>
          sql`SELECT unknown_policy FROM submissions WHERE submission_id = ${body.submissionId}`,
      ),
    );
    assert.deepStrictEqual(rows, [{ unknown_policy: "block" }]);
  });

  it("[DU-15] a second submission queues behind the first on its thread", async () => {
    const first = await submit(ann, "key-queue-1", {});
    const second = await submit(ann, "key-queue-2", { threadId: first.body.threadId });
    assert.strictEqual(second.body.threadId, first.body.threadId);
    assert.strictEqual(second.body.queueSequence, first.body.queueSequence + 1);
  });
});
