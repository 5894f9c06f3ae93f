/**
 * The lanes of a timeline, and which stretch of time is looked at: pure. A lane is a turn or a call;
 * only the lanes in view are drawn, so their number does not matter, and what stands on one is worked
 * out when it is drawn.
 */
import type { TurnTimes } from "#lib/contract/http/run-parts.ts";
import { type CallSpan, callEnd } from "./call-end.ts";
import { barOf, type Bar, makeScale, type Scale, type Stretch } from "./positions.ts";

/** A call of the newest turns also knows of the doubt about it; in the turns before no call is in doubt. */
type CallTimes = TurnTimes["calls"][number] & CallSpan;

/** A named step that a call took, with when its result was recorded. */
export interface StepTime {
  readonly name: string;
  readonly recordedAt: number;
}

export type Lane =
  | { readonly kind: "turn"; readonly key: string; readonly turn: TurnTimes }
  | {
      readonly kind: "call";
      readonly key: string;
      readonly turn: number;
      readonly call: CallTimes;
      /** The call was made by the program of another one. */
      readonly isInner: boolean;
    }
  | {
      readonly kind: "step";
      readonly key: string;
      readonly turn: number;
      /** The call that took it. */
      readonly call: CallTimes;
      readonly step: StepTime;
    };

/** A turn with the calls that its calls made, and the steps that calls took, each under the call's id. */
export interface TurnLanes extends TurnTimes {
  readonly calls: ReadonlyArray<CallTimes>;
  readonly inner?: ReadonlyArray<NonNullable<TurnTimes["inner"]>[number] & CallSpan>;
  readonly steps?: ReadonlyMap<string, ReadonlyArray<StepTime>>;
}

/** Every lane, in order: each turn, its calls, and under each call its steps and the calls it made. */
export const lanesOf = (turns: ReadonlyArray<TurnLanes>): ReadonlyArray<Lane> =>
  turns.flatMap((turn): ReadonlyArray<Lane> => {
    const stepsOf = (call: CallTimes): ReadonlyArray<Lane> =>
      (turn.steps?.get(call.callId) ?? []).map((step, index) => ({
        kind: "step",
        key: `${turn.turn}/${call.callId}/${index}`,
        turn: turn.turn,
        call,
        step,
      }));
    const callLane = (call: CallTimes, isInner: boolean): ReadonlyArray<Lane> => [
      { kind: "call", key: `${turn.turn}/${call.callId}`, turn: turn.turn, call, isInner },
      ...stepsOf(call),
    ];
    return [
      { kind: "turn", key: `${turn.turn}`, turn },
      ...turn.calls.flatMap((call) => [
        ...callLane(call, false),
        ...(turn.inner ?? [])
          .filter(({ parentCallId }) => parentCallId === call.callId)
          .flatMap((inner) => callLane(inner, true)),
      ]),
    ];
  });

/** From when to when a lane reaches; what has not ended reaches to `end`. */
export const reachOf = (lane: Lane, end: number): Stretch =>
  lane.kind === "turn"
    ? { from: lane.turn.startedAt, to: lane.turn.recordedAt }
    : lane.kind === "step"
      ? // What it did until then stands on the lane of its call: of a step only its record has a time.
        { from: lane.step.recordedAt, to: lane.step.recordedAt }
      : { from: lane.call.declaredAt, to: callEnd(lane.call) ?? end };

/** The scale of all lanes: folded where neither the model nor a tool worked. */
export const scaleOfLanes = (lanes: ReadonlyArray<Lane>, createdAt: number, end: number): Scale => {
  const busy: Array<Stretch> = [];
  const all: Array<Stretch> = [{ from: createdAt, to: end }];
  for (const lane of lanes) {
    const reach = reachOf(lane, end);
    all.push(reach);
    if (lane.kind === "turn") busy.push(reach);
    else if (lane.kind === "call" && lane.call.startedAt !== null)
      busy.push({ from: lane.call.startedAt, to: callEnd(lane.call) ?? end });
  }
  return makeScale(busy, all);
};

/** A part of the timeline's width, from 0 to 1. */
export interface Brush {
  readonly from: number;
  readonly to: number;
}

export const wholeBrush: Brush = { from: 0, to: 1 };
/** Narrower than this nothing could be told apart. */
export const leastBrush = 0.0005;

