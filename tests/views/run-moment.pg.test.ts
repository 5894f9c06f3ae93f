/** A run's past is folded from its newest turns and counted before them: it must be what folding every event gives. */
import { Effect } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import fc from "fast-check";
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import type { LoggedEvent, RunEvent } from "#lib/contract/events.ts";
import type { Actor, RunRecord } from "#lib/contract/records.ts";
import { EventLog } from "#lib/durable/EventLog.ts";
import { reconcilerActor } from "#lib/durable/rule-actors.ts";
import { foldMoment, withStoredFacts } from "#server/views/fold-moment.ts";
import { readRunDetail } from "#server/views/run-detail.ts";
import { readRunMoment } from "#server/views/run-moment.ts";
import { turnsBetween } from "#server/views/run-turns.ts";
import { windowOf } from "#server/views/run-window.ts";
import { startApi, type TestApi } from "#tests/support/api-server.ts";
import { startedRun } from "#tests/support/ledger-fixtures.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
}, 60_000);
afterAll(() => api.close());

type Place = Effect.Success<ReturnType<typeof startedRun>>["place"];

/** A rule's answer is told by its record; a person's by the transaction that took it. */
const rule: Actor = { kind: "policy", id: "rule", name: "Rule" };

const call = fc.record({
  gate: fc.constantFrom("none", "approved", "denied", "open"),
  end: fc.constantFrom("succeeded", "failed", "unknown", "resolved", "denied"),
  inner: fc.boolean(),
});
const plan = fc.record({
  turns: fc.array(fc.array(call, { maxLength: 4 }), { maxLength: 9 }),
  end: fc.constantFrom("completed", "failed", "open"),
  later: fc.boolean(),
});

type CallPlan = typeof call extends fc.Arbitrary<infer Plan> ? Plan : never;
type RunPlan = typeof plan extends fc.Arbitrary<infer Plan> ? Plan : never;
type Run = Effect.Success<ReturnType<typeof startedRun>>;

const recordsOfCall = (
  { place, records }: Run,
  turn: number,
  id: string,
  one: CallPlan,
): ReadonlyArray<RunRecord> => {
  const made: Array<RunRecord> = [];
  if (one.gate === "approved") made.push({ ...records.decided(id, "approved", rule), turn });
  if (one.gate === "denied") {
    return [
      { ...records.decided(id, "denied", rule), turn },
      { ...records.settled(id, "no"), turn, kind: "denied-by-person", isFailure: true },
    ];
  }
  if (one.end === "denied") return [...made, { ...records.denied(id), turn }];
  made.push(records.prepared(id, 1, turn));
  if (one.inner) {
    const [declared] = records.turn([`${id}-inner`]).calls;
    if (declared !== undefined)
      made.push(
        {
          _tag: "InnerCallDeclared",
          runId: place.runId,
          turn,
          declared: { ...declared, parentCallId: records.prepared(id).callId },
        },
        { ...records.prepared(`${id}-inner`, 1, turn), parentCallId: records.prepared(id).callId },
        { ...records.settled(`${id}-inner`, { inner: id }), turn },
      );
  }
  if (one.end === "succeeded") made.push({ ...records.settled(id, { id }), turn });
  if (one.end === "failed")
    made.push({ ...records.settled(id, "broken"), turn, kind: "failed", isFailure: true });
  if (one.end === "unknown") made.push({ ...records.unknown(id), turn });
  if (one.end === "resolved")
    made.push(
      { ...records.unknown(id), turn },
      { ...records.resolved(id, "never-happened"), turn, actor: reconcilerActor },
      { ...records.settled(id, { id }), turn },
    );
  return made;
};
/** An event that no record tells: of a person's transaction, or of the model's stream. */
const announce = (place: Place, event: RunEvent) =>
  Effect.flatMap(
    SqlClient,
    (sql) => sql`SELECT announce_event(${place.tenantId}, 'desk', ${place.threadId}, ${place.runId},
      ${event._tag}, ${JSON.stringify(event)})`,
  );

