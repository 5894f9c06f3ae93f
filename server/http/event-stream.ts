/**
 * The tenant's log as frames: subscribe to hints first, then replay, then live,
 * so nothing that commits in between is missed (PG-04, OP-01). Frames are pulled:
 * a slow reader makes this read later, never buffer more.
 */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Queue from "effect/Queue";
import * as Stream from "effect/Stream";
import {
  eventFrameNames,
  type HeartbeatFrame,
  type ResetFrame,
} from "#lib/contract/http/event-frames.ts";
import type { LoggedEvent } from "#lib/contract/events.ts";
import type { RunId, TenantId } from "#lib/contract/ids.ts";
import { EventLog } from "#lib/durable/EventLog.ts";
import type { StoreError } from "#lib/durable/StoreError.ts";

/** Events of one read; their values are bounded, so a read is a few megabytes at most. */
const eventsPerRead = 200;
/** A hint may be lost: without one the log is read again after this long (PG-04). */
const scanMillis = 1_000;
/** Events that come together are read together: a busy log costs each stream 40 reads a second at most. */
const gatherMillis = 25;
/** Proxies cut quiet streams at 30 s and more (C067). With the scan before it, 15 s at most. */
export const heartbeatMillis = 13_500;

export interface EventStreamRequest {
  readonly tenantId: TenantId;
  readonly runId: RunId | undefined;
  /** The last sequence the client has; undefined: start at the newest. */
  readonly after: number | undefined;
  /** Asked as often as a heartbeat is due, busy or quiet; the stream ends once it says no. */
  readonly mayFollow: Effect.Effect<boolean, StoreError>;
}

const frame = (id: number, event: string | undefined, data: unknown): string =>
  `id: ${id}\n${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;

/** Every stream of a tenant is given the same event object, so its text is made once for all of them. */
const eventTexts = new WeakMap<LoggedEvent, string>();
const eventFrame = (event: LoggedEvent): string => {
  const known = eventTexts.get(event);
  if (known !== undefined) return known;
  const text = frame(event.sequence, undefined, event);
  eventTexts.set(event, text);
  return text;
};

/** Why a cursor cannot be continued, if so. `first` is 0 or 1 in a log that was never trimmed. */
export const resetReason = (
  after: number,
  bounds: { readonly first: number; readonly last: number },
): ResetFrame["reason"] | undefined => {
  if (after > bounds.last) return "ahead";
  return after + 1 < bounds.first ? "trimmed" : undefined;
};

interface Position {
  readonly cursor: number;
  /** When the last frame was given, milliseconds. */
  readonly framedAt: number;
  /** When the operator's sign-in was last looked at, milliseconds. */
  readonly checkedAt: number;
  /** The replay is over: what comes now is live. */
  readonly live: boolean;
  /** The last read was full, so more is waiting. */
  readonly behind: boolean;
}

/** Ends by itself when the operator may not follow any more. */
export const eventFrames = (
  request: EventStreamRequest,
): Stream.Stream<string, StoreError, EventLog> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const log = yield* EventLog;
      const hints = yield* log.hints(request.tenantId);
      const bell = yield* Queue.sliding<void>(1);
      yield* hints.pipe(
        Stream.runForEach(() => Queue.offer(bell, undefined)),
        Effect.forkScoped,
      );
      const bounds = yield* log.bounds(request.tenantId);
      const after = request.after ?? bounds.last;
      const reason = resetReason(after, bounds);
      const cursor = reason === undefined ? after : bounds.last;
      const opening =
        reason === undefined
          ? Stream.empty
          : Stream.make(
              frame(cursor, eventFrameNames.reset, { reason, ...bounds } satisfies ResetFrame),
            );

      const read = (position: Position) =>
        log.read({
          tenantId: request.tenantId,
          ...(request.runId === undefined ? {} : { runId: request.runId }),
          after: position.cursor,
          limit: eventsPerRead,
        });

      const heartbeat = (position: Position, now: number) =>
        Effect.map(log.bounds(request.tenantId), ({ last }) => [
          frame(position.cursor, eventFrameNames.heartbeat, {
            last,
            serverTime: now,
          } satisfies HeartbeatFrame),
        ]);

      const waitForMore = Effect.andThen(
        Effect.timeoutOption(Queue.take(bell), scanMillis),
        Effect.sleep(gatherMillis),
      );

      const turn = Effect.fnUntraced(function* (position: Position) {
        if (position.live && !position.behind) yield* waitForMore;
        const events = yield* read(position);
        const now = yield* Clock.currentTimeMillis;
        const checks = now - position.checkedAt >= heartbeatMillis;
        if (checks && !(yield* request.mayFollow)) return [[], undefined] as const;
        const checked = checks ? { ...position, checkedAt: now } : position;
        const last = events.at(-1);
        if (last !== undefined) {
          const behind = events.length === eventsPerRead;
          const next = { ...checked, cursor: last.sequence, framedAt: now, behind };
          return [events.map(eventFrame), next] as const;
        }
        const caughtUp = { ...checked, behind: false };
        if (position.live && now - position.framedAt < heartbeatMillis)
          return [[], caughtUp] as const;
        const frames = yield* heartbeat(position, now);
        return [frames, { ...caughtUp, framedAt: now, live: true }] as const;
      });

      const checkedAt = yield* Clock.currentTimeMillis;
      const start: Position = { cursor, framedAt: 0, checkedAt, live: false, behind: true };
      const frames = Stream.paginate(start, (position) =>
        Effect.map(
          turn(position),
          ([given, next]) => [given, Option.fromUndefinedOr(next)] as const,
        ),
      );
      return Stream.concat(opening, frames);
    }),
  );
