import * as Effect from "effect/Effect";
import { SchedulingOverrideInvalid } from "#lib/agent-error.ts";

/** How a run lowers the concurrency of its batches (`S-01`). */
export type SchedulingOverride =
  | { readonly mode: "sequential" }
  | { readonly mode: "concurrent"; readonly max: number };

const isPositiveInteger = (value: number): boolean => Number.isSafeInteger(value) && value >= 1;

/**
 * How many calls of a batch may run at once: the smaller of the agent policy's
 * maximum and the run's override, so always finite (`S-01`, `S-03`).
 *
 * @param policyMaximum whole number of at least 1
 * @param override absent = the policy's maximum
 * @returns whole number of at least 1
 * @throws `SchedulingOverrideInvalid` when either number is not a positive whole number
 */
export const effectiveConcurrency = (
  policyMaximum: number,
  override?: SchedulingOverride | undefined,
): Effect.Effect<number, SchedulingOverrideInvalid> => {
  if (!isPositiveInteger(policyMaximum)) {
    return Effect.fail(
      new SchedulingOverrideInvalid({
        seen: String(policyMaximum),
        message: `The agent policy's tool concurrency must be a whole number of at least 1, but is ${policyMaximum}.`,
      }),
    );
  }
  if (override === undefined) return Effect.succeed(policyMaximum);
  if (override.mode === "sequential") return Effect.succeed(1);
  return isPositiveInteger(override.max)
    ? Effect.succeed(Math.min(policyMaximum, override.max))
    : Effect.fail(
        new SchedulingOverrideInvalid({
          seen: String(override.max),
          limit: policyMaximum,
          message: `The run's tool concurrency must be a whole number from 1 to ${policyMaximum}, but is ${override.max}.`,
        }),
      );
};
