/** Who gets what answer on which route: every role, nobody, and another tenant. */
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import { Api } from "#lib/contract/http/api.ts";
import type { OperatorRole } from "#lib/contract/status.ts";
import { startApi, type TestApi, type TestOperator } from "#tests/support/api-server.ts";
import { deniedRun, gatedRun, unknownRun } from "#tests/support/ledger-fixtures.ts";

interface Ids {
  readonly runId: string;
  readonly threadId: string;
  readonly requestId: string;
  readonly unknownId: string;
  readonly denialId: string;
}

const roles = ["viewer", "decider", "operator", "admin"] as const;
const digest = "a".repeat(64);

/** One row per route of the API: how it is asked, and the lowest role that is answered. */
const routes: ReadonlyArray<{
  readonly route: string;
  readonly ask: (
    ids: Ids,
    n: number,
  ) => { path: string; method?: string; body?: unknown; headers?: Record<string, string> };
  readonly needs: OperatorRole | "open";
  /** The id in it belongs to one tenant. */
  readonly owned?: true;
}> = [
  { route: "GET /health", ask: () => ({ path: "/health" }), needs: "open" },
  { route: "GET /ready", ask: () => ({ path: "/ready" }), needs: "open" },
  {
    route: "POST /session",
    ask: () => ({ path: "/session", body: { token: "wrong" } }),
    needs: "open",
  },
  {
    route: "DELETE /session",
    ask: () => ({ path: "/session", method: "DELETE" }),
    needs: "viewer",
  },
  { route: "GET /me", ask: () => ({ path: "/me" }), needs: "viewer" },
  {
    route: "POST /me/password",
    ask: () => ({ path: "/me/password", body: { password: "long enough to pass" } }),
    needs: "viewer",
  },
  {
    route: "POST /operators/sign-in-links",
    ask: (_, n) => ({
      path: "/operators/sign-in-links",
      body: { email: `new${n}@example.test`, name: "New", role: "viewer" },
    }),
    needs: "admin",
  },
  { route: "GET /openapi.json", ask: () => ({ path: "/openapi.json" }), needs: "viewer" },
  { route: "GET /agents", ask: () => ({ path: "/agents" }), needs: "viewer" },
  { route: "GET /agents/:agentId", ask: () => ({ path: "/agents/desk" }), needs: "viewer" },
  {
    route: "POST /submissions",
    ask: (_, n) => ({
      path: "/submissions",
      body: { agentId: "desk", input: { text: "hi" } },
      headers: { "idempotency-key": `auth-table-${n}` },
    }),
    needs: "operator",
  },
  { route: "GET /runs", ask: () => ({ path: "/runs" }), needs: "viewer" },
  {
    route: "GET /runs/:runId",
    ask: ({ runId }) => ({ path: `/runs/${runId}` }),
    needs: "viewer",
    owned: true,
  },
  {
    route: "GET /runs/:runId/moments/:sequence",
    ask: ({ runId }) => ({ path: `/runs/${runId}/moments/1000` }),
    needs: "viewer",
    owned: true,
  },
  {
    route: "GET /runs/:runId/turns",
    ask: ({ runId }) => ({ path: `/runs/${runId}/turns?first=1` }),
    needs: "viewer",
    owned: true,
  },
  {
    route: "GET /runs/:runId/times",
    ask: ({ runId }) => ({ path: `/runs/${runId}/times?before=5` }),
    needs: "viewer",
    owned: true,
  },
  {
    route: "GET /runs/:runId/turns/:turn/body",
    ask: ({ runId }) => ({ path: `/runs/${runId}/turns/1/body?callId=a&body=parameters` }),
    needs: "viewer",
    owned: true,
  },
  {
    route: "GET /runs/:runId/records",
    ask: ({ runId }) => ({ path: `/runs/${runId}/records` }),
    needs: "viewer",
    owned: true,
  },
  {
    route: "POST /runs/:runId/verification",
    ask: ({ runId }) => ({ path: `/runs/${runId}/verification`, method: "POST" }),
    needs: "operator",
    owned: true,
  },
  {
    route: "POST /threads/:threadId/verification",
    ask: ({ threadId }) => ({ path: `/threads/${threadId}/verification`, method: "POST" }),
    needs: "operator",
    owned: true,
  },
  {
    route: "GET /runs/:runId/turns/:turn/exposure",
    ask: ({ runId }) => ({ path: `/runs/${runId}/turns/1/exposure` }),
    needs: "viewer",
    owned: true,
  },
  {
    route: "GET /runs/:runId/exposure-explanation",
    ask: ({ runId }) => ({ path: `/runs/${runId}/exposure-explanation?tool=refund&turn=1` }),
    needs: "viewer",
    owned: true,
  },
  {
    route: "POST /runs/:runId/proof",
    ask: ({ runId }, n) => ({ path: `/runs/${runId}/proof`, body: { commandId: `proof-${n}` } }),
    needs: "operator",
    owned: true,
  },
  {
    route: "POST /runs/:runId/abort",
    ask: ({ runId }, n) => ({
      path: `/runs/${runId}/abort`,
      body: { commandId: `abort-${n}`, reason: "enough" },
    }),
    needs: "operator",
    owned: true,
  },
  {
    route: "GET /runs/:runId/explanation",
    ask: ({ runId }) => ({ path: `/runs/${runId}/explanation` }),
    needs: "viewer",
    owned: true,
  },
  {
    route: "POST /runs/:runId/wake",
    ask: ({ runId }, n) => ({
      path: `/runs/${runId}/wake`,
      body: { commandId: `wake-${n}`, reason: "go on" },
    }),
    needs: "operator",
    owned: true,
  },
  {
    route: "POST /runs/:runId/retry",
    ask: ({ runId }, n) => ({
      path: `/runs/${runId}/retry`,
      body: { commandId: `retry-${n}`, reason: "once more" },
    }),
    needs: "operator",
    owned: true,
  },
  {
    route: "POST /unknowns/:unknownId/probe",
    ask: ({ unknownId }, n) => ({
      path: `/unknowns/${unknownId}/probe`,
      body: { commandId: `probe-${n}` },
    }),
    needs: "operator",
    owned: true,
  },
  { route: "GET /approvals", ask: () => ({ path: "/approvals" }), needs: "viewer" },
  {
    route: "GET /approvals/moments/:sequence",
    ask: () => ({ path: "/approvals/moments/1000" }),
    needs: "viewer",
  },
  {
    route: "GET /unknowns/moments/:sequence",
    ask: () => ({ path: "/unknowns/moments/1000" }),
    needs: "viewer",
  },
  {
    route: "GET /approvals/:requestId",
    ask: ({ requestId }) => ({ path: `/approvals/${requestId}` }),
    needs: "viewer",
    owned: true,
  },
  {
    route: "POST /approvals/:requestId/look",
    ask: ({ requestId }) => ({ path: `/approvals/${requestId}/look`, body: { looking: true } }),
    needs: "decider",
    owned: true,
  },
  {
    route: "POST /approvals/:requestId/extend",
    ask: ({ requestId }, n) => ({
      path: `/approvals/${requestId}/extend`,
      body: { commandId: `extend-${n}`, seconds: 2_000_000 + n, reason: "later" },
    }),
    needs: "decider",
    owned: true,
  },
  {
    route: "POST /approvals/:requestId/decision",
    ask: ({ requestId }, n) => ({
      path: `/approvals/${requestId}/decision`,
      body: {
        commandId: `decide-${n}`,
        decision: "approved",
        parametersDigest: digest,
        reason: "",
      },
    }),
    needs: "decider",
    owned: true,
  },
  { route: "GET /unknowns", ask: () => ({ path: "/unknowns" }), needs: "viewer" },
  {
    route: "GET /unknowns/:unknownId",
    ask: ({ unknownId }) => ({ path: `/unknowns/${unknownId}` }),
    needs: "viewer",
    owned: true,
  },
  {
    route: "POST /unknowns/:unknownId/resolution",
    ask: ({ unknownId }, n) => ({
      path: `/unknowns/${unknownId}/resolution`,
      body: {
        commandId: `resolve-${n}`,
        resolution: "never-happened",
        parametersDigest: digest,
        reason: "looked",
        evidence: "ledger",
      },
    }),
    needs: "operator",
    owned: true,
  },
  { route: "GET /denials", ask: () => ({ path: "/denials" }), needs: "viewer" },
  {
    route: "GET /denials/:denialId",
    ask: ({ denialId }) => ({ path: `/denials/${denialId}` }),
    needs: "viewer",
    owned: true,
  },
  {
    route: "POST /denials/:denialId/acknowledge",
    ask: ({ denialId }, n) => ({
      path: `/denials/${denialId}/acknowledge`,
      body: { commandId: `ack-${n}`, note: "seen" },
    }),
    needs: "operator",
    owned: true,
  },
  { route: "GET /diagnostics", ask: () => ({ path: "/diagnostics" }), needs: "operator" },
  {
    route: "GET /diagnostics/:diagnosticId",
    ask: () => ({ path: "/diagnostics/dia_none" }),
    needs: "operator",
  },
  { route: "GET /counts", ask: () => ({ path: "/counts" }), needs: "viewer" },
  { route: "GET /obligations", ask: () => ({ path: "/obligations" }), needs: "viewer" },
  { route: "GET /workers", ask: () => ({ path: "/workers" }), needs: "viewer" },
  { route: "GET /audit", ask: () => ({ path: "/audit" }), needs: "operator" },
  { route: "GET /events", ask: () => ({ path: "/events" }), needs: "viewer" },
];

