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
import type { RunId, TenantId } from "#lib/contract/ids.ts";
import { EventLog } from "#lib/durable/EventLog.ts";
import type { StoreError } from "#lib/durable/StoreError.ts";

/** Events of one read; their values are bounded, so a read is a few megabytes at most. */
const eventsPerRead = 200;
/** A hint may be lost: without one the log is read again after this long (PG-04). */
const scanMillis = 1_000;
/** Proxies cut quiet streams at 30 s and more (C067). */
export const heartbeatMillis = 15_000;

export interface EventStreamRequest {
  readonly tenantId: TenantId;
  readonly runId: RunId | undefined;
  /** The last sequence the client has; undefined: start at the newest. */
  readonly after: number | undefined;
  /** Asked at every heartbeat; the stream ends once it says no. */
  readonly mayFollow: Effect.Effect<boolean, StoreError>;
}

const frame = (id: number, event: string | undefined, data: unknown): string =>
  `id: ${id}\n${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;

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
  /** The replay is over: what comes now is live. */
  readonly live: boolean;
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

      const turn = Effect.fnUntraced(function* (position: Position) {
        const events = yield* read(position);
        const now = yield* Clock.currentTimeMillis;
        const last = events.at(-1);
        if (last !== undefined) {
          const next = { ...position, cursor: last.sequence, framedAt: now };
          return [events.map((event) => frame(event.sequence, undefined, event)), next] as const;
        }
        if (!position.live || now - position.framedAt >= heartbeatMillis) {
          if (!(yield* request.mayFollow)) return [[], undefined] as const;
          return [
            yield* heartbeat(position, now),
            { ...position, framedAt: now, live: true },
          ] as const;
        }
        yield* Effect.timeoutOption(Queue.take(bell), scanMillis);
        return [[], position] as const;
      });

      const start: Position = { cursor, framedAt: 0, live: false };
      const frames = Stream.paginate(start, (position) =>
        Effect.map(
          turn(position),
          ([given, next]) => [given, Option.fromUndefinedOr(next)] as const,
        ),
      );
      return Stream.concat(opening, frames);
    }),
  );
