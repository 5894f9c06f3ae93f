/**
 * Both queues as they were after an event, against what the API answered at that very moment, over random
 * histories of asking, voting, deciding, extending, looking, doubting, resolving and ending.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import * as fc from "fast-check";
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import {
  type Answer,
  startApi,
  type TestApi,
  type TestOperator,
} from "#tests/support/api-server.ts";
import { startedRun, unknownRun } from "#tests/support/ledger-fixtures.ts";

let api: TestApi;
/** Reads and never looks. */
let viewer: TestOperator;
let people: ReadonlyArray<TestOperator>;
beforeAll(async () => {
  api = await startApi();
  viewer = await api.addOperator("admin");
  people = [await api.addOperator("operator"), await api.addOperator("operator")];
});
afterAll(() => api.close());

const later = Date.now() + 86_400_000;

type Step =
  | {
      readonly kind: "ask";
      readonly calls: number;
      readonly people: number;
      readonly never: boolean;
    }
  | { readonly kind: "doubt" }
  | {
      readonly kind: "approve" | "deny" | "extend" | "look" | "resolve" | "end";
      readonly which: number;
      readonly who: number;
    };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("ask" as const),
      calls: fc.integer({ min: 1, max: 3 }),
      people: fc.integer({ min: 1, max: 2 }),
      never: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "doubt" as const }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom("approve", "deny", "extend", "look", "resolve", "end"),
      which: fc.nat(1_000),
      who: fc.nat(1),
    }),
  },
);

/** What each history begins with, so that none is without a batch, a first of two votes and a doubt. */
const opening: ReadonlyArray<Step> = [
  { kind: "ask", calls: 2, people: 2, never: false },
  { kind: "approve", which: 0, who: 0 },
  { kind: "doubt" },
];

interface Recording {
  readonly sequence: number;
  readonly approvals: Answer;
  readonly unknowns: Answer;
}

const get = async (path: string): Promise<Answer> => {
  const answer = await api.request(path, { token: viewer.token });
  assert.strictEqual(answer.status, 200, `${path}: ${answer.text}`);
  return answer.body;
};

/** What the API says now, once every event has its place in the log. */
const record = async (): Promise<Recording> => {
  await api.run(
    Effect.flatMap(SqlClient, (sql) => sql`SELECT * FROM assign_event_sequences('default', 10000)`),
  );
  const approvals = await get("/approvals?limit=200");
  const unknowns = await get("/unknowns?limit=200");
  const cards: Array<Answer> = [];
  for (const { requestId } of approvals.items) cards.push(await get(`/approvals/${requestId}`));
  return {
    sequence: approvals.asOf,
    approvals: approvals.items.map((row: Answer, at: number) => ({
      ...row,
      approversMissing: cards[at].approversMissing,
      approvers: cards[at].approvers.map(({ operatorId }: Answer) => operatorId),
    })),
    unknowns: unknowns.items,
  };
};

const rebuilt = async (sequence: number) => {
  const approvals = await get(`/approvals/moments/${sequence}`);
  const unknowns = await get(`/unknowns/moments/${sequence}`);
  assert.deepStrictEqual([approvals.sequence, unknowns.sequence], [sequence, sequence]);
  return {
    sequence,
    // Who looks ends by the clock, without an event: a test of its own looks at that.
    approvals: approvals.items.map(({ approversRequired: _, lookers: __, ...row }: Answer) => ({
      ...row,
      approvers: row.approvers.map(({ operatorId }: Answer) => operatorId),
    })),
    unknowns: unknowns.items.map(({ probes: _, ...row }: Answer) => row),
  };
};

type Run = Effect.Success<ReturnType<typeof startedRun>>;

const ask = async ({ calls, people: required, never }: Extract<Step, { kind: "ask" }>) =>
  api.run(
    Effect.gen(function* () {
      const run = yield* startedRun();
      const ids = Array.from({ length: calls }, (_, index) => `call-${index + 1}`);
      const asked = ids.map((id, index) => {
        const one = run.records.approvalRequested(id, {
          expiresAt: never ? "never" : later + index,
        });
        return { ...one, request: { ...one.request, approversRequired: required } };
      });
      yield* run.append([run.records.turn(ids), ...asked, run.records.suspended("approval")]);
      return run;
    }),
  );

const doubt = () => api.run(unknownRun());

let commands = 0;
const command = () => `moment-command-${(commands += 1)}`;

