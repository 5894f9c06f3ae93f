/**
 * A run as it was after an event: the same fold that keeps an open page live, begun at nothing. What no
 * event carries and what never changes once it is there (whole values, digests, epochs) is taken from
 * today's rows, for the calls that existed then. Pure.
 */
import * as Schema from "effect/Schema";
import { applyToRun } from "#lib/client/apply-run-event.ts";
import { freshSnapshot } from "#lib/client/run-snapshot.ts";
import type { LoggedEvent } from "#lib/contract/events.ts";
import type { InnerCallView, RunDetail, ToolCallView, TurnView } from "#lib/contract/run-views.ts";

/** Turns whose own events are not among those that are folded. */
export const TurnsBefore = Schema.Struct({
  /** How many, and the number of the newest. */
  turns: Schema.Int,
  newest: Schema.Int,
  calls: Schema.Int,
  inputTokens: Schema.Int,
  outputTokens: Schema.Int,
});
export type TurnsBefore = typeof TurnsBefore.Type;

export const noTurnsBefore: TurnsBefore = {
  turns: 0,
  newest: 0,
  calls: 0,
  inputTokens: 0,
  outputTokens: 0,
};

/** Nothing of the run has happened yet, but that it was submitted. */
const untouched = ({ callAsText: _later, ...today }: RunDetail): RunDetail => ({
  ...today,
  state: "queued",
  failureTag: null,
  turns: 0,
  toolCalls: 0,
  pendingApprovals: 0,
  openUnknowns: 0,
  inputTokens: 0,
  outputTokens: 0,
  startedAt: null,
  settledAt: null,
  output: null,
  failure: null,
  finishReason: null,
  exhausted: null,
  modelId: null,
  abort: null,
  attempts: [],
  opening: [],
  turnViews: [],
  earlier: { turns: 0, calls: 0 },
  asOf: 0,
});

/**
 * The run after the last of `events`, in order: all up to then, or those of the run as a whole and of the
 * turns that are not `before`.
 */
export const foldMoment = (
  today: RunDetail,
  events: ReadonlyArray<LoggedEvent>,
  before: TurnsBefore = noTurnsBefore,
): RunDetail =>
  events.reduce(
    applyToRun,
    freshSnapshot({
      ...untouched(today),
      turns: before.newest,
      toolCalls: before.calls,
      inputTokens: before.inputTokens,
      outputTokens: before.outputTokens,
    }),
  ).detail;

/** A run ends once, and no event says what its end made of calls that had not ended: today's rows do. */
const asRunEnded = (
  then: InnerCallView,
  { broke, endedAt, failure, isFailure, state }: InnerCallView,
): Partial<InnerCallView> =>
  then.endedAt === null && then.state !== "unknown"
    ? { state, endedAt, failure, isFailure, ...(broke === undefined ? {} : { broke }) }
    : {};

const withStored = <Call extends InnerCallView>(
  then: Call,
  now: InnerCallView | undefined,
  hasEnded: boolean,
): Call =>
  now === undefined
    ? then
    : {
        ...then,
        ...(hasEnded ? asRunEnded(then, now) : {}),
        parameters: now.parameters,
        effectiveParameters: now.effectiveParameters,
        parametersDigest: now.parametersDigest,
        ...(then.startedAt === null ? {} : { idempotencyKey: now.idempotencyKey }),
        // A call without a preparation is known to have started only by what ended it.
        ...(then.endedAt === null || then.startedAt !== null ? {} : { startedAt: now.startedAt }),
        ...(then.hasResult && now.hasResult ? { result: now.result } : {}),
      };

const callsById = (calls: ReadonlyArray<ToolCallView>): ReadonlyMap<string, ToolCallView> =>
  new Map(calls.map((call) => [call.callId, call]));

/** The folded run with what today's rows know of its turns and attempts, those turns only. */
export const withStoredFacts = (
  folded: RunDetail,
  turns: ReadonlyArray<TurnView>,
  today: RunDetail,
  before: TurnsBefore = noTurnsBefore,
): RunDetail => {
  const stored = new Map(turns.map((turn) => [turn.turn, callsById(turn.calls)]));
  const epochs = new Map(today.attempts.map(({ attempt, epoch }) => [attempt, epoch]));
  const first = turns[0]?.turn ?? 1;
  const hasEnded = folded.settledAt !== null;
  const earlier = folded.turnViews.filter((turn) => turn.turn < first);
  return {
    ...folded,
    // A run ends once: its end was today's. Events did not always tell the budget.
    exhausted: folded.settledAt === null ? null : today.exhausted,
    attempts: folded.attempts.map((attempt) => ({
      ...attempt,
      epoch: epochs.get(attempt.attempt) ?? attempt.epoch,
    })),
    earlier: {
      turns: before.turns + earlier.length,
      calls: earlier.reduce((sum, turn) => sum + turn.calls.length, before.calls),
    },
    turnViews: folded.turnViews.slice(earlier.length).map((turn) => ({
      ...turn,
      calls: turn.calls.map((call) => {
        const now = stored.get(turn.turn)?.get(call.callId);
        const inner = call.inner?.map((one) =>
          withStored(
            one,
            now?.inner?.find(({ callId }) => callId === one.callId),
            hasEnded,
          ),
        );
        return { ...withStored(call, now, hasEnded), ...(inner === undefined ? {} : { inner }) };
      }),
    })),
  };
};
