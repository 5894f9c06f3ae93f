/**
 * The tenant's event log as this browser follows it: one connection, resumed at its cursor, with
 * back-off and jitter, a heartbeat watchdog, and a resync when the cursor cannot be continued (C064).
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
  /** Runs whenever the browser finds its network again, until the returned function is called. */
  readonly onNetwork: (run: () => void) => () => void;
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
const longestRetryMillis = 20_000;

/** Between half of and the whole of 0.5 s, 1 s, 2 s ... 20 s. */
export const retryDelay = (attempt: number, random: number): number => {
  const whole = Math.min(longestRetryMillis, firstRetryMillis * 2 ** Math.min(attempt - 1, 10));
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
  let ended = false;
  let after: number | undefined;

  const watch = (): void => {
    cancelTimer();
    cancelTimer = surroundings.after(silenceMillis, retry);
  };
  const heard = (): void => {
    if (attempt > 0 || after === undefined)
      onFrame({ kind: "connection", state: { phase: "live" } });
    attempt = 0;
    watch();
  };
  const retry = (): void => {
    if (ended) return;
    connection?.close();
    cancelTimer();
    attempt += 1;
    const retryInMillis = retryDelay(attempt, surroundings.random());
    onFrame({ kind: "connection", state: { phase: "retrying", attempt, retryInMillis } });
    cancelTimer = surroundings.after(retryInMillis, connect);
  };
  // After half a minute without network the next try may be 20 s away: too long for whoever looks at it (C064).
  const stopListening = surroundings.onNetwork(() => {
    if (attempt === 0) return;
    connection?.close();
    cancelTimer();
    connect();
  });
  const connect = (): void => {
    if (ended) return;
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
    opened.addEventListener(
      "open",
      current(() => {
        onFrame({ kind: "connection", state: { phase: "live" } });
        attempt = 0;
        watch();
      }),
    );
    opened.addEventListener("error", current(retry));
    named("message", (data) => onFrame({ kind: "event", data }));
    named(eventFrameNames.heartbeat, (data) => onFrame({ kind: "heartbeat", data }));
    named(eventFrameNames.reset, (data) => {
      after = readReset(data)?.last ?? 0;
      onFrame({ kind: "reset", data });
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
