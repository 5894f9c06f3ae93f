/**
 * How a host stops without leaving doubts it could avoid: once it is closing, no
 * call is prepared and no model is asked any more, while calls in flight may
 * still end and be recorded. What does not end in time is in doubt, as after a
 * crash; what never started simply waits for the next owner. A promise that is
 * stored only when the time is over is taken back before the host goes.
 */
import * as Effect from "effect/Effect";
import type { RunEvent } from "#lib/contract/events.ts";
import type { RecordOf, RunRecord } from "#lib/contract/records.ts";
import type { RunDurability } from "#lib/engine/RunDurability.ts";
import type { Gate } from "./attempt-run.ts";

export interface DrainGate extends Gate {
  readonly isClosing: () => boolean;
  /** Closes the gate and waits until nothing is in flight, at most `millis`. */
  readonly close: (millis: number) => Effect.Effect<void>;
}

const keyOf = (record: {
  readonly runId: string;
  readonly turn: number;
  readonly callId: string;
}): string => JSON.stringify([record.runId, record.turn, record.callId]);

type Promised = RecordOf<"ToolCallPrepared">;

const isPromise = (record: RunRecord): record is Promised => record._tag === "ToolCallPrepared";

/** A call inside one in flight is part of it: held back, it would leave its parent in doubt. */
const startsCall = (record: RunRecord): boolean =>
  isPromise(record) && record.parentCallId === undefined;

const startsWork = (event: RunEvent): boolean =>
  event._tag === "ModelRequested" ||
  (event._tag === "ToolCallStarted" && event.parentCallId === undefined);

/** Waits for ever, but lets itself be interrupted even where its caller does not. */
const held = Effect.interruptible(Effect.never);

/** A call is in flight from the moment its promise is on its way: its handler starts as soon as that is kept. */
const begin = (inFlight: Set<string>, records: ReadonlyArray<RunRecord>): void => {
  for (const record of records) if (isPromise(record)) inFlight.add(keyOf(record));
};
const end = (inFlight: Set<string>, records: ReadonlyArray<RunRecord>): void => {
  for (const record of records)
    if (record._tag === "ToolCallSettled" || record._tag === "ToolCallUnknown")
      inFlight.delete(keyOf(record));
};

/** A doubt about a call of which this very host knows that it never started: its program went on without it. */
const isBaseless = (unstarted: ReadonlySet<string>, record: RunRecord): boolean =>
  record._tag === "ToolCallUnknown" && unstarted.has(keyOf(record));

/** A call that may run again is in no doubt; where the rest cannot be written either, a person is asked. */
const takenBack = (
  durability: RunDurability["Service"],
  takeBack: Parameters<Gate["guard"]>[1],
  late: ReadonlyArray<Promised>,
): Effect.Effect<void> => {
  const uncertain = late.filter(({ executionClass }) => executionClass === "uncertain");
  return uncertain.length === 0
    ? Effect.void
    : durability.now.pipe(
        Effect.flatMap((now) =>
          durability.record(uncertain.flatMap((promised) => takeBack(promised, now))),
        ),
        Effect.ignore,
      );
};

export const makeDrainGate = (): DrainGate => {
  let closing = false;
  /** The time of calls in flight is up: whatever is promised now is not started here. */
  let over = false;
  /** Calls in flight, a set per attempt: what an attempt left behind when it was taken away is no longer waited for. */
  const attempts = new Set<Set<string>>();
  const guardWith = (
    durability: RunDurability["Service"],
    takeBack: Parameters<Gate["guard"]>[1],
    inFlight: Set<string>,
    /** Calls of this attempt that were promised too late. */
    unstarted: Set<string>,
  ): RunDurability["Service"] => ({
    ...durability,
    record: (records, diagnostics, results) =>
      Effect.suspend(() => {
        if (closing && records.some(over ? isPromise : startsCall)) return held;
        // What made such a call and went on is in doubt itself, as after a crash; its class says what follows.
        if (records.some((record) => isBaseless(unstarted, record))) return held;
        begin(inFlight, records);
        // A promise that was not kept ends its attempt, and with it what is waited for here.
        return Effect.andThen(durability.record(records, diagnostics, results), () => {
          const late = over ? records.filter(isPromise) : [];
          if (late.length > 0) {
            for (const promised of late) unstarted.add(keyOf(promised));
            return Effect.andThen(takenBack(durability, takeBack, late), held);
          }
          end(inFlight, records);
          return Effect.void;
        }).pipe(Effect.uninterruptible);
      }),
    // Ends calls and never starts one, so a closing host lets it pass.
    recordSoon: (records, diagnostics, results) =>
      Effect.tap(durability.recordSoon(records, diagnostics, results), () =>
        Effect.sync(() => end(inFlight, records)),
      ),
    emit: (event) =>
      Effect.suspend(() => (closing && startsWork(event) ? held : durability.emit(event))),
  });
  const guard: Gate["guard"] = (durability, takeBack) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const inFlight = new Set<string>();
        attempts.add(inFlight);
        return inFlight;
      }),
      (inFlight) => Effect.sync(() => attempts.delete(inFlight)),
    ).pipe(Effect.map((inFlight) => guardWith(durability, takeBack, inFlight, new Set())));
  const isIdle = () => [...attempts].every((inFlight) => inFlight.size === 0);
  const untilIdle: Effect.Effect<void> = Effect.suspend(() =>
    isIdle() ? Effect.void : Effect.andThen(Effect.sleep("20 millis"), untilIdle),
  );
  return {
    guard,
    isClosing: () => closing,
    close: (millis) =>
      Effect.suspend(() => {
        closing = true;
        return Effect.timeoutOption(untilIdle, millis).pipe(
          Effect.andThen(Effect.sync(() => (over = true))),
          Effect.asVoid,
        );
      }),
  };
};
