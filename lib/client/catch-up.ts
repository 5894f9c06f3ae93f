/** An answer that was overtaken by events, brought up to date with the events that are kept. */
import type { RunDetail } from "../contract/run-views.ts";
import { applyToRun } from "./apply-run-event.ts";
import type { RecentEvents } from "./recent-events.ts";
import { freshSnapshot, type RunSnapshot } from "./run-snapshot.ts";

/**
 * A fresh answer for a run, with what only events carry kept from the snapshot before, and with the
 * events after the answer applied. So a slow answer never takes a newer state back (C064, C070).
 */
export const catchUpRun = (
  detail: RunDetail,
  before: RunSnapshot | undefined,
  recent: RecentEvents,
): RunSnapshot => {
  const recorded = new Set(detail.turnViews.map((turn) => String(turn.turn)));
  const fresh: RunSnapshot =
    before === undefined
      ? freshSnapshot(detail)
      : {
          detail,
          progress: before.progress,
          drafts: Object.fromEntries(
            Object.entries(before.drafts).filter(([turn]) => !recorded.has(turn)),
          ),
          asking:
            before.asking !== null && recorded.has(String(before.asking)) ? null : before.asking,
        };
  const missed = recent.after(detail.asOf) ?? [];
  // Text and progress were applied when they came: applying them again would double the text.
  const lasting =
    before === undefined ? missed : missed.filter((one) => one.event._tag !== "ModelText");
  return lasting.reduce(applyToRun, fresh);
};

/** True when the answer is older than the oldest event that is kept: it must be read again. */
export const isTooOld = (asOf: number, recent: RecentEvents): boolean =>
  recent.after(asOf) === undefined;
