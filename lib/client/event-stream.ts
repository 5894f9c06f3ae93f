/**
 * The tenant's event log as this browser follows it: one connection, resumed at its cursor, with
 * back-off and jitter, a heartbeat watchdog, and a resync when the cursor cannot be continued (C064).
 * Whoever looks at a page waits some 3 s at most once the server is back, and less when a sign comes
 * that it is; a page that nobody looks at is not in a hurry.
 */
import * as Schema from "effect/Schema";
import {
  EventFrame,
  eventFrameNames,
  HeartbeatFrame,
  ResetFrame,
} from "../contract/http/event-frames.ts";
import type { LoggedEvent } from "../contract/events.ts";
import type { ServerClock } from "./server-clock.ts";

/** The part of `EventSource` that is used, so that a test can drive it. */
export interface EventConnection {
  readonly addEventListener: (
    type: string,
    listener: (event: { readonly data?: unknown; readonly lastEventId?: string }) => void,
  ) => void;
  readonly close: () => void;
}

export interface StreamSurroundings {
  readonly open: (url: string) => EventConnection;
  /** Local milliseconds. */
  readonly now: () => number;
  readonly after: (millis: number, run: () => void) => () => void;
  /** Whether somebody may be looking at this page. */
  readonly isVisible: () => boolean;
  /**
   * Runs at every sign that the server may be reached now, until the returned function is called: the
   * browser has found its network, somebody looks at the page again, another request was answered.
   */
  readonly onSign: (run: () => void) => () => void;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly clock: ServerClock;
}

/** One raw frame, as a tab that leads hands it on to the others. */
export type StreamFrame =
  | { readonly kind: "event"; readonly data: string }
  | { readonly kind: "heartbeat"; readonly data: string }
  | { readonly kind: "reset"; readonly data: string }
  | { readonly kind: "connection"; readonly state: ConnectionState };

export type ConnectionState =
  | { readonly phase: "connecting" }
  | { readonly phase: "live" }
  /** `attempt` starts at 1; `retryInMillis` counts from when it was set. */
  | { readonly phase: "retrying"; readonly attempt: number; readonly retryInMillis: number };

/** Quiet for longer than three heartbeats: the connection is dead even if it does not know it. */
export const silenceMillis = 45_000;
const firstRetryMillis = 500;
const longestRetryMillis = { visible: 3_000, hidden: 20_000 } as const;
/**
 * However many signs come, tries start at least this far apart, and twice as far after each that a sign hurried
 * in vain: a stream may be refused, or closed at once, while all else is answered.
 */
const leastBetweenTriesMillis = 500;
/** Only a connection that was held for so long counts as one; the waits after a shorter one go on growing. */
const steadyMillis = 5_000;
/** At a sign, a try without an answer for so long is given up for a new one. */
const openingMillis = 10_000;
/** At a sign, a line without a heartbeat for so long is taken for dead: the computer slept, or the tab was frozen. */
const doubtfulSilenceMillis = 20_000;

/** Between half of and the whole of 0.5 s, 1 s, 2 s and so on: to 3 s while somebody may look, else to 20 s. */
export const retryDelay = (attempt: number, random: number, isVisible: boolean): number => {
  const longest = isVisible ? longestRetryMillis.visible : longestRetryMillis.hidden;
  const whole = Math.min(longest, firstRetryMillis * 2 ** Math.min(attempt - 1, 10));
  return Math.round(whole / 2 + (whole / 2) * random);
};

const decodeEvent = Schema.decodeUnknownOption(EventFrame);
const decodeHeartbeat = Schema.decodeUnknownOption(HeartbeatFrame);
const decodeReset = Schema.decodeUnknownOption(ResetFrame);

const json = (data: string): unknown => {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
};

/** The event of a frame, or undefined when this version cannot read it. */
export const readEvent = (data: string): LoggedEvent | undefined => {
  const decoded = decodeEvent(json(data));
  return decoded._tag === "Some" ? decoded.value : undefined;
};

export const readHeartbeat = (data: string): HeartbeatFrame | undefined => {
  const decoded = decodeHeartbeat(json(data));
  return decoded._tag === "Some" ? decoded.value : undefined;
};

export const readReset = (data: string): ResetFrame | undefined => {
  const decoded = decodeReset(json(data));
  return decoded._tag === "Some" ? decoded.value : undefined;
};

