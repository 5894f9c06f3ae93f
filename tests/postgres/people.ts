/** What people do to a run's rows, and runs that wait for them. */
import * as Effect from "effect/Effect";
import { approvalRequestIdOf, unknownIdOf } from "#lib/durable/derived-ids.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { callId, recordsOf, type RunPlace } from "#tests/postgres/records.ts";
import { rows, started, worker } from "#tests/postgres/store.ts";

const position = (place: RunPlace, id: string) => ({
  tenantId: place.tenantId,
  runId: place.runId,
  turn: 1,
  callId: callId(id),
});

/** What an operator's transaction does to the row. */
export const decide = (place: RunPlace, id: string, state: "approved" | "denied") =>
  rows(
    `UPDATE approval_requests SET state = $3, decider_kind = 'operator', decider_id = 'ada', decider_name = 'Ada',
       decision_reason = 'fine', decided_at = clock_timestamp()
     WHERE tenant_id = $1 AND request_id = $2 AND state = 'pending'`,
    [place.tenantId, approvalRequestIdOf(position(place, id)), state],
  );

export const resolve = (place: RunPlace, id: string) =>
  rows(
    `UPDATE unknown_outcomes SET state = 'resolved', resolution = 'completed-with-result', result = '{"n":"a\\u0000b"}',
       result_is_failure = false, resolver_kind = 'operator', resolver_id = 'ada', resolver_name = 'Ada',
       resolution_reason = 'saw it', evidence = 'ledger 7', resolved_at = clock_timestamp()
     WHERE tenant_id = $1 AND unknown_id = $2`,
    [place.tenantId, unknownIdOf(position(place, id), 1)],
  );

export const abort = (place: RunPlace) =>
  rows(
    `INSERT INTO abort_requests (tenant_id, run_id, thread_id, actor_kind, actor_id, actor_name, reason)
     VALUES ($1, $2, $3, 'operator', 'ada', 'Ada', 'enough')`,
    [place.tenantId, place.runId, place.threadId],
  );

export const claimOf = (place: RunPlace) =>
  Effect.flatMap(SubmissionLedger, (ledger) => ledger.claim({ ...place, workerId: worker }));

export const isDue = (place: RunPlace) =>
  Effect.map(
    Effect.flatMap(SubmissionLedger, (ledger) => ledger.due(1_000)),
    (due) => due.some((thread) => thread.threadId === place.threadId),
  );

/** A run that waits for the approval of its calls. */
export const waiting = Effect.fnUntraced(function* (
  ids: ReadonlyArray<string>,
  options: Parameters<ReturnType<typeof recordsOf>["approvalRequested"]>[1] = {},
) {
  const run = yield* started();
  const of = recordsOf(run.place);
  yield* run.writer.append([of.opened(), of.attempt(), of.turn(ids)]);
  yield* run.writer.append([
    ...ids.map((id) => of.approvalRequested(id, options)),
    of.suspended("approval"),
  ]);
  return { ...run, of };
});

export const inDoubt = Effect.fnUntraced(function* (
  ids: ReadonlyArray<string>,
  options: Parameters<typeof started>[0] = {},
) {
  const run = yield* started(options);
  const of = recordsOf(run.place);
  yield* run.writer.append([
    of.opened(),
    of.attempt(),
    of.turn(ids),
    ...ids.map((id) => of.prepared(id)),
  ]);
  yield* run.writer.append([...ids.map((id) => of.unknown(id)), of.suspended("unknown")]);
  return { ...run, of };
});
