/** What time alone changes about a row of what is owed: pure, by the server's clock. */
import { obligationSeverity, obligationThresholds } from "#lib/contract/obligation-age.ts";
import type { ObligationView } from "#lib/contract/obligation-views.ts";

type Timed = Pick<ObligationView, "since" | "dueAt">;

/** The row at a moment: how bad it is by then, and whether its next attempt is still ahead. */
export const obligationAt = <Row extends Timed>(
  row: Row,
  now: number,
): Row & { readonly severity: ObligationView["severity"]; readonly isDue: boolean } => ({
  ...row,
  severity: obligationSeverity(row.since, now),
  isDue: row.dueAt !== null && row.dueAt <= now,
});

const { agingSeconds, overdueSeconds } = obligationThresholds;

/** How many moments of these rows have passed at which the server says something else about them. */
export const momentsPassed = (rows: ReadonlyArray<Timed>, now: number): number =>
  rows.reduce(
    (count, { dueAt, since }) =>
      count +
      [since + agingSeconds * 1_000, since + overdueSeconds * 1_000, dueAt ?? Infinity].filter(
        (moment) => moment <= now,
      ).length,
    0,
  );
