/** npm does not end its children when it is killed: a server started through it watches for that. */
import * as Effect from "effect/Effect";
import * as Schedule from "effect/Schedule";

/**
 * Completes when the npm that started this process is gone. Never for a server started without npm, which may
 * outlive its shell on purpose (nohup, systemd).
 */
export const npmGone = Effect.suspend(() => {
  const parent = process.ppid;
  if (process.env["npm_lifecycle_event"] === undefined || parent <= 1) return Effect.never;
  return Effect.sync(() => process.ppid === parent).pipe(
    Effect.repeat({ schedule: Schedule.spaced("1 second"), while: (same) => same }),
    Effect.asVoid,
  );
});
