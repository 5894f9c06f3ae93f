/**
 * The frames of `GET /api/v1/events`, as an `EventSource` receives them. Plain
 * schemas by deep path: the browser decodes with these.
 *
 * - unnamed (`message`): one `LoggedEvent`, with `id:` = its sequence;
 * - `heartbeat`: at most 15 s apart, with the sequence that is the newest now;
 * - `reset`: the cursor cannot be continued; fetch everything afresh, then
 *   reconnect after `last`.
 */
import * as Schema from "effect/Schema";
import { LoggedEvent } from "../events.ts";
import { EpochMillis, Sequence } from "../ids.ts";

export const eventFrameNames = { heartbeat: "heartbeat", reset: "reset" } as const;

export const EventFrame = LoggedEvent;

/** Sent at once after the replay, then at least every 15 s. */
export const HeartbeatFrame = Schema.Struct({
  /** The newest sequence of the tenant's log. */
  last: Sequence,
  /** The server's clock, milliseconds. */
  serverTime: EpochMillis,
});
export type HeartbeatFrame = typeof HeartbeatFrame.Type;

/** `trimmed`: events after the cursor are not kept any more; `ahead`: the cursor is newer than the log. */
export const ResetFrame = Schema.Struct({
  reason: Schema.Literals(["trimmed", "ahead"]),
  first: Sequence,
  last: Sequence,
});
export type ResetFrame = typeof ResetFrame.Type;
