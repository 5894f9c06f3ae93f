/** How the process ends: a refusal in one sentence with exit code 1, a signal in order with exit code 0 and on time. */
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import type * as Runtime from "effect/Runtime";

/** Ctrl-C and SIGTERM promise an end within five seconds; the finalizers get this much of it. */
const graceMillis = 4_600;

/** Pure: what a person reads. A typed failure carries its own sentence; a defect is ours and shows its trace. */
export const sentenceOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause);
  const isTyped = cause.reasons.some(Cause.isFailReason);
  if (isTyped && error instanceof Error && error.message !== "") return error.message;
  return `something unexpected happened; please report it with what follows.\n${Cause.pretty(cause)}`;
};

export const reportRefusal = (cause: Cause.Cause<unknown>) =>
  Effect.sync(() => {
    if (!Cause.hasInterruptsOnly(cause))
      process.stderr.write(`\nEffect Agent cannot start: ${sentenceOf(cause)}\n\n`);
  });

/** Being told to stop is no failure. */
export const teardown: Runtime.Teardown = (exit, onExit) =>
  onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1);

/** The children watch this process and end by themselves, and a database left behind is reused by the next start. */
export const endOnTime = (): void => {
  let signals = 0;
  const onSignal = () => {
    signals += 1;
    if (signals === 1) process.stdout.write("\n  stopping\n");
    if (signals > 1) process.exit(1);
    setTimeout(() => {
      process.stderr.write(
        "  some work did not end in time and is cut off; it is recovered at the next start\n",
      );
      process.exit(1);
    }, graceMillis).unref();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
};