/** Both ends inside the width, in order, and never too narrow. */
export const clampBrush = (brush: Brush): Brush => {
  const from = Math.min(1, Math.max(0, Math.min(brush.from, brush.to)));
  const to = Math.min(1, Math.max(0, Math.max(brush.from, brush.to)));
  if (to - from >= leastBrush) return { from, to };
  const middle = Math.min(1 - leastBrush / 2, Math.max(leastBrush / 2, (from + to) / 2));
  return { from: middle - leastBrush / 2, to: middle + leastBrush / 2 };
};

/** Around its middle: a factor below 1 shows less, above 1 more. */
export const zoomBrush = (brush: Brush, factor: number): Brush => {
  const half = Math.min(1, (brush.to - brush.from) * factor) / 2;
  const middle = Math.min(1 - half, Math.max(half, (brush.from + brush.to) / 2));
  return clampBrush({ from: middle - half, to: middle + half });
};

/** To the side by a part of its own width; at the end it stops. */
export const moveBrush = (brush: Brush, share: number): Brush => {
  const width = brush.to - brush.from;
  const from = Math.min(1 - width, Math.max(0, brush.from + share * width));
  return { from, to: from + width };
};

/** As it stands in the address, in hundred-thousandths: `20000-45000`. */
export const brushText = (brush: Brush): string | undefined =>
  brush.from <= 0 && brush.to >= 1
    ? undefined
    : `${Math.round(brush.from * 100_000)}-${Math.round(brush.to * 100_000)}`;

export const brushOfText = (text: string | undefined): Brush => {
  const found = /^(\d{1,6})-(\d{1,6})$/.exec(text ?? "");
  return found === null
    ? wholeBrush
    : clampBrush({ from: Number(found[1]) / 100_000, to: Number(found[2]) / 100_000 });
};

/** A bar of the whole timeline as the brush shows it; undefined when it is outside. */
export const brushedBar = (bar: Bar, brush: Brush): Bar | undefined => {
  const width = brush.to - brush.from;
  const from = Math.max(brush.from, bar.x);
  const to = Math.min(brush.to, bar.x + bar.width);
  if (to <= from) return undefined;
  return { x: (from - brush.from) / width, width: (to - from) / width, skewed: bar.skewed };
};

/** The lanes of which something is inside the brush; a turn stays while one of its calls does. */
export const lanesWithin = (
  lanes: ReadonlyArray<Lane>,
  scale: Scale,
  brush: Brush,
  end: number,
): ReadonlyArray<Lane> => {
  if (brush.from <= 0 && brush.to >= 1) return lanes;
  const within: Array<Lane> = [];
  let heading: Lane | undefined;
  for (const lane of lanes) {
    const { from, to } = reachOf(lane, end);
    const isSeen = brushedBar(barOf(scale, from, to), brush) !== undefined;
    if (lane.kind === "turn") {
      heading = isSeen ? undefined : lane;
      if (isSeen) within.push(lane);
      continue;
    }
    if (!isSeen) continue;
    if (heading !== undefined) within.push(heading);
    heading = undefined;
    within.push(lane);
  }
  return within;
};

/** How much goes on in each of `columns` equal parts of the width: the busiest has 1. */
export const densityOf = (
  lanes: ReadonlyArray<Lane>,
  scale: Scale,
  end: number,
  columns: number,
): ReadonlyArray<number> => {
  // Where the number of lanes changes; running along the columns adds them up.
  const changes = Array.from({ length: columns + 1 }, () => 0);
  for (const lane of lanes) {
    // A step is part of what its call's lane shows.
    if (lane.kind === "step") continue;
    const { from, to } = reachOf(lane, end);
    const bar = barOf(scale, from, to);
    const first = Math.min(columns - 1, Math.floor(bar.x * columns));
    const last = Math.min(columns - 1, Math.floor((bar.x + bar.width) * columns));
    changes[first] = (changes[first] ?? 0) + 1;
    changes[last + 1] = (changes[last + 1] ?? 0) - 1;
  }
  let busy = 0;
  const counts = changes.slice(0, columns).map((change) => (busy += change));
  const most = Math.max(1, ...counts);
  return counts.map((count) => count / most);
};
