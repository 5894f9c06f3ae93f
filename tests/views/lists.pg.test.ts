/** The lists and pages of the console over real HTTP: filters, order, pages, counts, and one moment for all of them. */
import { Effect } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import {
  type Answer,
  startApi,
  type TestApi,
  type TestOperator,
} from "#tests/support/api-server.ts";
import { deniedRun, gatedRun, startedRun, unknownRun } from "#tests/support/ledger-fixtures.ts";
import { diagnosticIdOf } from "#lib/durable/derived-ids.ts";
import { callId } from "#tests/postgres/records.ts";

let api: TestApi;
let ann: TestOperator;

beforeAll(async () => {
  api = await startApi();
  ann = await api.addOperator("admin");
});
afterAll(() => api.close());

const get = async (path: string) => {
  const answer = await api.request(path, { token: ann.token });
  assert.strictEqual(answer.status, 200, `${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
};

/** Every page of a list, and how often each row came. */
const everyPage = async (path: string, limit: number) => {
  const items: Array<Answer> = [];
  let cursor: string | undefined;
  do {
    const page = await get(
      `${path}${path.includes("?") ? "&" : "?"}limit=${limit}${cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    assert.isAtMost(page.items.length, limit);
    items.push(...page.items);
    cursor = page.next;
  } while (cursor !== undefined);
  return items;
};

describe("the run list", () => {
  const runIds: Array<string> = [];
  beforeAll(async () => {
    for (let at = 0; at < 7; at += 1) {
      const { place } = await api.run(gatedRun({ title: `Refund order ${at}` }));
      runIds.unshift(place.runId);
    }
    const denied = await api.run(deniedRun({ title: "100% off_sale" }));
    runIds.unshift(denied.place.runId);
    const plain = await api.run(startedRun({ title: "Nothing called" }));
    runIds.unshift(plain.place.runId);
  });

  it("[OP-07] [C082] pages newest first without losing or repeating a row, whatever the page size", async () => {
    for (const limit of [1, 2, 4, 200]) {
      const items = await everyPage("/runs", limit);
      assert.deepStrictEqual(
        items.map(({ runId }) => runId),
        runIds,
      );
    }
  });

  it("[OP-07] filters by state, outcome, agent, tool, failure tag, thread, time and text, alone and together", async () => {
    const idsOf = async (query: string) =>
      (await get(`/runs?${query}`)).items.map(({ runId }: { runId: string }) => runId);
    const [plain, denied, ...gated] = runIds;
    assert.deepStrictEqual(await idsOf("state=waiting"), gated);
    assert.deepStrictEqual(await idsOf("state=waiting&state=failed"), [denied, ...gated]);
    assert.deepStrictEqual(await idsOf("outcome=failed"), [denied]);
    assert.deepStrictEqual(await idsOf("outcome=completed"), []);
    assert.deepStrictEqual(await idsOf("agentId=desk"), runIds);
    assert.deepStrictEqual(await idsOf("agentId=other"), []);
    assert.deepStrictEqual(await idsOf("tool=refund"), [denied, ...gated]);
    assert.deepStrictEqual(await idsOf("tool=refund&state=failed"), [denied]);
    assert.deepStrictEqual(await idsOf("tool=mail"), []);
    assert.deepStrictEqual(await idsOf("failureTag=ModelFailed"), [denied]);
    assert.deepStrictEqual(await idsOf(`text=${plain?.slice(0, 20)}`), [plain]);
    assert.deepStrictEqual(await idsOf("text=ORDER 3"), [gated[3]]);
    assert.deepStrictEqual(await idsOf(`text=${encodeURIComponent("%")}`), [denied]);
    assert.deepStrictEqual(await idsOf(`text=${encodeURIComponent("f_s")}`), [denied]);
    assert.deepStrictEqual(await idsOf(`text=${encodeURIComponent("x' OR '1'='1")}`), []);
    const middle = (await get(`/runs/${gated[3]}`)).createdAt;
    const after = await idsOf(`from=${middle}`);
    const before = await idsOf(`to=${middle}`);
    assert.include(after, gated[3]);
    assert.notInclude(before, gated[3]);
    assert.strictEqual(after.length + before.length, runIds.length);
  });

  it("[C071] counts what the filter matches, not the page", async () => {
    const page = await get("/runs?state=waiting&limit=2");
    assert.deepStrictEqual(page.count, { value: 7, capped: false });
    const tool = await get("/runs?tool=refund&limit=1");
    assert.deepStrictEqual(tool.count, { value: 8, capped: false });
  });

  it("[C070] says of each run what its own page says", async () => {
    for (const item of (await get("/runs")).items) {
      const detail = await get(`/runs/${item.runId}`);
      for (const [key, value] of Object.entries(item))
        assert.deepStrictEqual(detail[key], value, key);
    }
  });

  it("refuses a cursor of another list, an unknown state and a limit over 200", async () => {
    const bad = await api.request("/runs?cursor=abc", { token: ann.token });
    assert.strictEqual(bad.body.path, "query.cursor");
    const noDay = Buffer.from(JSON.stringify(["2026-02-30 00:00:00+00", "run_1"])).toString(
      "base64url",
    );
    for (const list of ["runs", "approvals", "denials"]) {
      const refused = await api.request(`/${list}?cursor=${noDay}`, { token: ann.token });
      assert.deepStrictEqual([refused.status, refused.body.path], [422, "query.cursor"], list);
    }
    // Times that PostgreSQL has no year for: as many runs as there are before 1970, and since.
    const early = await api.request("/runs?to=-9007199254740991", { token: ann.token });
    assert.deepStrictEqual([early.status, early.body.items], [200, []]);
    const all = await api.request("/runs?from=-9007199254740991", { token: ann.token });
    assert.strictEqual(all.status, 200);
    const state = await api.request("/runs?state=sleeping", { token: ann.token });
    assert.strictEqual(state.status, 422);
    const limit = await api.request("/runs?limit=201", { token: ann.token });
    assert.strictEqual(limit.body.path, "query.limit");
  });
});

describe("a run's page", () => {
  it("[OP-01] [OP-07] shows turns, calls with arguments and results, attempts and settlement from one moment", async () => {
    const { place, records, append } = await api.run(startedRun());
    await api.run(
      append([
        records.turn(["one", "two"], { parameters: { amount: 10, note: "<b>" } }),
        records.prepared("one"),
        records.settled("one", { ok: true }),
        records.settled(
          "two",
          { reason: "no stock" },
          { kind: "failed", isFailure: true, failureHandling: "returned-to-model" },
        ),
        records.turn([], { turn: 2 }),
        records.runSettled("completed"),
      ]),
    );
    const run = await get(`/runs/${place.runId}`);
    assert.strictEqual(run.state, "completed");
    assert.deepStrictEqual(run.output, { text: "done" });
    assert.strictEqual(run.finishReason, "answered");
    assert.strictEqual(run.turnViews.length, 2);
    const [one, two] = run.turnViews[0].calls;
    assert.deepInclude(one, {
      callId: "one",
      state: "succeeded",
      hasResult: true,
      isFailure: false,
    });
    assert.deepStrictEqual(one.parameters, { amount: 10, note: "<b>" });
    assert.deepStrictEqual(one.result, { ok: true });
    assert.deepInclude(two, {
      callId: "two",
      state: "failed",
      isFailure: true,
      failureHandling: "returned-to-model",
    });
    assert.strictEqual(run.attempts[0].decision, "first-attempt");
    assert.strictEqual(run.policy.maxTurns, 12);
    assert.isAbove(run.serverTime, run.createdAt);
  });

  it("[OP-02] shows what a turn exposed and why a tool was not there", async () => {
    const { place } = await api.run(gatedRun());
    const view = await get(`/runs/${place.runId}/turns/1/exposure`);
    assert.deepStrictEqual(view.exposure.exposed, ["refund"]);
    assert.deepStrictEqual(view.added, ["refund"]);
    assert.strictEqual(
      (await get(`/runs/${place.runId}/exposure-explanation?tool=refund&turn=1`)).verdict,
      "offered",
    );
    assert.strictEqual(
      (await get(`/runs/${place.runId}/exposure-explanation?tool=nope&turn=1`)).verdict,
      "unregistered",
    );
    const none = await api.request(`/runs/${place.runId}/turns/9/exposure`, { token: ann.token });
    assert.strictEqual(none.status, 404);
  });

  it("[PG-02] gives the raw records, each chained to the one before", async () => {
    const { place } = await api.run(gatedRun({ calls: ["a", "b", "c"] }));
    const records = await everyPage(`/runs/${place.runId}/records`, 2);
    assert.strictEqual(records[0].kind, "RunOpened");
    for (const [at, record] of records.entries()) {
      assert.strictEqual(record.sequence, at + 1);
      if (at > 0) assert.strictEqual(record.previousDigest, records[at - 1].digest);
      assert.strictEqual(JSON.parse(record.body)._tag, record.kind);
    }
  });
});

describe("the approval queue", () => {
  it("[C003] [OP-05] is nearest deadline first, with what never expires last, page by page", async () => {
    const soon = Date.now() + 60_000;
    const ids: Array<string> = [];
    for (const expiresAt of [soon + 3_000, "never" as const, soon + 1_000, soon + 2_000])
      ids.push((await api.run(gatedRun({ expiresAt }))).requestIds[0] ?? "");
    const wanted = [ids[2], ids[3], ids[0], ids[1]];
    for (const limit of [1, 3, 200]) {
      const items = await everyPage("/approvals", limit);
      const mine = items
        .filter(({ requestId }) => ids.includes(requestId))
        .map(({ requestId }) => requestId);
      assert.deepStrictEqual(mine, wanted);
      assert.strictEqual(new Set(items.map(({ requestId }) => requestId)).size, items.length);
    }
  });

  it("[OP-05] shows the arguments that will run, the whole batch in order, and words to compare", async () => {
    const { requestIds } = await api.run(gatedRun({ calls: ["one", "two", "three"] }));
    const shown = await get(`/approvals/${requestIds[1]}`);
    assert.deepStrictEqual(shown.content.effectiveParameters, { amount: 10 });
    assert.deepStrictEqual(
      shown.batch.map(({ callId: id }: { callId: string }) => id),
      ["one", "two", "three"],
    );
    assert.strictEqual(shown.batch[0].requestId, requestIds[0]);
    assert.match(shown.fingerprint, /^[a-z]+( [a-z]+){3}$/);
    assert.isTrue(shown.mayDecide.allowed);
    assert.isNull(shown.receipt);
  });

  it("[C018] [A-12] lights up decided, delivered and effect one after the other, and gives the receipt", async () => {
    const { records, append, requestIds } = await api.run(gatedRun());
    const requestId = requestIds[0] ?? "";
    const decided = await api.request(`/approvals/${requestId}/decision`, {
      token: ann.token,
      body: {
        commandId: "light-1",
        decision: "approved",
        parametersDigest: "a".repeat(64),
        reason: "",
      },
    });
    assert.isNotNull(decided.body.delivery.recordedAt);
    assert.isNull(decided.body.delivery.deliveredAt);
    await api.run(append([records.decided("call-1")]));
    const delivered = await get(`/approvals/${requestId}`);
    assert.isNotNull(delivered.delivery.deliveredAt);
    assert.isNull(delivered.delivery.effect);
    await api.run(append([records.prepared("call-1"), records.settled("call-1")]));
    const done = await get(`/approvals/${requestId}`);
    assert.strictEqual(done.delivery.effect, "succeeded");
    assert.strictEqual(done.receipt, "ran-as-approved");
    const list = await get("/approvals?state=approved");
    assert.strictEqual(list.items[0].requestId, requestId);
    assert.strictEqual(list.items[0].decidedBy, done.decidedBy);
  });

  it("[C049] says refused when the call was refused as changed, and never that it ran", async () => {
    const { records, append, requestIds } = await api.run(gatedRun());
    await api.run(
      append([
        records.decided("call-1"),
        records.settled(
          "call-1",
          { changed: true },
          { kind: "not-executed", source: "drift", isFailure: true },
        ),
      ]),
    );
    assert.strictEqual((await get(`/approvals/${requestIds[0]}`)).receipt, "refused-changed");
  });

  it("[C011] a request of a run that ended is withdrawn, not pending", async () => {
    const { records, append, requestIds } = await api.run(gatedRun());
    await api.run(append([records.aborted(), records.runSettled("aborted")]));
    const shown = await get(`/approvals/${requestIds[0]}`);
    assert.strictEqual(shown.state, "withdrawn");
    assert.isFalse(shown.mayDecide.allowed);
    const pending = await everyPage("/approvals", 200);
    assert.isFalse(pending.some(({ requestId }) => requestId === requestIds[0]));
  });
});

describe("the other queues", () => {
  it("[OP-06] denials are listed latest first and told apart from check errors", async () => {
    const { place, records, append } = await api.run(startedRun());
    await api.run(
      append([records.turn(["a", "b"]), records.denied("a"), records.checkFailed("b")]),
    );
    const mine = (await get(`/denials?runId=${place.runId}`)).items;
    assert.sameMembers(
      mine.map(({ kind }: { kind: string }) => kind),
      ["denial", "check-error"],
    );
    const errors = await get(`/denials?runId=${place.runId}&kind=check-error`);
    assert.strictEqual(errors.items.length, 1);
    assert.strictEqual((await get("/denials?acknowledged=yes")).count.value, 0);
  });

  it("[OP-04] a diagnostic's evidence is behind its own route, never in a list", async () => {
    const { place, records, append } = await api.run(startedRun());
    const diagnosticId = diagnosticIdOf(
      { tenantId: place.tenantId, runId: place.runId, turn: 1, callId: callId("a") },
      "test",
    );
    await api.run(
      append(
        [records.turn(["a"])],
        [
          {
            diagnosticId,
            fingerprint: "fp-1",
            title: "It broke",
            toolName: "refund",
            callId: "a",
            encoded: { secretEvidence: "private" },
          },
        ],
      ),
    );
    const list = await get("/diagnostics?fingerprint=fp-1");
    assert.strictEqual(list.items[0].diagnosticId, diagnosticId);
    assert.notInclude(JSON.stringify(list), "private");
    const one = await get(`/diagnostics/${diagnosticId}`);
    assert.deepStrictEqual(one.diagnostic, { secretEvidence: "private" });
  });

  it("[OP-08] effects in doubt are listed oldest first and counted apart", async () => {
    const before = await get("/counts");
    const first = await api.run(unknownRun());
    const second = await api.run(unknownRun());
    const items = await everyPage("/unknowns", 1);
    const ids = items.map(({ unknownId }) => unknownId);
    assert.isBelow(ids.indexOf(first.unknownId), ids.indexOf(second.unknownId));
    const after = await get("/counts");
    assert.strictEqual(after.openUnknowns, before.openUnknowns + 2);
    assert.strictEqual(after.pendingApprovals, before.pendingApprovals);
  });

  it("[OP-11] every unsettled submission is an obligation with its blocker", async () => {
    const { place } = await api.run(gatedRun());
    const counts = await get("/counts");
    const items = await everyPage("/obligations", 3);
    assert.strictEqual(items.length, counts.activeRuns);
    const mine = items.find(({ runId }) => runId === place.runId);
    assert.deepInclude(mine, { blocker: "approval", severity: "ok", attempts: 1 });
    assert.match(mine.explanation, /^1 approval is pending/);
  });

  it("[C083] a count stops at 10,000 and says that it did", async () => {
    await api.run(
      Effect.flatMap(
        SqlClient,
        (sql) => sql`
          INSERT INTO runs (tenant_id, run_id, thread_id, submission_id, agent_id, state, title, requester_id,
            requester_name, created_at)
          SELECT 'default', 'run_bulk_' || n, 'thr_bulk', 'sub_bulk_' || n, 'bulk', 'completed', 'bulk', 'x', 'x',
            now() - n * interval '1 second' FROM generate_series(1, 10500) n`,
      ),
    );
    const page = await get("/runs?agentId=bulk&limit=1");
    assert.deepStrictEqual(page.count, { value: 10_000, capped: true });
    const fewer = await get("/runs?agentId=bulk&state=failed");
    assert.deepStrictEqual(fewer.count, { value: 0, capped: false });
  });

  it("[OP-09] the audit is one chain of digests, latest first", async () => {
    const rows = await everyPage("/audit", 2);
    for (const [at, row] of rows.entries()) {
      const older = rows[at + 1];
      if (older !== undefined) assert.strictEqual(row.previousDigest, older.digest);
    }
    assert.isAbove(rows.length, 0);
  });
});
