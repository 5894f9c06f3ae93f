/**
 * What must hold of a database and of the provider's book, whatever was killed in
 * between. Each finding is a sentence; none means that the proof holds.
 */
import { Effect, Schema } from "effect";
import { SqlClient, SqlSchema } from "effect/unstable/sql";
import { Digest, ToolCallId } from "#lib/contract/ids.ts";
import { RunRecord } from "#lib/contract/records.ts";
import { verifyChain } from "#lib/durable/chain.ts";
import { foldRecords, isInDoubt, type RunEvidence } from "#lib/durable/run-state.ts";
import { rebuildProjections } from "#server/postgres/rebuild-projections.ts";
import { Int8, JsonText } from "#server/postgres/columns.ts";
import { readingTools } from "./agent.ts";
import type { Provider } from "./provider.ts";
import { type Store, tenantId } from "./store.ts";

const Row = Schema.Struct({
  threadId: Schema.String,
  runId: Schema.String,
  sequence: Int8,
  epoch: Int8,
  body: Schema.String,
  digest: Digest,
  previousDigest: Digest,
  record: JsonText(RunRecord),
});
type Row = typeof Row.Type;

const Call = Schema.Struct({
  runId: Schema.String,
  turn: Schema.Int,
  callId: ToolCallId,
  tool: Schema.String,
  state: Schema.String,
  key: Schema.NullOr(Schema.String),
});
const Run = Schema.Struct({
  runId: Schema.String,
  state: Schema.String,
  submission: Schema.String,
});
const Settlements = Schema.Struct({ runId: Schema.String, times: Schema.Int });
const Gap = Schema.Struct({ events: Int8, last: Int8, waiting: Int8 });

const terminal = new Set(["completed", "failed", "aborted"]);
/** States in which nobody but a person can make a run go on. */
const honestWaits = new Set(["waiting", "unknown"]);

const readRows = SqlSchema.findAll({
  Request: Schema.Void,
  Result: Row,
  execute: () =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`SELECT thread_id AS "threadId", run_id AS "runId", sequence, epoch, body, digest,
        previous_digest AS "previousDigest", body AS record FROM journal_records ORDER BY thread_id, sequence`,
    ),
});
const readCalls = SqlSchema.findAll({
  Request: Schema.Void,
  Result: Call,
  execute: () =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`SELECT run_id AS "runId", turn, call_id AS "callId", tool_name AS tool, state,
        idempotency_key AS key FROM tool_calls`,
    ),
});
const readRuns = SqlSchema.findAll({
  Request: Schema.Void,
  Result: Run,
  execute: () =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`SELECT r.run_id AS "runId", r.state, s.state AS submission
        FROM runs r JOIN submissions s ON s.tenant_id = r.tenant_id AND s.run_id = r.run_id`,
    ),
});
const readSettlementEvents = SqlSchema.findAll({
  Request: Schema.Void,
  Result: Settlements,
  execute: () =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`SELECT run_id AS "runId", count(*)::int AS times FROM events
        WHERE kind IN ('RunCompleted', 'RunFailed', 'RunAborted') GROUP BY run_id`,
    ),
});
const readEventOrder = SqlSchema.findOne({
  Request: Schema.Void,
  Result: Gap,
  execute: () =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`SELECT count(*) AS events, coalesce(max(sequence), 0) AS last,
        (SELECT count(*) FROM event_inbox) AS waiting FROM events`,
    ),
});

const grouped = <A>(
  items: ReadonlyArray<A>,
  keyOf: (item: A) => string,
): Map<string, ReadonlyArray<A>> => {
  const groups = new Map<string, Array<A>>();
  for (const item of items) {
    const group = groups.get(keyOf(item)) ?? [];
    group.push(item);
    groups.set(keyOf(item), group);
  }
  return groups;
};

/** Chains hold, every run has at most one settlement, and nothing is said twice about one call (DU-10, R64). */
const ofRecords = (rows: ReadonlyArray<Row>): ReadonlyArray<string> => {
  const found: Array<string> = [];
  for (const [threadId, thread] of grouped(rows, (row) => row.threadId)) {
    const broken = verifyChain(threadId, thread);
    if (broken !== undefined)
      found.push(`The chain of ${threadId} breaks at ${broken.sequence}: ${broken.reason}.`);
  }
  for (const [runId, records] of grouped(rows, (row) => row.runId)) {
    const counts = new Map<string, number>();
    for (const { record } of records) {
      if (record._tag === "RunSettled")
        counts.set("settlement", (counts.get("settlement") ?? 0) + 1);
      if (record._tag === "ToolCallSettled" || record._tag === "ApprovalDecided") {
        const about = `${record._tag} of call ${record.callId} of turn ${record.turn}`;
        counts.set(about, (counts.get(about) ?? 0) + 1);
      }
      if (record._tag === "TurnRecorded") {
        const about = `response of turn ${record.turn}`;
        counts.set(about, (counts.get(about) ?? 0) + 1);
      }
    }
    for (const [about, times] of counts)
      if (times > 1) found.push(`Run ${runId} has ${times} times: ${about}.`);
    found.push(...ofTurns(runId, records));
  }
  return found;
};

