/** A run's page from its rows and records: a pure function, so that the same evidence always draws the same page. */
import type { RecordOf, RunRecord } from "#lib/contract/records.ts";
import type {
  AttemptView,
  InnerCallView,
  RunDetail,
  StepView,
  ToolCallView,
  TurnView,
} from "#lib/contract/run-views.ts";
import { boundTurns, boundValue } from "./bound-turns.ts";
import type { AbortRow, CallRow, RunRow } from "./run-rows.ts";
import type { RecordRow } from "./shown-records.ts";

export interface RunEvidence {
  readonly run: RunRow;
  readonly abort: AbortRow | null;
  readonly calls: ReadonlyArray<CallRow>;
  /** In sequence. */
  readonly records: ReadonlyArray<RecordRow>;
  /** Turns that are not among the records: they come before the first that is. */
  readonly earlier: RunDetail["earlier"];
  readonly opening: RunDetail["opening"];
  readonly policy: RunDetail["policy"];
  readonly asOf: number;
  readonly serverTime: number;
}

type Kept<Kind extends RunRecord["_tag"]> = {
  readonly recordedAt: number;
  readonly record: RecordOf<Kind>;
};

const ofKind = <Kind extends RunRecord["_tag"]>(
  records: ReadonlyArray<RecordRow>,
  kind: Kind,
): ReadonlyArray<Kept<Kind>> =>
  records.flatMap(({ recordedAt, record }) =>
    // The tag decides the member of the union; TypeScript cannot follow it through a type parameter.
    record._tag === kind ? [{ recordedAt, record: record as RecordOf<Kind> }] : [],
  );

/** One call per turn and id: models reuse ids in later turns (R32). A tuple as text, never joined. */
const callKey = (turn: number, callId: string): string => JSON.stringify([turn, callId]);

const attemptViews = (records: ReadonlyArray<RecordRow>): ReadonlyArray<AttemptView> => {
  const suspended = new Map(
    ofKind(records, "RunSuspended").map(({ record }) => [record.attempt, record.waitingFor]),
  );
  return ofKind(records, "AttemptStarted").map(({ recordedAt, record }) => ({
    attempt: record.attempt,
    epoch: record.epoch,
    decision: record.decision,
    explanation: record.explanation,
    startedAt: recordedAt,
    suspendedFor: suspended.get(record.attempt) ?? null,
  }));
};

const failureOf = (row: CallRow): ToolCallView["failure"] =>
  row.failureTag === null
    ? null
    : {
        errorTag: row.failureTag,
        message: row.failureMessage ?? "",
        ...(row.diagnosticId === null ? {} : { diagnosticId: row.diagnosticId }),
      };

const callView = (
  row: CallRow,
  declared: RecordOf<"TurnRecorded">["calls"][number] | undefined,
  settled: RecordOf<"ToolCallSettled"> | undefined,
  steps: ReadonlyArray<StepView> | undefined,
): InnerCallView => ({
  turn: row.turn,
  index: row.index,
  callId: row.callId,
  toolName: declared?.toolName ?? row.toolName,
  state: row.state,
  executionClass: row.executionClass,
  providerExecuted: row.providerExecuted,
  parameters: declared?.parameters ?? null,
  effectiveParameters: declared?.effectiveParameters ?? null,
  parametersDigest: row.parametersDigest,
  failureMode: row.failureMode,
  failureHandling: row.failureHandling,
  failure: settled?.failure ?? failureOf(row),
  result: settled?.result ?? null,
  hasResult: settled !== undefined,
  isFailure: row.isFailure,
  originalBytes: row.originalBytes,
  ...(settled?.kept === undefined ? {} : { keptBytes: settled.kept.bytes }),
  selection: settled?.selection ?? null,
  approvalRequestId: row.approvalRequestId,
  unknownId: row.unknownId,
  ...(row.broke === undefined ? {} : { broke: row.broke }),
  ...(row.doubt === null ? {} : { doubt: row.doubt }),
  idempotencyKey: row.idempotencyKey,
  declaredAt: row.declaredAt,
  requestedAt: row.requestedAt,
  decidedAt: row.decidedAt,
  startedAt: row.startedAt,
  endedAt: row.endedAt,
  ...(steps === undefined ? {} : { steps }),
});

