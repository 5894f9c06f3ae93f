/** Cases that users of other consoles met and the API decides: one truth for every view, whole events, no dead ends. */
import { Effect } from "effect";
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import { AgentId, DiagnosticId, TenantId } from "#lib/contract/ids.ts";
import { Approvals } from "#lib/durable/Approvals.ts";
import { EventLog } from "#lib/durable/EventLog.ts";
import { announce } from "#server/postgres/announce.ts";
import { startApi, type TestApi, type TestOperator } from "#tests/support/api-server.ts";
import { gatedRun, startedRun } from "#tests/support/ledger-fixtures.ts";

let api: TestApi;
let ann: TestOperator;
let viewer: TestOperator;
beforeAll(async () => {
  api = await startApi();
  ann = await api.addOperator("operator");
  viewer = await api.addOperator("viewer");
});
afterAll(() => api.close());

const get = async (path: string, by = ann) => (await api.request(path, { token: by.token })).body;
const idsIn = async (path: string): Promise<ReadonlyArray<string>> =>
  (await get(path)).items.map(({ requestId }: { requestId: string }) => requestId);

describe("one truth", () => {
  it("[C016] past its expiry every view says the same: lists, card, run and badge", async () => {
    const before = (await get("/counts")).pendingApprovals;
    const run = await api.run(gatedRun({ expiresAt: Date.now() - 1_000 }));
    const requestId = run.requestIds[0] ?? "";
    await api.run(Effect.flatMap(Approvals, (approvals) => approvals.expire(100)));
    assert.notInclude(await idsIn("/approvals?limit=200"), requestId);
    assert.include(await idsIn("/approvals?state=expired&limit=200"), requestId);
    const card = await get(`/approvals/${requestId}`);
    assert.deepInclude(card, { state: "expired", decidedBy: "the clock" });
    assert.isFalse(card.mayDecide.allowed);
    assert.strictEqual((await get(`/runs/${run.place.runId}`)).run?.pendingApprovals ?? 0, 0);
    assert.strictEqual((await get("/counts")).pendingApprovals, before);
  });

  it("[C073] a submitted run is in the list and at its own address at once", async () => {
    const { status, body } = await api.request("/submissions", {
      token: ann.token,
      body: { agentId: "desk", input: { text: "at once" } },
      headers: { "idempotency-key": "console-cases-1" },
    });
    assert.isBelow(status, 300);
    assert.strictEqual(
      (await api.request(`/runs/${body.runId}`, { token: ann.token })).status,
      200,
    );
    const { items } = await get("/runs?limit=5");
    assert.include(
      items.map(({ runId }: { runId: string }) => runId),
      body.runId,
    );
  });

  it("[C040] what a role may not do is said on the card and refused by the route", async () => {
    const { requestIds } = await api.run(gatedRun());
    const card = await get(`/approvals/${requestIds[0]}`, viewer);
    assert.deepInclude(card.mayDecide, { allowed: false });
    assert.include(card.mayDecide.why, "decider");
    const body = { commandId: "viewer-decides-1", decision: "approved", reason: "" };
    const { status } = await api.request(`/approvals/${requestIds[0]}/decision`, {
      token: viewer.token,
      body: { ...body, parametersDigest: "a".repeat(64) },
    });
    assert.strictEqual(status, 403);
  });

  it("[C097] every verb is found by its own filter, and an approval is told from a denial", async () => {
    const [first, second] = [
      await api.run(gatedRun()),
      await api.run(gatedRun({ expiresAt: Date.now() + 90_000 })),
    ];
    const act = (requestId: string | undefined, route: string, body: object) =>
      api.request(`/approvals/${requestId}/${route}`, {
        token: ann.token,
        body: { reason: "because", ...body },
      });
    const parametersDigest = "a".repeat(64);
    const decision = (commandId: string, word: string) => ({
      commandId,
      decision: word,
      parametersDigest,
    });
    await act(first.requestIds[0], "decision", decision("verbs-approve", "approved"));
    await act(second.requestIds[0], "extend", { commandId: "verbs-extend", seconds: 3_600 });
    await act(second.requestIds[0], "decision", decision("verbs-deny", "denied"));
    const audit = async (verb: string) =>
      (await get(`/audit?verb=${verb}&limit=200`)).items.filter(({ target }: { target: string }) =>
        [...first.requestIds, ...second.requestIds].some((id) => id === target),
      );
    const decided = await audit("decide-approval");
    assert.deepStrictEqual(
      decided.map(({ verb, after }: { verb: string; after: { state: string } }) => [
        verb,
        after.state,
      ]),
      [
        ["decide-approval", "denied"],
        ["decide-approval", "approved"],
      ],
    );
    const [extended, ...rest] = await audit("extend-approval");
    assert.strictEqual(extended.verb, "extend-approval");
    assert.deepStrictEqual(rest, []);
  });
});

