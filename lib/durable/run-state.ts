/**
 * What the records of one run say, arranged by turn and call. A pure fold: the
 * same records give the same state in every process, and nothing else is asked
 * when a run is taken up again (DU-14).
 */
import type { ToolCallId } from "../contract/ids.ts";
import type { DeclaredCall, ParameterRejection, RecordOf, RunRecord } from "../contract/records.ts";

/** Everything known of one declared call. */
export interface CallEvidence {
  readonly declared: DeclaredCall;
  readonly rejection: ParameterRejection | undefined;
  readonly requested: RecordOf<"ApprovalRequested"> | undefined;
  readonly decided: RecordOf<"ApprovalDecided"> | undefined;
  /** The newest preparation; `preparations` counts them, so a retry after a resolution is told apart. */
  readonly prepared: RecordOf<"ToolCallPrepared"> | undefined;
  readonly preparations: number;
  readonly settled: RecordOf<"ToolCallSettled"> | undefined;
  readonly unknown: RecordOf<"ToolCallUnknown"> | undefined;
  /** The newest answer of the destination about this doubt, where an attempt asked. */
  readonly probed: RecordOf<"UnknownProbed"> | undefined;
  readonly resolved: RecordOf<"UnknownResolved"> | undefined;
  readonly denied: RecordOf<"AuthorizationDenied"> | undefined;
  readonly checkFailed: RecordOf<"AuthorizationCheckFailed"> | undefined;
  /** What its steps gave so far, oldest first (DU-18). */
  readonly steps: ReadonlyArray<RecordOf<"StepRecorded">>;
  /** Calls that its program made, by sequence index; these have none themselves (CM-02). */
  readonly inner: ReadonlyArray<CallEvidence>;
}

export interface TurnEvidence {
  readonly recorded: RecordOf<"TurnRecorded">;
  /** In declaration order. */
  readonly calls: ReadonlyArray<CallEvidence>;
}

export interface RunEvidence {
  readonly opened: RecordOf<"RunOpened"> | undefined;
  readonly attempts: number;
  readonly turns: ReadonlyArray<TurnEvidence>;
  readonly abort: RecordOf<"AbortRequested"> | undefined;
  readonly suspended: RecordOf<"RunSuspended"> | undefined;
  readonly settled: RecordOf<"RunSettled"> | undefined;
  /** Active time of attempts that ended by suspending (DU-16). */
  readonly activeMillis: number;
}

export const emptyEvidence: RunEvidence = {
  opened: undefined,
  attempts: 0,
  turns: [],
  abort: undefined,
  suspended: undefined,
  settled: undefined,
  activeMillis: 0,
};

/** A declared call of which nothing else is known. */
export const declaredEvidence = (
  declared: DeclaredCall,
  rejections: ReadonlyArray<ParameterRejection> = [],
): CallEvidence => ({
  declared,
  rejection: rejections.find((rejection) => rejection.callId === declared.callId),
  requested: undefined,
  decided: undefined,
  prepared: undefined,
  preparations: 0,
  settled: undefined,
  unknown: undefined,
  probed: undefined,
  resolved: undefined,
  denied: undefined,
  checkFailed: undefined,
  steps: [],
  inner: [],
});

/**
 * Places of a turn's calls by id, found once for each stored turn. Looking at every call
 * for every record of a batch would cost a batch of 1,000 some millions of steps.
 */
const places = new WeakMap<RecordOf<"TurnRecorded">, ReadonlyMap<string, number>>();

const placesOf = (recorded: RecordOf<"TurnRecorded">): ReadonlyMap<string, number> => {
  const known = places.get(recorded);
  if (known !== undefined) return known;
  const made = new Map(recorded.calls.map(({ callId }, index) => [callId, index]));
  places.set(recorded, made);
  return made;
};

/** The turn with one of its calls updated; a call inside another is found in its parent. */
const updateTurn = (
  turn: TurnEvidence,
  callId: ToolCallId,
  update: (call: CallEvidence) => CallEvidence,
): TurnEvidence => {
  const { calls } = turn;
  const place = placesOf(turn.recorded).get(callId);
  const own = place === undefined ? undefined : calls[place];
  if (place !== undefined && own !== undefined)
    return { ...turn, calls: calls.with(place, update(own)) };
  for (const [index, call] of calls.entries()) {
    const at = call.inner.findIndex(({ declared }) => declared.callId === callId);
    const inner = call.inner[at];
    if (inner !== undefined)
      return {
        ...turn,
        calls: calls.with(index, { ...call, inner: call.inner.with(at, update(inner)) }),
      };
  }
  return turn;
};

