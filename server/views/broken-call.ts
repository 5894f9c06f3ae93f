/**
 * What broke and ended its run so: as a rule the handler of a call. A call that may have acted has a promise on record and becomes
 * a doubt; a readonly one makes none, so that only the run's settlement and its evidence say that it ran.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { CapturedDiagnostic } from "#lib/contract/diagnostic.ts";
import { DiagnosticId, type RunId, type TenantId, ToolCallId } from "#lib/contract/ids.ts";
import type { CallRow } from "./run-rows.ts";
import { decodeRows } from "./snapshot.ts";

/** The turn whose batch was under way when its run ended by a call that broke, or by a check of an inner one. */
interface BrokenBatch {
  readonly turn: number;
  /** Null where the check broke that was asked about a call which one of the batch was about to make. */
  readonly broken: { readonly callId: ToolCallId; readonly parentCallId: ToolCallId | null } | null;
  readonly diagnosticId: DiagnosticId;
}

const Row = Schema.Struct({
  turn: Schema.Int,
  callId: ToolCallId,
  isDeclared: Schema.Boolean,
  parentCallId: Schema.NullOr(ToolCallId),
  diagnosticId: DiagnosticId,
  diagnostic: Schema.fromJsonString(CapturedDiagnostic),
});

const batchOf = (row: typeof Row.Type): BrokenBatch | undefined => {
  const { callId, diagnosticId, parentCallId, turn } = row;
  if (row.diagnostic.context?.check === undefined)
    // A defect of no call says nothing of any.
    return row.isDeclared ? { turn, broken: { callId, parentCallId }, diagnosticId } : undefined;
  // A policy is asked about the model's calls before any of them runs, about a call that one of them makes while
  // they do; that one is declared only when it may start, or was by an attempt before.
  return row.isDeclared && parentCallId === null ? undefined : { turn, broken: null, diagnosticId };
};

/** Undefined where no batch broke. Calls run in a run's newest turn only; ids of calls come back in later turns. */
const readBrokenBatch = (tenantId: TenantId, runId: RunId) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeRows(Row)(sql`
      SELECT r.turns AS turn, g.call_id AS "callId", c.call_id IS NOT NULL AS "isDeclared",
        c.parent_call_id AS "parentCallId", g.diagnostic_id AS "diagnosticId", g.body AS diagnostic
      FROM runs r JOIN diagnostics g ON g.tenant_id = r.tenant_id AND g.diagnostic_id = r.diagnostic_id
      LEFT JOIN tool_calls c ON c.tenant_id = r.tenant_id AND c.run_id = r.run_id AND c.turn = r.turns
        AND c.call_id = g.call_id
      WHERE r.tenant_id = ${tenantId} AND r.run_id = ${runId}
        AND r.finish_reason = 'defect' AND g.call_id IS NOT NULL`),
  ).pipe(Effect.map(([row]) => (row === undefined ? undefined : batchOf(row))));

const brokeMessage =
  "The tool broke while it ran, in a way that it does not declare, and that ended the run. It is readonly: no effect of it is in doubt.";
const insideMessage =
  "A call that this one had made broke, and that ended the run while this one was under way.";
const besideMessage = (what: string) =>
  `The run ended because ${what} broke. A readonly call makes no promise before it starts, so no record says whether this one had begun.`;
const besideTool = besideMessage("another tool of this batch");
const besidePolicy = besideMessage("the policy that was asked about a call of a program");

/** Nothing but the end of its run has ended the call, and no promise says whether it had begun. */
const isUntold = (row: CallRow): boolean =>
  row.state === "not-executed" && !row.isSettled && row.executionClass === "readonly";

const asItEnded = <Row extends CallRow>(row: Row, batch: BrokenBatch): Row => {
  const { broken, diagnosticId, turn } = batch;
  if (!isUntold(row) || row.turn !== turn) return row;
  if (row.callId !== broken?.callId) {
    // Cut off by the run's end, begun or not: "not executed" would be a guess.
    const beside = broken === null ? besidePolicy : besideTool;
    const failureMessage = row.callId === broken?.parentCallId ? insideMessage : beside;
    return { ...row, state: "aborted", failureTag: "RunEnded", failureMessage };
  }
  return {
    ...row,
    state: "failed",
    isFailure: true,
    broke: true,
    failureTag: "Defect",
    failureMessage: brokeMessage,
    diagnosticId,
  };
};

/** The rows of one run's calls, of which none that ran reads as never executed. Call it inside `inSnapshot`. */
export const withBrokenCall = Effect.fnUntraced(function* <Row extends CallRow>(
  tenantId: TenantId,
  runId: RunId,
  rows: ReadonlyArray<Row>,
) {
  if (!rows.some(isUntold)) return rows;
  const batch = yield* readBrokenBatch(tenantId, runId);
  return batch === undefined ? rows : rows.map((row) => asItEnded(row, batch));
});
