/** Parts of a run that its page reads when they are looked at. */
import * as Schema from "effect/Schema";
import { EpochMillis, Sequence, ToolCallId } from "../ids.ts";
import { CallState } from "../status.ts";
import { RunDetail, TurnView } from "../run-views.ts";

/** Turns of one answer of the turns' route. */
export const turnsPerRead = 10;

/** Consecutive turns, in order. */
export const RunTurns = Schema.Struct({ items: Schema.Array(TurnView), asOf: Sequence });
export type RunTurns = typeof RunTurns.Type;

const callTimes = {
  callId: ToolCallId,
  toolName: Schema.String,
  state: CallState,
  declaredAt: EpochMillis,
  requestedAt: Schema.NullOr(EpochMillis),
  decidedAt: Schema.NullOr(EpochMillis),
  startedAt: Schema.NullOr(EpochMillis),
  endedAt: Schema.NullOr(EpochMillis),
};

/** When each turn and each call of it happened, and how each ended: small enough for 50,000 events. */
export const TurnTimes = Schema.Struct({
  turn: Schema.Int,
  startedAt: EpochMillis,
  recordedAt: EpochMillis,
  calls: Schema.Array(Schema.Struct(callTimes)),
  /** Calls that these made themselves, in the order in which they were made; absent where there are none. */
  inner: Schema.optionalKey(
    Schema.Array(Schema.Struct({ ...callTimes, parentCallId: ToolCallId })),
  ),
});
export type TurnTimes = typeof TurnTimes.Type;

/** Calls of one answer of the timeline's route; a run that has more is drawn from there on. */
export const timelineCalls = 25_000;

export const RunTimes = Schema.Struct({
  items: Schema.Array(TurnTimes),
  /** Calls before the first that is here: more than one answer holds. */
  left: Schema.Int,
  asOf: Sequence,
});
export type RunTimes = typeof RunTimes.Type;

/** A run as it was after one event of it, and where its other events are. */
export const RunMoment = Schema.Struct({
  run: RunDetail,
  /** The event: the newest of this run that is not after the asked sequence. */
  sequence: Sequence,
  kind: Schema.String,
  at: EpochMillis,
  /** The run's events before and after it, if any. */
  previous: Schema.NullOr(Sequence),
  next: Schema.NullOr(Sequence),
});
export type RunMoment = typeof RunMoment.Type;

/** Events of one run that a look at its past folds at most: of its newest turns, and about the run as a whole. */
export const momentEvents = 100_000;

/**
 * Which value of a call, as stored: its arguments, the result that the model sees, or
 * the whole result where that is a bounded copy of it (R52).
 */
export const CallBody = Schema.Literals([
  "parameters",
  "effectiveParameters",
  "result",
  "wholeResult",
]);
export type CallBody = typeof CallBody.Type;
