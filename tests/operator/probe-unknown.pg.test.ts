/** Asking a destination about an effect in doubt, over real HTTP. */
import { Effect } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import type { ProbeOutcome } from "#server/operator/ToolProbes.ts";
import {
  destination,
  startApi,
  type TestApi,
  type TestOperator,
} from "#tests/support/api-server.ts";
import { startedRun, unknownRun } from "#tests/support/ledger-fixtures.ts";

let api: TestApi;
let ann: TestOperator;
let bob: TestOperator;
let viewer: TestOperator;
let admin: TestOperator;
let ids = 0;
const newCommand = () => `probe-command-${(ids += 1)}`;

beforeAll(async () => {
  api = await startApi();
  ann = await api.addOperator("operator");
  bob = await api.addOperator("operator");
  viewer = await api.addOperator("viewer");
  admin = await api.addOperator("admin");
});
afterAll(() => api.close());

const found: ProbeOutcome = {
  report: { finding: "found", detail: "Entry 7.", result: { ok: true }, isFailure: false },
  settles: undefined,
};
const settling: ProbeOutcome = {
  ...found,
  settles: { resolution: "completed-with-result", result: { ok: true }, isFailure: false },
};

beforeEach(() => {
  destination.rule = {};
  destination.answer = Effect.succeed(found);
  destination.asked.length = 0;
});

const probe = (unknownId: string, by: TestOperator, commandId = newCommand()) =>
  api.request(`/unknowns/${unknownId}/probe`, { token: by.token, body: { commandId } });

const read = (unknownId: string) => api.request(`/unknowns/${unknownId}`, { token: ann.token });

const auditOf = async (target: string) => {
  const { body } = await api.request("/audit?limit=200", { token: admin.token });
  return body.items.filter((row: { target: string }) => row.target === target);
};

/** The destination answers only when it is told to. */
const heldAnswer = (outcome: ProbeOutcome) => {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let reached: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    reached = resolve;
  });
  destination.answer = Effect.promise(async () => {
    reached();
    await released;
    return outcome;
  });
  return { asked, release };
};