const sequenceText = /^\d{1,15}$/;

/**
 * Opens the connection after `cursor` and keeps it open until the returned function is called. Frames
 * are handed on as text: whoever follows decodes them.
 */
export const followEvents = (
  surroundings: StreamSurroundings,
  cursor: () => number,
  onFrame: (frame: StreamFrame) => void,
): (() => void) => {
  let connection: EventConnection | undefined;
  let cancelTimer: () => void = () => {};
  let attempt = 0;
  let hurried = 0;
  let ended = false;
  let isLive = false;
  /** No other frame has come since the last reset. */
  let isReset = false;
  let after: number | undefined;
  let triedAt = 0;
  let heardAt = Number.NEGATIVE_INFINITY;
  /** When the next try is due; undefined while a connection is open or opening. */
  let dueAt: number | undefined;

  const connectAfter = (millis: number): void => {
    cancelTimer();
    if (millis <= 0) return connect();
    dueAt = surroundings.now() + millis;
    cancelTimer = surroundings.after(millis, connect);
  };
  const watch = (): void => {
    cancelTimer();
    cancelTimer = surroundings.after(silenceMillis, retry);
  };
  const heard = (): void => {
    if (!isLive) onFrame({ kind: "connection", state: { phase: "live" } });
    isLive = true;
    heardAt = surroundings.now();
    watch();
  };
  /** A connection has ended that was held for some time: what was tried before it is over. */
  const forgetTries = (): void => {
    if (!isLive || surroundings.now() - triedAt < steadyMillis) return;
    attempt = 0;
    hurried = 0;
  };
  const tryAgainAfter = (retryInMillis: number): void => {
    connection?.close();
    isLive = false;
    attempt += 1;
    onFrame({ kind: "connection", state: { phase: "retrying", attempt, retryInMillis } });
    connectAfter(retryInMillis);
  };
  const retry = (): void => {
    if (ended) return;
    forgetTries();
    tryAgainAfter(retryDelay(attempt + 1, surroundings.random(), surroundings.isVisible()));
  };
  const stopListening = surroundings.onSign(() => {
    const now = surroundings.now();
    if (dueAt !== undefined) {
      const least = Math.min(longestRetryMillis.visible, leastBetweenTriesMillis * 2 ** hurried);
      if (triedAt + least >= dueAt) return;
      hurried += 1;
      connectAfter(triedAt + least - now);
      return;
    }
    const isOpening = heardAt < triedAt;
    const quietMillis = now - (isOpening ? triedAt : heardAt);
    if (quietMillis >= (isOpening ? openingMillis : doubtfulSilenceMillis)) {
      forgetTries();
      tryAgainAfter(0);
    }
  });
  const connect = (): void => {
    if (ended) return;
    isLive = false;
    dueAt = undefined;
    triedAt = surroundings.now();
    const from = Math.max(after ?? 0, cursor());
    // Each connection is a new EventSource: its own retry knows neither jitter nor silence.
    const opened = surroundings.open(`/api/v1/events?after=${from}`);
    connection = opened;
    watch();
    const current = (run: () => void) => (): void => {
      if (!ended && connection === opened) run();
    };
    const named = (name: string, run: (data: string) => void): void =>
      opened.addEventListener(name, (event) => {
        if (ended || connection !== opened || typeof event.data !== "string") return;
        if (event.lastEventId !== undefined && sequenceText.test(event.lastEventId)) {
          after = Math.max(after ?? 0, Number(event.lastEventId));
        }
        heard();
        run(event.data);
      });
    opened.addEventListener("open", current(heard));
    opened.addEventListener("error", current(retry));
    named("message", (data) => {
      isReset = false;
      onFrame({ kind: "event", data });
    });
    named(eventFrameNames.heartbeat, (data) => {
      isReset = false;
      onFrame({ kind: "heartbeat", data });
    });
    named(eventFrameNames.reset, (data) => {
      after = readReset(data)?.last ?? 0;
      onFrame({ kind: "reset", data });
      // One that cannot be read leads to the next: without a wait they would come as fast as the network can.
      if (isReset) return retry();
      isReset = true;
      connection?.close();
      connect();
    });
  };

  onFrame({ kind: "connection", state: { phase: "connecting" } });
  connect();
  return () => {
    ended = true;
    stopListening();
    cancelTimer();
    connection?.close();
  };
};
