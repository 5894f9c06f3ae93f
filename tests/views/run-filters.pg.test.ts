/** Every filter of the run list, and every pair of them, against the plain answer over the same runs. */
import { Effect } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import { startApi, type TestApi, type TestOperator } from "#tests/support/api-server.ts";

interface PlainRun {
  readonly runId: string;
  readonly threadId: string;
  readonly agentId: string;
  readonly state: string;
  readonly failureTag: string | null;
  readonly title: string;
  readonly tools: ReadonlyArray<string>;
  readonly createdAt: number;
}

let api: TestApi;
let ann: TestOperator;
let plain: ReadonlyArray<PlainRun>;

const sqlOf = (statement: string) =>
  api.run(Effect.flatMap(SqlClient, (sql) => sql.unsafe<Record<string, unknown>>(statement)));

/** More runs than the search looks at in one go, so that each of its ways is taken. */
const runCount = 12_000;

beforeAll(async () => {
  api = await startApi();
  ann = await api.addOperator("viewer");
  await sqlOf(`
    INSERT INTO runs (tenant_id, run_id, thread_id, submission_id, agent_id, state, title, requester_id, requester_name, created_at)
    SELECT CASE WHEN n % 13 = 0 THEN 'other' ELSE 'default' END, 'run_' || md5('r' || n), 'thr_' || md5('t' || n / 3), 'sub_' || n,
      'agent-' || (n % 5), 'queued', (ARRAY['Refund', 'Exchange', '50% off_sale', 'Übergröße'])[1 + n % 4] || ' of order #' || n
        || CASE WHEN n % 3000 = 1 THEN ' needle' ELSE '' END, 'ada', 'Ada', timestamptz '2026-01-01' + (n / 2) * interval '1 second'
    FROM generate_series(1, ${runCount}) n`);
  await sqlOf(`
    INSERT INTO run_tools (tenant_id, tool_name, created_at, run_id)
    SELECT r.tenant_id, 'tool-' || t, r.created_at, r.run_id FROM runs r CROSS JOIN generate_series(0, 2) t
    WHERE hashtext(r.run_id || t) % 3 = 0`);
  await sqlOf(`
    UPDATE runs SET state = s.state, failure_tag = CASE WHEN s.state = 'failed' THEN 'Tag' || (abs(hashtext(run_id)) % 3) END,
      settled_at = CASE WHEN s.state IN ('completed', 'failed', 'aborted') THEN created_at END
    FROM (SELECT run_id AS id, (ARRAY['completed', 'completed', 'failed', 'aborted', 'waiting', 'unknown', 'queued', 'running'])
      [1 + abs(hashtext('s' || run_id)) % 8] AS state FROM runs) s WHERE s.id = run_id`);
  await sqlOf("ANALYZE");
  plain = (await sqlOf(`
    SELECT run_id AS "runId", thread_id AS "threadId", agent_id AS "agentId", state, failure_tag AS "failureTag", title,
      (extract(epoch FROM created_at) * 1000)::float8 AS "createdAt",
      (SELECT coalesce(array_agg(t.tool_name), '{}') FROM run_tools t WHERE t.tenant_id = r.tenant_id AND t.run_id = r.run_id) AS tools
    FROM runs r WHERE tenant_id = 'default' ORDER BY created_at DESC, run_id DESC`)) as unknown as ReadonlyArray<PlainRun>;
}, 120_000);
afterAll(() => api.close());

interface Filter {
  readonly query: string;
  readonly holds: (run: PlainRun) => boolean;
}

const has = (text: string) => (run: PlainRun) =>
  run.title.toLowerCase().includes(text.toLowerCase());
const text = (words: string): Filter => ({
  query: `text=${encodeURIComponent(words)}`,
  holds: has(words),
});

