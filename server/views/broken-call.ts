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

interface Broken {
  /** Of the last turn, or of a call that one of its calls made; of no call where the run broke outside of any. */
  readonly callId: ToolCallId;
  readonly diagnosticId: DiagnosticId;
  /** The policy that was asked about the call, and not its handler. */
  readonly isPolicy: boolean;
}

const Row = Schema.Struct({
  callId: ToolCallId,
  diagnosticId: DiagnosticId,
  /** The model itself asked for it, not the program of another call. */
  isOfModel: Schema.Boolean,
  diagnostic: Schema.fromJsonString(CapturedDiagnostic),
});

/** Undefined where nothing of the batch had run, or nothing broke. */
const readBroken = (tenantId: TenantId, runId: RunId) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeRows(Row)(sql`
      SELECT g.call_id AS "callId", g.diagnostic_id AS "diagnosticId", g.body AS diagnostic,
        EXISTS (SELECT FROM tool_calls t WHERE t.tenant_id = g.tenant_id AND t.run_id = r.run_id
          AND t.call_id = g.call_id AND t.parent_call_id IS NULL) AS "isOfModel"
      FROM runs r JOIN diagnostics g ON g.tenant_id = r.tenant_id AND g.diagnostic_id = r.diagnostic_id
      WHERE r.tenant_id = ${tenantId} AND r.run_id = ${runId}
        AND r.finish_reason = 'defect' AND g.call_id IS NOT NULL`),
  ).pipe(
    Effect.map(([row]): Broken | undefined => {
      if (row === undefined) return undefined;
      const { callId, diagnosticId } = row;
      const isPolicy = row.diagnostic.context?.check !== undefined;
      // Asked about the model's calls before anything of their batch runs, and about a program's while it runs.
      return isPolicy && row.isOfModel ? undefined : { callId, diagnosticId, isPolicy };
    }),
  );

const brokeMessage =
  "The tool broke while it ran, in a way that it does not declare, and that ended the run. It is readonly: no effect of it is in doubt.";
const besideMessage = (what: string) =>
  `The run ended because ${what} broke. A readonly call makes no promise before it starts, so no record says whether this one had begun.`;
const besideTool = besideMessage("another tool of this batch");
const besidePolicy = besideMessage("the policy that was asked about a call of a program");

/** Nothing but the end of its run has ended the call, and no promise says whether it had begun. */
const isUntold = (row: CallRow): boolean =>
  row.state === "not-executed" && !row.isSettled && row.executionClass === "readonly";

const asItEnded = <Row extends CallRow>(row: Row, broken: Broken): Row => {
  if (!isUntold(row)) return row;
  if (broken.isPolicy || row.callId !== broken.callId) {
    // Cut off by the run's end, begun or not: "not executed" would be a guess.
    const failureMessage = broken.isPolicy ? besidePolicy : besideTool;
    return { ...row, state: "aborted", failureTag: "RunEnded", failureMessage };
  }
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
  const broken = yield* readBroken(tenantId, runId);
  return broken === undefined ? rows : rows.map((row) => asItEnded(row, broken));
});