const writeRun = Effect.fnUntraced(function* ({ end, later, turns }: RunPlan) {
  const run = yield* startedRun();
  const { place, records } = run;
  for (const [at, calls] of turns.entries()) {
    const turn = at + 1;
    const ids = calls.map((_, index) => `c${turn}-${index}`);
    yield* announce(place, { _tag: "ModelText", turn, text: "I think" });
    yield* run.append([
      records.turn(ids, { turn, parameters: { turn } }),
      ...calls.flatMap((one, index) =>
        one.gate === "none" ? [] : [{ ...records.approvalRequested(ids[index] ?? ""), turn }],
      ),
    ]);
    if (calls.some(({ gate }) => gate === "open")) {
      yield* run.append([records.suspended("approval", turn)]);
      yield* run.append([records.attempt(turn + 1)]);
    }
    const made = calls.flatMap((one, index) => recordsOfCall(run, turn, ids[index] ?? "", one));
    if (made.length > 0) yield* run.append(made);
  }
  if (end !== "open") yield* run.append([records.runSettled(end)]);
  // A person answers for a call of the first turn long after, and looks again at what is settled.
  if (later) {
    const { callId, toolName, unknownId } = records.unknown("c1-0");
    const first = { turn: 1, callId, toolName };
    yield* announce(place, {
      _tag: "UnknownResolved",
      ...first,
      unknownId,
      resolution: "never-happened",
      actor: rule,
    });
    yield* announce(place, { _tag: "AbortRequested", actor: rule, reason: "enough" });
  }
  return place;
});
/** Every event of the run, once all that wait have their places. */
const readEvents = Effect.fnUntraced(function* ({ runId, tenantId }: Place) {
  const sql = yield* SqlClient;
  while ((yield* sql`SELECT FROM event_inbox WHERE run_id = ${runId} LIMIT 1`).length > 0)
    yield* Effect.sleep(20);
  return yield* (yield* EventLog).read({ tenantId, runId, after: 0, limit: 1_000 });
});

/** The slow way: every event up to then is folded, and what is shown of the turns is chosen after. */
const slowMoment = Effect.fnUntraced(function* (
  { runId, tenantId }: Place,
  events: ReadonlyArray<LoggedEvent>,
  most: number,
) {
  const today = yield* readRunDetail(tenantId, runId);
  const folded = foldMoment(today, events);
  const { firstTurn } = windowOf(
    folded.turnViews.map(({ calls, turn }) => ({ turn, calls: calls.length, sequence: 0 })),
    most,
  );
  const turns = yield* turnsBetween(tenantId, runId, firstTurn, folded.turns);
  return { ...withStoredFacts(folded, turns, today), serverTime: 0 };
});

describe("a run's past", () => {
  it("[OP-01] after each of its events is what folding every event up to then gives", async () => {
    const plans = fc.sample(plan, { numRuns: 14, seed: 34 });
    let left = 0;
    for (const one of plans) {
      await api.run(
        Effect.gen(function* () {
          const place = yield* writeRun(one);
          const events = yield* readEvents(place);
          for (const [at, event] of events.entries()) {
            const most = 1 + (at % 6);
            const slow = yield* slowMoment(place, events.slice(0, at + 1), most);
            const moment = yield* readRunMoment(place.tenantId, place.runId, event.sequence, most);
            assert.deepStrictEqual({ ...moment.run, serverTime: 0 }, slow);
            assert.deepStrictEqual(
              [moment.sequence, moment.kind, moment.at, moment.previous, moment.next],
              [
                event.sequence,
                event.event._tag,
                event.at,
                events[at - 1]?.sequence ?? null,
                events[at + 1]?.sequence ?? null,
              ],
            );
            if (slow.earlier.turns > 1) left += 1;
          }
        }),
      );
    }
    assert.isAbove(left, 60);
  });
});
