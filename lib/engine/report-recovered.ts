import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Option from "effect/Option";
import { exitWithin } from "#lib/approval/exit-within.ts";
import type { RunRecord } from "#lib/contract/records.ts";
import type { RecoveredFailure } from "#lib/recovered-failure.ts";
import type { RunContext } from "./RunContext.ts";

/** An observer that hangs costs its run this much per failure and no more. */
const longestObservation = "1 second";

const recoveredIn = (
  context: RunContext,
  records: ReadonlyArray<RunRecord>,
): ReadonlyArray<RecoveredFailure> =>
  records.flatMap((record) => {
    if (record._tag !== "ToolCallSettled" || record.failure === undefined) return [];
    const { failure, failureHandling } = record;
    if (failureHandling === undefined || failureHandling === "propagated") return [];
    return [
      {
        threadId: context.threadId,
        runId: context.runId,
        turn: record.turn,
        toolCallId: record.callId,
        toolName: record.toolName,
        failureHandling,
        errorTag: failure.errorTag,
        message: failure.message,
      },
    ];
  });

const troubleOf = (told: Option.Option<Exit.Exit<void>>): string | undefined => {
  if (Option.isNone(told)) return "took longer than a second";
  const exit = told.value;
  if (Exit.isSuccess(exit)) return undefined;
  return Cause.hasInterruptsOnly(exit.cause) ? "interrupted itself" : "broke";
};

/** Tells the host's observer of what was just recorded; nothing that it does reaches the run (F-16). */
export const reportRecovered = (
  context: RunContext,
  records: ReadonlyArray<RunRecord>,
): Effect.Effect<void> => {
  const observer = context.recoveredFailures;
  if (observer === undefined) return Effect.void;
  return Effect.forEach(
    recoveredIn(context, records),
    (failure) =>
      Effect.gen(function* () {
        const told = yield* exitWithin(
          Effect.suspend(() => observer.observe(failure)),
          longestObservation,
        );
        const how = troubleOf(told);
        if (how === undefined) return;
        yield* Effect.logWarning(
          `The observer of recovered tool failures ${how}; the run is not affected.`,
        );
      }),
    { discard: true },
  );
};
