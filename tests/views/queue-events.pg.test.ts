/** A queue's past is made of few of the events about people: with all of them it must be the same. */
import { Effect, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import fc from "fast-check";
import { afterAll, assert, beforeAll, it } from "vitest";
import { ApprovalListItem } from "#lib/contract/approval-views.ts";
import { ReadableEvent } from "#lib/contract/events.ts";
import { EpochMillis, RunId, Sequence, TenantId } from "#lib/contract/ids.ts";
import { UnknownListItem } from "#lib/contract/unknown-views.ts";
import { millis } from "#server/views/columns.ts";
import { approvalListColumns } from "#server/views/list-approvals.ts";
import { readPersonEvents, readPlace } from "#server/views/moment-place.ts";
import { approvalsThen, unknownsThen } from "#server/views/queue-then.ts";
import { decodeRows } from "#server/views/snapshot.ts";
import { unknownListColumns } from "#server/views/unknowns.ts";
import { startApi, type TestApi } from "#tests/support/api-server.ts";
import { gatedRun, unknownRun } from "#tests/support/ledger-fixtures.ts";

const tenantId = TenantId.make("default");
let api: TestApi;
beforeAll(async () => {
  api = await startApi();
}, 60_000);
afterAll(() => api.close());

const EventRow = Schema.Struct({
  sequence: Sequence,
  runId: RunId,
  at: EpochMillis,
  event: Schema.fromJsonString(Schema.toCodecJson(ReadableEvent)),
});
const ApprovalRow = Schema.Struct({ ...ApprovalListItem.fields, approversRequired: Schema.Int });

const ann = { kind: "operator", id: "ann", name: "Ann" };
const ben = { kind: "operator", id: "ben", name: "Ben" };
const call = { turn: 1, callId: "call-1", toolName: "refund" };
const minute = 60_000;

const act = fc.record({
  kind: fc.oneof(
    {
      weight: 12,
      arbitrary: fc.constantFrom("count", "extend", "look", "looked", "probe", "abort"),
    },
    { weight: 1, arbitrary: fc.constantFrom("decide", "resolve") },
  ),
  which: fc.nat(2),
  actor: fc.constantFrom(ann, ben),
  number: fc.nat(100),
});
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never;

/** What the act announces of this request or this doubt. */
const eventOf = (
  { actor, kind, number }: Act,
  requestId: string,
  unknownId: string,
  now: number,
): { readonly _tag: string; readonly [key: string]: unknown } => {
  const request = { ...call, requestId, actor };
  const doubt = { ...call, unknownId, actor };
  switch (kind) {
    case "count":
      return { _tag: "ApprovalCounted", ...request, missing: 1 };
    case "extend":
      return { _tag: "ApprovalExtended", ...request, expiresAt: now + number * minute };
    case "look":
      return { _tag: "ApprovalLookedAt", ...request, until: now + minute };
    case "looked":
      return { _tag: "ApprovalLookedAt", ...request, until: now - 19 * minute };
    case "decide":
      return { _tag: "ApprovalDecided", ...request, decision: "approved", reason: "\u0000" };
    case "probe":
      return { _tag: "UnknownProbed", ...doubt, finding: "inconclusive", detail: "d" };
    case "resolve":
      return { _tag: "UnknownResolved", ...doubt, resolution: "never-happened" };
    default:
      return { _tag: "AbortRequested", actor, reason: "enough" };
  }
};

it("[OP-05][OP-08] is the same with every event about people in those runs, at every event", async () => {
  // Who looked long ago did so before anybody looks now.
  const acts = fc
    .sample(act, { numRuns: 160, seed: 5 })
    .toSorted((one, two) => Number(two.kind === "looked") - Number(one.kind === "looked"));
  const seen = await api.run(
    Effect.gen(function* () {
      const sql = yield* SqlClient;
      const gated = yield* Effect.forEach([1, 2, 3], () => gatedRun({ approversRequired: 2 }));
      const doubts = yield* Effect.forEach([1, 2, 3], () => unknownRun());
      const now = Date.now();
      for (const one of acts) {
        const asked = gated[one.which] ?? assert.fail();
        const doubt = doubts[one.which] ?? assert.fail();
        const event = eventOf(one, asked.requestIds[0] ?? "", doubt.unknownId, now);
        const { place } = "unknownId" in event ? doubt : asked;
        yield* sql`SELECT announce_event('default', 'desk', ${place.threadId}, ${place.runId},
          ${event._tag}, ${JSON.stringify(event)})`;
        yield* sql`SELECT assigned FROM assign_event_sequences('default', 10000)`;
      }
      yield* sql`UPDATE events SET at = at - interval '20 minutes'
        WHERE kind = 'ApprovalLookedAt' AND body LIKE ${`%"until":${now - 19 * minute}%`}`;
      const all = yield* decodeRows(EventRow)(sql`
        SELECT e.sequence::float8 AS sequence, e.run_id AS "runId", ${sql.literal(millis("e.at"))} AS at,
          e.body AS event FROM events e WHERE e.tenant_id = ${tenantId} ORDER BY e.sequence`);
      const runIds = all.map(({ runId }) => runId);
      const requests = yield* decodeRows(ApprovalRow)(sql`
        SELECT ${sql.literal(approvalListColumns)}, a.approvers_required AS "approversRequired"
        FROM approval_requests a JOIN runs r ON r.tenant_id = a.tenant_id AND r.run_id = a.run_id`);
      const effects = yield* decodeRows(UnknownListItem)(sql`
        SELECT ${sql.literal(unknownListColumns)} FROM unknown_outcomes u
        JOIN runs r ON r.tenant_id = u.tenant_id AND r.run_id = u.run_id`);
      const shown = { approvers: 0, lookers: 0, probes: 0, expiries: new Set<unknown>() };
      for (const { sequence } of all) {
        const place = yield* readPlace(tenantId, sequence);
        const approvals = approvalsThen(requests, all, place);
        const unknowns = unknownsThen(effects, all, place);
        const few = yield* readPersonEvents(tenantId, "approvals", runIds, place);
        assert.deepStrictEqual(approvalsThen(requests, few, place), approvals);
        const doubted = yield* readPersonEvents(tenantId, "unknowns", runIds, place);
        assert.deepStrictEqual(unknownsThen(effects, doubted, place), unknowns);
        for (const one of approvals) {
          shown.approvers += one.approvers.length;
          shown.lookers += one.lookers.length;
          shown.expiries.add(one.expiresAt);
        }
        for (const one of unknowns) shown.probes += one.probes;
      }
      return shown;
    }),
  );
  assert.isAbove(seen.approvers, 10);
  assert.isAbove(seen.lookers, 10);
  assert.isAbove(seen.probes, 10);
  assert.isAbove(seen.expiries.size, 2);
});