/** Does the step on what is open now, if there is anything; who may not is refused, which changes nothing. */
const take = async (one: Step, gated: Array<Run>): Promise<void> => {
  if (one.kind === "ask") return void gated.push(await ask(one));
  if (one.kind === "doubt") return void (await doubt());
  const token = people[one.who]?.token ?? "";
  const post = (path: string, body: unknown) => api.request(path, { token, body });
  if (one.kind === "end") {
    const [run] = gated.splice(one.which % Math.max(1, gated.length), 1);
    if (run !== undefined) await api.run(run.append([run.records.runSettled("aborted")]));
    return;
  }
  if (one.kind === "resolve") {
    const { items } = await get("/unknowns?limit=200");
    if (items.length === 0) return;
    const { unknownId } = items[one.which % items.length];
    const { parametersDigest } = await get(`/unknowns/${unknownId}`);
    await post(`/unknowns/${unknownId}/resolution`, {
      commandId: command(),
      resolution: "never-happened",
      parametersDigest,
      reason: "looked it up",
      evidence: "ledger",
    });
    return;
  }
  const { items } = await get("/approvals?limit=200");
  if (items.length === 0) return;
  const { requestId } = items[one.which % items.length];
  const about = `/approvals/${requestId}`;
  if (one.kind === "look") return void (await post(`${about}/look`, { looking: true }));
  if (one.kind === "extend") {
    await post(`${about}/extend`, { commandId: command(), seconds: 3_600, reason: "more time" });
    return;
  }
  await post(`${about}/decision`, {
    commandId: command(),
    decision: one.kind === "approve" ? "approved" : "denied",
    parametersDigest: "a".repeat(64),
    reason: "seen",
  });
};

describe("the queues as they were after an event", () => {
  it("[OP-05][OP-08][C070] are what the API answered at that moment, whatever has happened since", async () => {
    const kinds = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 11 }), async (steps) => {
        const gated: Array<Run> = [];
        const recordings: Array<Recording> = [];
        for (const one of [...opening, ...steps]) {
          await take(one, gated);
          const recording = await record();
          if (recording.sequence > 0) recordings.push(recording);
        }
        // Only now, when all of it is over.
        for (const recording of recordings) {
          assert.deepStrictEqual(await rebuilt(recording.sequence), recording);
        }
        for (const { approvals, unknowns } of recordings) {
          for (const row of approvals) {
            if (row.approvers.length > 0) kinds.add("votes");
            if (row.batchPending > 1) kinds.add("batch");
          }
          if (unknowns.length > 0) kinds.add("doubts");
        }
      }),
      { numRuns: 2, endOnFailure: true },
    );
    assert.deepStrictEqual([...kinds].toSorted(), ["batch", "doubts", "votes"]);
  }, 180_000);

  it("[OP-05] every decision names its event; one event earlier the request is open", async () => {
    const run = await ask({ kind: "ask", calls: 1, people: 1, never: true });
    const requestId = run.records.approvalRequested("call-1").requestId;
    await record();
    await api.request(`/approvals/${requestId}/decision`, {
      token: people[0]?.token ?? "",
      body: {
        commandId: command(),
        decision: "denied",
        parametersDigest: "a".repeat(64),
        reason: "no",
      },
    });
    await record();
    const { moment } = await get(`/approvals/${requestId}`);
    const [act] = (await get("/audit?verb=decide-approval&limit=1")).items;
    assert.deepStrictEqual([act.target, act.moment], [requestId, moment]);
    const at = async (sequence: number): Promise<ReadonlyArray<string>> =>
      (await get(`/approvals/moments/${sequence}`)).items.map((row: Answer) => row.requestId);
    assert.include(await at(moment - 1), requestId);
    assert.notInclude(await at(moment), requestId);
  });

  it("[OP-05] who had begun to look, and who had approved, stand at the request as it was", async () => {
    const run = await ask({ kind: "ask", calls: 1, people: 2, never: true });
    const requestId = run.records.approvalRequested("call-1").requestId;
    const [first, second] = people;
    const post = (by: TestOperator | undefined, path: string, body: unknown) =>
      api.request(`/approvals/${requestId}/${path}`, { token: by?.token ?? "", body });
    const asked = await record();
    await post(first, "look", { looking: true });
    const looked = await record();
    const decision = { decision: "approved", parametersDigest: "a".repeat(64), reason: "" };
    await post(first, "decision", { ...decision, commandId: command() });
    const voted = await record();
    await post(second, "decision", { ...decision, commandId: command() });
    await record();
    const then = async ({ sequence }: Recording) => {
      const { items } = await get(`/approvals/moments/${sequence}`);
      const row = items.find((one: Answer) => one.requestId === requestId);
      const idsOf = (some: ReadonlyArray<Answer>) => some.map(({ operatorId }) => operatorId);
      return [idsOf(row.lookers), idsOf(row.approvers), row.approversMissing];
    };
    assert.deepStrictEqual(
      [await then(asked), await then(looked), await then(voted)],
      [
        [[], [], 2],
        [[first?.operatorId], [], 2],
        [[first?.operatorId], [first?.operatorId], 1],
      ],
    );
  });

  it("[OP-05] a moment behind the newest event is the newest; before the first there is none, and a trimmed one says so", async () => {
    const { sequence, previous } = await get("/approvals/moments/999999999");
    assert.strictEqual(previous, sequence - 1);
    assert.strictEqual(
      (await api.request("/approvals/moments/0", { token: viewer.token })).status,
      404,
    );
    await api.run(
      Effect.flatMap(SqlClient, (sql) =>
        Effect.andThen(
          sql`DELETE FROM events WHERE tenant_id = 'default' AND sequence < 5`,
          sql`UPDATE event_tails SET first_sequence = 5 WHERE tenant_id = 'default'`,
        ),
      ),
    );
    const trimmed = await api.request("/unknowns/moments/2", { token: viewer.token });
    assert.deepStrictEqual([trimmed.status, trimmed.body._tag], [422, "InvalidInput"]);
  });
});