const addTo = <Key, Row>(groups: Map<Key, Array<Row>>, key: Key, row: Row): void => {
  const rows = groups.get(key);
  if (rows === undefined) groups.set(key, [row]);
  else rows.push(row);
};

/** The turns whose records are there, in order, with long values cut. */
export const turnViews = (
  records: ReadonlyArray<RecordRow>,
  calls: ReadonlyArray<CallRow>,
): ReadonlyArray<TurnView> => {
  const settled = new Map(
    ofKind(records, "ToolCallSettled").map(({ record }) => [
      callKey(record.turn, record.callId),
      record,
    ]),
  );
  const inside = new Map(
    ofKind(records, "InnerCallDeclared").map(({ record: { declared, turn } }) => [
      callKey(turn, declared.callId),
      declared,
    ]),
  );
  const steps = new Map<string, Array<StepView>>();
  for (const { record, recordedAt } of ofKind(records, "StepRecorded")) {
    const { attempt, callId, name, result, turn } = record;
    addTo(steps, callKey(turn, callId), { name, result, attempt, recordedAt });
  }
  const rowsOfTurn = new Map<number, Array<CallRow>>();
  const rowsOfParent = new Map<string, Array<CallRow>>();
  for (const row of calls) {
    if (row.parentCallId === null) addTo(rowsOfTurn, row.turn, row);
    else addTo(rowsOfParent, callKey(row.turn, row.parentCallId), row);
  }
  const innerViews = (row: CallRow): ReadonlyArray<InnerCallView> =>
    (rowsOfParent.get(callKey(row.turn, row.callId)) ?? []).map((inner) => {
      const key = callKey(inner.turn, inner.callId);
      return callView(inner, inside.get(key), settled.get(key), steps.get(key));
    });
  const whole = ofKind(records, "TurnRecorded").map(({ recordedAt, record }): TurnView => {
    const declared = new Map(record.calls.map((call) => [call.callId, call]));
    return {
      turn: record.turn,
      text: record.text,
      finishReason: record.finishReason,
      usage: record.usage,
      exposure: record.exposure,
      calls: (rowsOfTurn.get(record.turn) ?? []).map((row): ToolCallView => {
        const key = callKey(row.turn, row.callId);
        const call = callView(row, declared.get(row.callId), settled.get(key), steps.get(key));
        const inner = innerViews(row);
        return inner.length === 0 ? call : { ...call, inner };
      }),
      startedAt: record.startedAt,
      recordedAt,
    };
  });
  return boundTurns(whole);
};

/** Who ended the run: by an abort of it, or by their answer to a doubt about one of its calls (DU-07). */
const abortOf = (
  { abort, calls }: RunEvidence,
  settlement: RecordOf<"RunSettled"> | undefined,
): RunDetail["abort"] => {
  if (abort !== null) {
    const { at, id, kind, name, reason } = abort;
    return { actor: { kind, id, name }, reason, at };
  }
  if (settlement?.outcome !== "aborted") return null;
  const doubt = calls.find((call) => call.doubt?.resolution === "abort-submission")?.doubt;
  return doubt === undefined || doubt === null || doubt.actor === null || doubt.resolvedAt === null
    ? null
    : { actor: doubt.actor, reason: settlement.failure?.message ?? "", at: doubt.resolvedAt };
};

export const assembleRun = (evidence: RunEvidence): RunDetail => {
  const { run, records } = evidence;
  const settlement = ofKind(records, "RunSettled").at(-1)?.record;
  const opened = ofKind(records, "RunOpened").at(0)?.record;
  return {
    ...run,
    input: boundValue(opened?.input ?? run.input),
    output: boundValue(settlement?.output ?? null),
    failure: settlement?.failure ?? null,
    finishReason: settlement?.finishReason ?? run.finishReason,
    exhausted: settlement?.exhausted ?? run.exhausted,
    ...(settlement?.callAsText === undefined ? {} : { callAsText: settlement.callAsText }),
    modelId: opened?.modelId ?? run.modelId,
    abort: abortOf(evidence, settlement),
    attempts: attemptViews(records),
    turnViews: turnViews(records, evidence.calls),
    opening: evidence.opening,
    earlier: evidence.earlier,
    policy: evidence.policy,
    asOf: evidence.asOf,
    serverTime: evidence.serverTime,
  };
};