const filters = (): Readonly<Record<string, Filter>> => {
  const middle = plain[Math.floor(plain.length / 2)];
  if (middle === undefined) throw new Error("there are runs");
  return {
    state: { query: "state=failed", holds: ({ state }) => state === "failed" },
    states: {
      query: "state=waiting&state=completed&state=unknown",
      holds: ({ state }) => ["waiting", "completed", "unknown"].includes(state),
    },
    outcome: { query: "outcome=aborted", holds: ({ state }) => state === "aborted" },
    agent: { query: "agentId=agent-3", holds: ({ agentId }) => agentId === "agent-3" },
    tool: { query: "tool=tool-1", holds: ({ tools }) => tools.includes("tool-1") },
    failure: { query: "failureTag=Tag1", holds: ({ failureTag }) => failureTag === "Tag1" },
    thread: {
      query: `threadId=${middle.threadId}`,
      holds: ({ threadId }) => threadId === middle.threadId,
    },
    from: {
      query: `from=${middle.createdAt}`,
      holds: ({ createdAt }) => createdAt >= middle.createdAt,
    },
    to: { query: `to=${middle.createdAt}`, holds: ({ createdAt }) => createdAt < middle.createdAt },
    "frequent text": text("off_sale"),
    "rare text": text("needle"),
    "text that nothing has": text("zebra"),
    "text too short for an index": text("#7"),
    "text of another script": text("BERGRÖß"),
    "start of a run id": { query: "text=run_1", holds: ({ runId }) => runId.startsWith("run_1") },
    "start of a thread id": {
      query: `text=${middle.threadId.slice(0, 12)}`,
      holds: ({ threadId }) => threadId.startsWith(middle.threadId.slice(0, 12)),
    },
  };
};

/** The first pages in full, and one page that begins in the middle. */
const compare = async (name: string, query: string, holds: (run: PlainRun) => boolean) => {
  const expected = plain.filter(holds);
  const limit = 60;
  let at = 0;
  let cursor: string | undefined;
  for (let page = 0; page < 2; page++) {
    const { body, status } = await api.request(
      `/runs?${query}&limit=${limit}${cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`}`,
      { token: ann.token },
    );
    assert.strictEqual(status, 200, name);
    assert.deepStrictEqual(
      body.items.map(({ runId }: PlainRun) => runId),
      expected.slice(at, at + limit).map(({ runId }) => runId),
      `${name}, page ${page}`,
    );
    const count = body.count as { value: number; capped: boolean };
    if (count.capped) assert.isAtMost(count.value, expected.length, name);
    else assert.strictEqual(count.value, expected.length, name);
    assert.strictEqual(body.next !== undefined, expected.length > at + limit, name);
    if (body.next === undefined) return;
    at += limit;
    cursor = body.next;
  }
};

describe("the filters of the run list", () => {
  it("[OP-07] each alone and each pair gives what looking at every run gives, page by page, with its count", async () => {
    const all = Object.entries(filters());
    for (const [at, [name, one]] of all.entries()) {
      await compare(name, one.query, one.holds);
      for (const [other, two] of all.slice(at + 1)) {
        // An address has one text; the second would replace the first.
        if (one.query.startsWith("text=") && two.query.startsWith("text=")) continue;
        // Both are states: together they narrow.
        await compare(
          `${name} and ${other}`,
          `${one.query}&${two.query}`,
          name === "state" && other === "states"
            ? (run) => one.holds(run) || two.holds(run)
            : (run) => one.holds(run) && two.holds(run),
        );
      }
    }
  }, 120_000);

  it("[OP-07] without the index of trigrams the newest runs are searched, and the answer says how many", async () => {
    await sqlOf("DROP INDEX run_titles_by_trigram");
    const { body } = await api.request("/runs?text=zebra", { token: ann.token });
    assert.deepStrictEqual(body.items, []);
    assert.strictEqual(body.searched.rows, 10_000);
    assert.strictEqual(body.searched.since, plain[9_999]?.createdAt);
    assert.isTrue(body.count.capped);
    const narrow = await api.request("/runs?text=zebra&agentId=agent-1", { token: ann.token });
    assert.isUndefined(narrow.body.searched, "all runs of the agent were looked at");
  });
});