let api: TestApi;
let mine: Ids;
const people = new Map<OperatorRole, TestOperator>();
let foreigner: TestOperator;
let asked = 0;

const ask = (row: (typeof routes)[number], ids: Ids, token: string | undefined) => {
  asked += 1;
  const { path, ...options } = row.ask(ids, asked);
  return api.request(path, { ...options, ...(token === undefined ? {} : { token }) });
};

/** The answer's head only: a stream never ends by itself. */
const statusOfStream = async (token: string | undefined): Promise<number> => {
  const abort = new AbortController();
  const response = await fetch(`${api.origin}/api/v1/events`, {
    signal: abort.signal,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
  abort.abort();
  return response.status;
};

beforeAll(async () => {
  api = await startApi();
  for (const role of roles) people.set(role, await api.addOperator(role));
  foreigner = await api.addOperator("admin", "other");
  const gated = await api.run(gatedRun({ expiresAt: Date.now() + 3_600_000 }));
  const unknown = await api.run(unknownRun());
  const denied = await api.run(deniedRun());
  mine = {
    runId: gated.place.runId,
    threadId: gated.place.threadId,
    requestId: gated.requestIds[0] ?? "",
    unknownId: unknown.unknownId,
    denialId: denied.denialId,
  };
});
afterAll(() => api.close());

describe("the table of routes", () => {
  it("[C043] names every route of the API definition", () => {
    const defined = Object.values(Api.groups).flatMap((group) =>
      Object.values(group.endpoints).map(
        (endpoint) => `${endpoint.method} ${endpoint.path.replace("/api/v1", "")}`,
      ),
    );
    assert.deepStrictEqual([...defined].sort(), routes.map(({ route }) => route).sort());
  });

  for (const row of routes) {
    const isStream = row.route === "GET /events";
    it(`[C043] [Z-12] ${row.route} answers nobody without credentials, unless it is open`, async () => {
      if (isStream) return assert.strictEqual(await statusOfStream(undefined), 401);
      const answer = await ask(row, mine, undefined);
      if (row.needs === "open") return assert.isBelow(answer.status, 402);
      assert.strictEqual(answer.status, 401);
      assert.strictEqual(answer.body._tag, "Unauthenticated");
    });

    if (row.needs !== "open") {
      it(`[C043] ${row.route} refuses a token nobody has`, async () => {
        if (isStream) return assert.strictEqual(await statusOfStream("eat_wrong"), 401);
        const answer = await ask(row, mine, "eat_wrong");
        assert.strictEqual(answer.status, 401);
      });

      it(`[Z-12] [C042] ${row.route} answers ${row.needs} and above, and 403 below`, async () => {
        for (const role of roles) {
          const token = people.get(role)?.token;
          const status = isStream
            ? await statusOfStream(token)
            : (await ask(row, mine, token)).status;
          if (roles.indexOf(role) < roles.indexOf(row.needs === "open" ? "viewer" : row.needs))
            assert.strictEqual(status, 403, `${row.route} as ${role}`);
          else assert.notInclude([401, 403, 500], status, `${row.route} as ${role}`);
        }
      });
    }

    if (row.owned === true) {
      it(`[C042] ${row.route} cannot tell a foreign id from a missing one`, async () => {
        const none = {
          runId: "run_none",
          threadId: "thr_none",
          requestId: "apr_none",
          unknownId: "unk_none",
          denialId: "den_none",
        };
        const foreign = await ask(row, mine, foreigner.token);
        const missing = await ask(row, none, foreigner.token);
        assert.strictEqual(foreign.status, 404, row.route);
        assert.strictEqual(missing.status, 404);
        assert.deepStrictEqual(foreign.body, missing.body);
      });
    }
  }

  it("[C042] another tenant's lists hold nothing of ours", async () => {
    for (const path of ["/runs", "/approvals", "/unknowns", "/denials", "/obligations"]) {
      const ours = await api.request(path, { token: people.get("admin")?.token ?? "" });
      const theirs = await api.request(path, { token: foreigner.token });
      assert.strictEqual(theirs.body.items.length, 0, path);
      assert.strictEqual(theirs.body.count.value, 0, path);
      if (path === "/runs") assert.isAbove(ours.body.items.length, 2);
    }
  });

  it("[C043] an address that is no route says so and nothing else", async () => {
    const answer = await api.request("/nothing/here");
    assert.strictEqual(answer.status, 404);
    assert.strictEqual(answer.body._tag, "NotFound");
  });
});
