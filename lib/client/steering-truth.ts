import type { RunExplanation } from "../contract/obligation-views.ts";

/** What is stored of a run that somebody woke or tried again, in words for whoever got no answer. */
export const steeringTruth = ({ lostAttempts, next, nextAt, now }: RunExplanation): string =>
  [
    now,
    next,
    ...(nextAt === null ? [] : [`Due at ${new Date(nextAt).toISOString()}.`]),
    ...(lostAttempts === 0 ? [] : [`Lost attempts in a row: ${lostAttempts}.`]),
  ].join(" ");
