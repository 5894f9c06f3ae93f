/** How bad it is that something is still owed: by age alone, so that server and browser say the same (OP-11). */
import type { ObligationView } from "./obligation-views.ts";

/** Seconds after which an obligation is aging, and overdue. */
export const obligationThresholds = { agingSeconds: 300, overdueSeconds: 3_600 } as const;

/** Both in milliseconds of the server's clock. */
export const obligationSeverity = (since: number, now: number): ObligationView["severity"] => {
  const seconds = (now - since) / 1_000;
  if (seconds >= obligationThresholds.overdueSeconds) return "overdue";
  return seconds >= obligationThresholds.agingSeconds ? "aging" : "ok";
};