describe("failures", () => {
  it("[C093] five attempts that fail in five ways and a timeout after them are six, each with its own evidence whole", async () => {
    const { append, place, records } = await api.run(startedRun());
    const ways = ["TypeError", "CarrierAway", "RateLimited", "Refused", "Broken", "TimedOut"];
    for (const [index, way] of ways.entries()) {
      const encoded = {
        version: 1,
        root: { _tag: "Failure", name: way, message: `number ${index}` },
      };
      const own = { diagnosticId: DiagnosticId.make(`dia_${way}_${place.runId}`), encoded };
      await api.run(
        append(
          [records.attempt(index + 2)],
          [{ ...own, fingerprint: way, title: way, toolName: "refund", callId: null }],
        ),
      );
    }
    await api.run(append([records.runSettled("failed")]));
    const { items } = await get(`/diagnostics?runId=${place.runId}&limit=50`);
    assert.sameMembers(
      items.map(({ title }: { title: string }) => title),
      ways,
    );
    for (const [index, way] of ways.entries()) {
      const one = await get(`/diagnostics/dia_${way}_${place.runId}`);
      assert.deepInclude(one.diagnostic.root, { name: way, message: `number ${index}` });
    }
    const detail = await get(`/runs/${place.runId}`);
    assert.strictEqual((detail.run ?? detail).attempts.length, ways.length + 1);
  });
});

describe("events of any size", () => {
  it.each([7_999, 8_000, 1_000_000])(
    "[C069] an event of %i bytes is stored and delivered whole",
    async (bytes) => {
      const { place } = await api.run(startedRun());
      const detail = "x".repeat(bytes);
      const tenantId = TenantId.make("default");
      const log = await api.run(EventLog);
      const { last } = await api.run(log.bounds(tenantId));
      await api.run(
        announce(
          { ...place, agentId: AgentId.make("desk") },
          { _tag: "RunAborted", reason: detail },
        ),
      );
      const delivered = async () => {
        const response = await fetch(
          `${api.origin}/api/v1/events?after=${last}&runId=${place.runId}`,
          {
            headers: { authorization: `Bearer ${ann.token}`, "accept-encoding": "gzip, br" },
          },
        );
        let text = "";
        for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
          text += chunk;
          if (text.includes('"RunAborted"') && text.endsWith("\n\n")) break;
        }
        return { text, headers: response.headers };
      };
      const { text, headers } = await delivered();
      assert.include(text, `"reason":"${detail}"`);
      // [C066] says what a proxy in between must not do.
      assert.strictEqual(headers.get("x-accel-buffering"), "no");
      assert.include(headers.get("cache-control"), "no-transform");
      assert.isNull(headers.get("content-encoding"));
    },
  );

  it("[C066] a stream forbids proxies to hold it back or to transform it, and its first frame comes by itself", async () => {
    const abort = new AbortController();
    const response = await fetch(`${api.origin}/api/v1/events`, {
      headers: { authorization: `Bearer ${ann.token}`, "accept-encoding": "gzip, br" },
      signal: abort.signal,
    });
    assert.strictEqual(response.headers.get("x-accel-buffering"), "no");
    assert.include(response.headers.get("cache-control"), "no-transform");
    assert.isNull(response.headers.get("content-encoding"));
    const first = await response.body?.getReader().read();
    assert.include(new TextDecoder().decode(first?.value), "event: heartbeat");
    abort.abort();
  });
});