const updateCall = (
  evidence: RunEvidence,
  position: { readonly turn: number; readonly callId: ToolCallId },
  update: (call: CallEvidence) => CallEvidence,
): RunEvidence => {
  // Nearly always the last one: records of a batch follow their turn.
  const index = evidence.turns.findLastIndex(({ recorded }) => recorded.turn === position.turn);
  const turn = evidence.turns[index];
  return turn === undefined
    ? evidence
    : {
        ...evidence,
        turns: evidence.turns.with(index, updateTurn(turn, position.callId, update)),
      };
};

/** A call inside another; declared once, however often its parent runs again (CM-02). */
const addInner = (call: CallEvidence, declared: DeclaredCall): CallEvidence =>
  call.inner.some((inner) => inner.declared.callId === declared.callId)
    ? call
    : { ...call, inner: [...call.inner, declaredEvidence(declared)] };

/** Adds one record. A record about a call that was never declared changes nothing. */
export const applyRecord = (evidence: RunEvidence, record: RunRecord): RunEvidence => {
  switch (record._tag) {
    case "RunOpened":
      return { ...evidence, opened: record };
    case "AttemptStarted":
      return { ...evidence, attempts: record.attempt, suspended: undefined };
    case "TurnRecorded":
      return {
        ...evidence,
        turns: [
          ...evidence.turns,
          {
            recorded: record,
            calls: record.calls.map((call) => declaredEvidence(call, record.rejections)),
          },
        ],
      };
    case "ApprovalRequested":
      return updateCall(evidence, record, (call) => ({ ...call, requested: record }));
    case "ApprovalDecided":
      // The first answer, result or resolution is the one; a later record never changes it (A-09, DU-14).
      return updateCall(evidence, record, (call) => ({ ...call, decided: call.decided ?? record }));
    case "AuthorizationDenied":
      return updateCall(evidence, record, (call) => ({ ...call, denied: record }));
    case "AuthorizationCheckFailed":
      return updateCall(evidence, record, (call) => ({ ...call, checkFailed: record }));
    case "InnerCallDeclared": {
      const { declared, turn } = record;
      return declared.parentCallId === undefined
        ? evidence
        : updateCall(evidence, { turn, callId: declared.parentCallId }, (call) =>
            addInner(call, declared),
          );
    }
    case "StepRecorded":
      // The first result of a step is the one (DU-18).
      return updateCall(evidence, record, (call) =>
        call.steps.some((step) => step.name === record.name)
          ? call
          : { ...call, steps: [...call.steps, record] },
      );
    case "ToolCallPrepared":
      // A new preparation follows a resolution: what was in doubt before is answered.
      return updateCall(evidence, record, (call) => ({
        ...call,
        prepared: record,
        preparations: call.preparations + 1,
        unknown: undefined,
        probed: undefined,
        resolved: undefined,
      }));
    case "ToolCallSettled":
      return updateCall(evidence, record, (call) => ({ ...call, settled: call.settled ?? record }));
    case "ToolCallUnknown":
      // A new doubt is not answered by what somebody said of an earlier one.
      return updateCall(evidence, record, (call) => ({
        ...call,
        unknown: record,
        probed: undefined,
        resolved: undefined,
      }));
    case "UnknownProbed":
      return updateCall(evidence, record, (call) => ({ ...call, probed: record }));
    case "UnknownResolved":
      return updateCall(evidence, record, (call) => ({
        ...call,
        resolved: call.resolved ?? record,
      }));
    case "AbortRequested":
      return { ...evidence, abort: evidence.abort ?? record };
    case "RunSuspended":
      return {
        ...evidence,
        suspended: record,
        activeMillis: evidence.activeMillis + record.activeMillis,
      };
    case "RunSettled":
      return { ...evidence, settled: evidence.settled ?? record };
  }
};

/** Folds records, oldest first, onto `evidence`. */
export const foldRecords = (
  records: ReadonlyArray<RunRecord>,
  evidence: RunEvidence = emptyEvidence,
): RunEvidence => records.reduce(applyRecord, evidence);

/** The call may have acted and nothing says how it ended. */
export const isInDoubt = (call: CallEvidence): boolean =>
  call.prepared !== undefined && call.settled === undefined && call.resolved === undefined;

/** Every call of a turn with the calls inside it, parents first. */
export const withInner = (calls: ReadonlyArray<CallEvidence>): ReadonlyArray<CallEvidence> =>
  calls.flatMap((call) => [call, ...call.inner]);

/** Calls of a turn whose doubt nothing has recorded yet; a settlement records them (DU-09). */
export const unrecordedDoubts = (turn: TurnEvidence | undefined): ReadonlyArray<CallEvidence> =>
  withInner(turn?.calls ?? []).filter((call) => isInDoubt(call) && call.unknown === undefined);

/** The call waits for a person to answer its approval request. */
export const awaitsDecision = (call: CallEvidence): boolean =>
  call.requested !== undefined && call.decided === undefined && call.settled === undefined;