/** When the model is asked again, every call before it has exactly its one result (R64). */
const ofTurns = (runId: string, records: ReadonlyArray<Row>): ReadonlyArray<string> => {
  const found: Array<string> = [];
  let evidence: RunEvidence = foldRecords([]);
  for (const { record } of records) {
    if (record._tag === "TurnRecorded") {
      for (const call of evidence.turns.at(-1)?.calls ?? [])
        if (call.settled === undefined)
          found.push(
            `Run ${runId} asked for turn ${record.turn} before ${call.declared.callId} had a result.`,
          );
    }
    evidence = foldRecords([record], evidence);
  }
  if (evidence.settled !== undefined)
    for (const call of evidence.turns.flatMap((turn) => turn.calls))
      if (
        isInDoubt(call) &&
        call.unknown === undefined &&
        call.declared.executionClass === "uncertain"
      )
        found.push(
          `Run ${runId} is settled and says nothing of ${call.declared.callId}, which may have happened.`,
        );
  return found;
};

/** Digests that a person approved, and calls that a person or the clock refused. */
const gates = (rows: ReadonlyArray<Row>) => {
  const approved = new Map<string, string>();
  const refused = new Set<string>();
  for (const { record } of rows) {
    if (record._tag !== "ApprovalDecided") continue;
    const call = JSON.stringify([record.runId, record.turn, record.callId]);
    if (record.decision === "approved") approved.set(call, record.parametersDigest);
    else refused.add(call);
  }
  return { approved, refused };
};

const gated = new Set(["refund", "payout"]);

/** The provider's book against the records: nothing twice, nothing lost, nothing that was not approved as it was run. */
const ofEffects = (
  provider: Provider,
  rows: ReadonlyArray<Row>,
  calls: ReadonlyArray<typeof Call.Type>,
): ReadonlyArray<string> => {
  const found: Array<string> = [];
  const byKey = new Map(calls.flatMap((call) => (call.key === null ? [] : [[call.key, call]])));
  const { approved, refused } = gates(rows);
  for (const effect of provider.effects) {
    const call = byKey.get(effect.key);
    if (call === undefined) {
      found.push(`The provider did ${effect.tool} for a key that no call has: ${effect.key}.`);
      continue;
    }
    const name = JSON.stringify([call.runId, call.turn, call.callId]);
    if (refused.has(name)) found.push(`${name} was denied and happened all the same.`);
    if (gated.has(effect.tool) && approved.get(name) !== effect.parametersDigest)
      found.push(`${name} ran with parameters that nobody approved.`);
  }
  for (const key of new Set(provider.effects.map((effect) => effect.key)))
    if (provider.timesOf(key) > 1)
      found.push(
        `${byKey.get(key)?.tool ?? "?"} of key ${key} happened ${provider.timesOf(key)} times.`,
      );
  for (const call of calls)
    if (
      call.state === "succeeded" &&
      !readingTools.has(call.tool) &&
      provider.timesOf(call.key ?? "") === 0
    )
      found.push(
        `Call ${call.callId} of run ${call.runId} is said to have succeeded; the provider never did it.`,
      );
  return found;
};

export interface InvariantReport {
  readonly findings: ReadonlyArray<string>;
  readonly runs: number;
  readonly settled: number;
  readonly waiting: number;
  readonly records: number;
  readonly effects: number;
}

/**
 * Checks everything.
 *
 * @param mayWait runs that may be left waiting for a person; every other one must be settled
 */
export const checkInvariants = (
  store: Store,
  provider: Provider,
  mayWait: boolean,
): Promise<InvariantReport> =>
  store.run(
    Effect.gen(function* () {
      const rows = yield* readRows();
      const calls = yield* readCalls();
      const runs = yield* readRuns();
      const findings = [...ofRecords(rows), ...ofEffects(provider, rows, calls)];
      const settledBy = grouped(
        rows.filter((row) => row.record._tag === "RunSettled"),
        (row) => row.runId,
      );
      for (const run of runs) {
        const isTerminal = terminal.has(run.state);
        if (
          isTerminal !== settledBy.has(run.runId) ||
          isTerminal !== (run.submission === "settled")
        )
          findings.push(
            `Run ${run.runId} is ${run.state}, its submission ${run.submission}, with ${settledBy.get(run.runId)?.length ?? 0} settlement records.`,
          );
        if (!isTerminal && !(mayWait && honestWaits.has(run.state)))
          findings.push(`Run ${run.runId} is stuck: ${run.state}.`);
      }
      for (const event of yield* readSettlementEvents())
        if (event.times !== 1)
          findings.push(`The end of run ${event.runId} was announced ${event.times} times.`);
      const order = yield* readEventOrder();
      if (order.events !== order.last)
        findings.push(`The event log has ${order.events} events and ends at ${order.last}.`);
      const rebuilt = yield* rebuildProjections(tenantId);
      for (const difference of rebuilt.differences.slice(0, 5))
        findings.push(
          `A rebuild of ${difference.table} differs; the ${difference.side} side has ${difference.row}.`,
        );
      return {
        findings,
        runs: runs.length,
        settled: settledBy.size,
        waiting: runs.filter((run) => honestWaits.has(run.state)).length,
        records: rows.length,
        effects: provider.effects.length,
      };
    }),
  );