describe("probe now", () => {
  it("[DU-06] [OP-08] the answer is evidence with author and time, shown on the effect, and settles nothing", async () => {
    const { unknownId } = await api.run(unknownRun());
    const before = await read(unknownId);
    assert.strictEqual(before.body.stages.sent.known, "not-known");
    assert.strictEqual(
      before.body.probeRule,
      "The answer is evidence only; a person settles the call.",
    );
    const { status, body } = await probe(unknownId, ann);
    assert.strictEqual(status, 200);
    assert.strictEqual(body.state, "open");
    assert.strictEqual(destination.asked[0]?.idempotencyKey, before.body.idempotencyKey);
    assert.deepStrictEqual(destination.asked[0]?.parameters, { amount: 10 });
    const [answer] = body.probes;
    assert.deepInclude(answer, {
      finding: "found",
      detail: "Entry 7.",
      result: { ok: true },
      settles: false,
    });
    assert.strictEqual(answer.actor.id, ann.operatorId);
    assert.isAtLeast(answer.answeredAt, answer.askedAt);
    assert.deepStrictEqual(body.stages.answered, { known: "yes", why: "Entry 7." });
    assert.deepStrictEqual(
      (await auditOf(unknownId)).map((row: { after: object }) => Object.keys(row.after).sort()),
      [
        ["answered", "finding", "settled", "state"],
        ["asked", "state"],
      ],
    );
  });

  it("[OP-09] the same command id asks once; a new one asks again", async () => {
    const { unknownId } = await api.run(unknownRun());
    const commandId = newCommand();
    await probe(unknownId, ann, commandId);
    const again = await probe(unknownId, ann, commandId);
    assert.deepStrictEqual([again.status, again.body.probes.length], [200, 1]);
    assert.strictEqual(destination.asked.length, 1);
    await probe(unknownId, ann);
    assert.strictEqual(destination.asked.length, 2);
  });

  it("[DU-06] by the tool's rule the answer settles the call once, in the rule's name, and the run is woken", async () => {
    const { unknownId, place } = await api.run(unknownRun());
    destination.rule = { found: "completed-with-result" };
    destination.answer = Effect.succeed(settling);
    const woken = api.woken.length;
    const { body } = await probe(unknownId, ann);
    assert.strictEqual(body.state, "resolved");
    assert.deepInclude(body.resolution, { kind: "completed-with-result", evidence: "Entry 7." });
    assert.deepInclude(body.resolution.actor, { kind: "policy", id: "asked-probe" });
    assert.isTrue(body.probes[0].settles);
    assert.deepStrictEqual(api.woken.slice(woken), [
      { tenantId: place.tenantId, threadId: place.threadId },
    ]);
    const undelivered = await api.run(
      Effect.flatMap(SubmissionLedger, (ledger) =>
        ledger.undelivered({ tenantId: place.tenantId, runId: place.runId }),
      ),
    );
    assert.deepInclude(undelivered[0], { _tag: "UnknownResolved", result: { ok: true } });
    const late = await probe(unknownId, bob);
    assert.deepInclude(late.body, { _tag: "ProbeRefused", why: "settled" });
  });

  it("[OP-08] one question at a time: a second person is told, and asks when it is answered", async () => {
    const { unknownId } = await api.run(unknownRun());
    const held = heldAnswer(found);
    const first = probe(unknownId, ann);
    await held.asked;
    const second = await probe(unknownId, bob);
    assert.deepStrictEqual([second.status, second.body.why], [409, "under-way"]);
    held.release();
    assert.strictEqual((await first).status, 200);
    assert.strictEqual((await probe(unknownId, bob)).status, 200);
  });

  it("[DU-07] a person who resolves while the destination is asked wins; its answer stays evidence", async () => {
    const { unknownId } = await api.run(unknownRun());
    const held = heldAnswer(settling);
    const asking = probe(unknownId, ann);
    await held.asked;
    const { body: seen } = await read(unknownId);
    const resolved = await api.request(`/unknowns/${unknownId}/resolution`, {
      token: bob.token,
      body: {
        commandId: newCommand(),
        resolution: "never-happened",
        parametersDigest: seen.parametersDigest,
        reason: "looked",
        evidence: "ledger",
      },
    });
    assert.strictEqual(resolved.status, 200);
    held.release();
    const { body } = await asking;
    assert.strictEqual(body.resolution.kind, "never-happened");
    assert.deepInclude(body.probes[0], { finding: "found", settles: false });
  });

  it("[DU-09] a rule never runs a call of a settled run again", async () => {
    const { records, append } = await api.run(startedRun());
    const left = records.unknown("call-1", true);
    await api.run(
      append([
        records.turn(["call-1"]),
        records.prepared("call-1"),
        left,
        records.runSettled("failed"),
      ]),
    );
    destination.answer = Effect.succeed({
      report: { finding: "not-found", detail: "No entry." },
      settles: { resolution: "safe-to-retry" },
    });
    const { status, body } = await probe(left.unknownId, ann);
    assert.deepStrictEqual([status, body.state], [200, "open"]);
    assert.deepStrictEqual(body.stages.sent, {
      known: "no",
      why: "The destination has no trace of this call. No entry.",
    });
  });

  it("[DU-06] a question whose asker died is closed as failed by the next one, which is asked", async () => {
    const { unknownId, place } = await api.run(unknownRun());
    await api.run(
      Effect.flatMap(
        SqlClient,
        (
          sql,
        ) => sql`INSERT INTO unknown_probes (tenant_id, probe_id, unknown_id, thread_id, run_id, turn,
          call_id, tool_name, asker_kind, asker_id, asker_name, asked_at)
        VALUES (${place.tenantId}, 'prb_lost', ${unknownId}, ${place.threadId}, ${place.runId}, 1, 'call-1',
          'refund', 'operator', 'gone', 'Gone', now() - interval '61 seconds')`,
      ),
    );
    // Nobody has to ask again for it to be seen: it is under way no more.
    assert.deepInclude((await read(unknownId)).body.probes[0], { finding: "failed" });
    const { body } = await probe(unknownId, ann);
    assert.deepStrictEqual(
      body.probes.map(({ finding }: { finding: string }) => finding),
      ["found", "failed"],
    );
  });

  it("[OP-09] an answer that comes after its question was closed as lost settles nothing: there is no resolution without its audit row", async () => {
    const { unknownId } = await api.run(unknownRun());
    const held = heldAnswer(settling);
    const asking = probe(unknownId, ann);
    await held.asked;
    await api.run(
      Effect.flatMap(
        SqlClient,
        (
          sql,
        ) => sql`UPDATE unknown_probes SET answered_at = now(), finding = 'failed', detail = 'lost'
          WHERE unknown_id = ${unknownId}`,
      ),
    );
    held.release();
    const { status, body } = await asking;
    assert.deepStrictEqual([status, body.state], [200, "open"]);
    assert.strictEqual((await auditOf(unknownId)).length, 1);
  });

  it("[OP-08] evidence is bounded: of an operator's questions the newest 20 are kept", async () => {
    const { unknownId } = await api.run(unknownRun());
    for (let count = 0; count < 22; count += 1) await probe(unknownId, ann);
    const { body } = await read(unknownId);
    assert.strictEqual(body.probes.length, 20);
    const [row] = await api.run(
      Effect.flatMap(
        SqlClient,
        (sql) => sql<{ readonly count: number }>`SELECT count(*)::int AS count FROM unknown_probes
          WHERE unknown_id = ${unknownId}`,
      ),
    );
    assert.isAtMost(row?.count ?? 99, 21);
  });

  it("[Z-12] only an operator asks, and the refusal is in the audit", async () => {
    const { unknownId } = await api.run(unknownRun());
    const { status } = await probe(unknownId, viewer);
    assert.strictEqual(status, 403);
    assert.deepStrictEqual(destination.asked, []);
    assert.deepInclude((await auditOf(unknownId))[0], { verb: "probe-unknown", accepted: false });
  });
});
