/**
 * The call whose handler broke and ended its run so. A call that may have acted has a promise on record and becomes
 * a doubt; a readonly one makes none, so that only the run's settlement and its evidence say that it ran.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { CapturedDiagnostic } from "#lib/contract/diagnostic.ts";
import { DiagnosticId, type RunId, type TenantId, ToolCallId } from "#lib/contract/ids.ts";
import type { CallRow } from "./run-rows.ts";
import { decodeRows } from "./snapshot.ts";

interface BrokenCall {
  /** Of the last turn, or of a call that one of its calls made; of no call where the run broke outside of any. */
  readonly callId: ToolCallId;
  readonly diagnosticId: DiagnosticId;
}

const Row = Schema.Struct({
  callId: ToolCallId,
  diagnosticId: DiagnosticId,
  diagnostic: Schema.fromJsonString(CapturedDiagnostic),
});

/** Undefined where no handler broke. */
const readBrokenCall = (tenantId: TenantId, runId: RunId) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeRows(Row)(sql`
      SELECT g.call_id AS "callId", g.diagnostic_id AS "diagnosticId", g.body AS diagnostic
      FROM runs r JOIN diagnostics g ON g.tenant_id = r.tenant_id AND g.diagnostic_id = r.diagnostic_id
      WHERE r.tenant_id = ${tenantId} AND r.run_id = ${runId}
        AND r.finish_reason = 'defect' AND g.call_id IS NOT NULL`),
  ).pipe(
    Effect.map(([row]): BrokenCall | undefined =>
      // A policy is asked before anything of the batch runs: its defect is not the handler's.
      row === undefined || row.diagnostic.context?.check !== undefined ? undefined : row,
    ),
  );

const brokeMessage =
  "The tool broke while it ran, in a way that it does not declare, and that ended the run. It is readonly: no effect of it is in doubt.";
const besideMessage =
  "The run ended because another tool of this batch broke. A readonly call makes no promise before it starts, so no record says whether this one had begun.";

/** Nothing but the end of its run has ended the call, and no promise says whether it had begun. */
const isUntold = (row: CallRow): boolean =>
  row.state === "not-executed" && !row.isSettled && row.executionClass === "readonly";

const asItEnded = <Row extends CallRow>(row: Row, broken: BrokenCall): Row => {
  if (!isUntold(row)) return row;
  if (row.callId !== broken.callId)
    // Cut off by the run's end, begun or not: "not executed" would be a guess.
    return { ...row, state: "aborted", failureTag: "RunEnded", failureMessage: besideMessage };
  return {
    ...row,
    state: "failed",
    isFailure: true,
    broke: true,
    failureTag: "Defect",
    failureMessage: brokeMessage,
    diagnosticId: broken.diagnosticId,
  };
};

/** The rows of one run's calls, of which none that ran reads as never executed. Call it inside `inSnapshot`. */
export const withBrokenCall = Effect.fnUntraced(function* <Row extends CallRow>(
  tenantId: TenantId,
  runId: RunId,
  rows: ReadonlyArray<Row>,
) {
  if (!rows.some(isUntold)) return rows;
  const broken = yield* readBrokenCall(tenantId, runId);
  return broken === undefined ? rows : rows.map((row) => asItEnded(row, broken));
});
