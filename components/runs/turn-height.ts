/** About how high a turn is drawn, before it is: pure. */
import type { RunDetail } from "#lib/contract/run-views.ts";

/** Its heading and text, and one call, in pixels. */
const headPixels = 90;
export const callPixels = 31;
/** Calls of a turn that are drawn at once; the others on demand. */
export const drawnCalls = 60;

/** @param place among the turns that came with the run; below 0 of one that did not, which is as high as such turns are on average */
export const turnHeight = (
  { earlier, turnViews }: Pick<RunDetail, "earlier" | "turnViews">,
  place: number,
): number => {
  const calls =
    turnViews[place]?.calls.length ?? (earlier.turns === 0 ? 0 : earlier.calls / earlier.turns);
  return Math.round(headPixels + callPixels * Math.min(drawnCalls, calls));
};
