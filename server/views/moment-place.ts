/** Where a moment of the tenant's log is, and the events about people around it. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { InvalidInput } from "#lib/contract/errors.ts";
import { type LoggedEvent, ReadableEvent } from "#lib/contract/events.ts";
import type { MomentPlace } from "#lib/contract/http/moments.ts";
import { EpochMillis, RunId, Sequence, type TenantId } from "#lib/contract/ids.ts";
import { notFound } from "#lib/durable/not-found.ts";
import { millis } from "./columns.ts";
import { decodeRows } from "./snapshot.ts";

const PlaceRow = Schema.Struct({
  sequence: Sequence,
  kind: Schema.String,
  at: EpochMillis,
  first: Sequence,
  last: Sequence,
});

/** The event asked for, or the newest where the log has not come so far. Call it inside `inSnapshot`. */
export const readPlace = Effect.fnUntraced(function* (tenantId: TenantId, asked: number) {
  const sql = yield* SqlClient;
  const rows = yield* decodeRows(PlaceRow)(sql`
    SELECT e.sequence::float8 AS sequence, e.kind, ${sql.literal(millis("e.at"))} AS at,
      t.first_sequence::float8 AS first, t.last_sequence::float8 AS last
    FROM event_tails t JOIN LATERAL (
      SELECT * FROM events n WHERE n.tenant_id = t.tenant_id AND n.sequence <= ${asked}::float8::bigint
      ORDER BY n.sequence DESC LIMIT 1) AS e ON true
    WHERE t.tenant_id = ${tenantId}`);
  const found = rows[0];
  if (found !== undefined) {
    const { first, last, ...event } = found;
    const place: MomentPlace = {
      ...event,
      previous: event.sequence > first ? Sequence.make(event.sequence - 1) : null,
      next: event.sequence < last ? Sequence.make(event.sequence + 1) : null,
    };
    return place;
  }
  const [tail] = yield* decodeRows(Schema.Struct({ first: Schema.Int }))(
    sql`SELECT first_sequence::float8 AS first FROM event_tails WHERE tenant_id = ${tenantId}`,
  );
  if (tail === undefined || tail.first <= 1) return yield* notFound("event");
  return yield* new InvalidInput({
    message: `Events before ${tail.first} are not kept any more, so what was there then cannot be rebuilt.`,
    path: "params.sequence",
  });
});

/** As the index `events_about_people` has it, word for word. */
export const aboutPeople = `e.kind IN ('ApprovalRequested', 'ApprovalDecided', 'ApprovalCounted', 'ApprovalExtended',
  'ApprovalLookedAt', 'ToolCallUnknown', 'UnknownProbed', 'UnknownResolved', 'AbortRequested', 'DenialAcknowledged')`;

const EventRow = Schema.Struct({
  sequence: Sequence,
  runId: RunId,
  at: EpochMillis,
  event: Schema.fromJsonString(Schema.toCodecJson(ReadableEvent)),
});
export type PersonEvent = Pick<LoggedEvent, "sequence" | "runId" | "at" | "event">;

/** Every event about people in these runs, also after the moment: what has one has its place by it. */
export const readPersonEvents = (tenantId: TenantId, runIds: ReadonlyArray<RunId>) =>
  Effect.flatMap(SqlClient, (sql) =>
    runIds.length === 0
      ? Effect.succeed<ReadonlyArray<PersonEvent>>([])
      : decodeRows(EventRow)(sql`
          SELECT e.sequence::float8 AS sequence, e.run_id AS "runId",
            ${sql.literal(millis("e.at"))} AS at, e.body AS event
          FROM events e WHERE e.tenant_id = ${tenantId} AND e.run_id IN ${sql.in([...new Set(runIds)])}
            AND ${sql.literal(aboutPeople)} ORDER BY e.sequence`),
  );

/** Clocks of hosts and of the database may differ by so much, either way. */
export const clockSlackMillis = 3_600_000;
