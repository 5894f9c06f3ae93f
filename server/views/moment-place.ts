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

/** Nobody is taken to look for so long without beginning anew (`lookSeconds`). */
const longestLookMillis = 10 * 60_000;

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

/** What is read of a queue's past: what opens and closes a row, also after the moment, and what else it showed by then. */
const ofQueue = {
  approvals: {
    spans: ["ApprovalRequested", "ApprovalDecided"],
    shown: ["ApprovalCounted", "ApprovalExtended"],
  },
  unknowns: { spans: ["ToolCallUnknown", "UnknownResolved"], shown: ["UnknownProbed"] },
} as const;

/**
 * The events that a queue's past is made of, in these runs: a row is open by what opened and closed it, also
 * after the moment. Whoever had begun to look long before looks no more; a queue has many looks and few looking.
 */
export const readPersonEvents = (
  tenantId: TenantId,
  queue: keyof typeof ofQueue,
  runIds: ReadonlyArray<RunId>,
  { at, sequence }: Pick<MomentPlace, "at" | "sequence">,
) =>
  Effect.flatMap(SqlClient, (sql) =>
    runIds.length === 0
      ? Effect.succeed<ReadonlyArray<PersonEvent>>([])
      : decodeRows(EventRow)(sql`
          SELECT e.sequence::float8 AS sequence, e.run_id AS "runId",
            ${sql.literal(millis("e.at"))} AS at, e.body AS event
          FROM events e WHERE e.tenant_id = ${tenantId} AND e.run_id IN ${sql.in([...new Set(runIds)])}
            AND ${sql.literal(aboutPeople)}
            AND (e.kind IN ${sql.in(ofQueue[queue].spans)}
              OR (e.sequence <= ${sequence}::float8::bigint AND (e.kind IN ${sql.in(ofQueue[queue].shown)}
                OR (${queue} = 'approvals' AND e.kind = 'ApprovalLookedAt'
                  AND e.at > to_timestamp(${at - longestLookMillis}::float8 / 1000)))))
          ORDER BY e.sequence`),
  );

/** Clocks of hosts and of the database may differ by so much, either way. */
export const clockSlackMillis = 3_600_000;

/** An act whose event is looked for. */
interface ActWithEvent {
  readonly runId: RunId;
  readonly target: string;
  readonly at: number;
  readonly kinds: ReadonlyArray<string>;
}

const EventOfActs = Schema.Struct({
  ...EventRow.fields,
  /** When the acts happened that it may belong to; an act whose own event still waits is not among them. */
  near: Schema.fromJsonString(Schema.Array(EpochMillis)),
});
export type EventOfActs = typeof EventOfActs.Type;

/** An operator's act and its event are written in one transaction, which the database ends after half of this. */
const actSlackMillis = 60_000;
/** Events of one target around one act that are handed on; the nearest in time. */
const eventsOfAct = 8;

/**
 * The events that each act may have led to, whatever else the log holds of its run. None while the act's own
 * may still wait for its place in the log: the one before it would be taken for it.
 *
 * @param slackMillis how far an act's time and its event's may be apart
 */
export const readEventsOfActs = (
  tenantId: TenantId,
  acts: ReadonlyArray<ActWithEvent>,
  slackMillis: number = actSlackMillis,
) =>
  Effect.flatMap(SqlClient, (sql) =>
    acts.length === 0
      ? Effect.succeed<ReadonlyArray<EventOfActs>>([])
      : decodeRows(EventOfActs)(sql`
          WITH acts AS (
            SELECT a.*, to_timestamp(a."at" / 1000) AS acted_at
            FROM json_to_recordset(${JSON.stringify(acts)}::json) AS a (
              "runId" text, target text, "at" float8, kinds json)
            WHERE NOT EXISTS (SELECT FROM event_inbox i WHERE i.tenant_id = ${tenantId}
              AND i.run_id = a."runId" AND i.at <= to_timestamp(a."at" / 1000))
          ), near AS (
            SELECT e.sequence, e.run_id, e.at, e.body, a."at" AS acted, row_number() OVER (
              PARTITION BY a."runId", a.target, a."at"
              ORDER BY abs(extract(epoch FROM e.at - a.acted_at)), e.sequence) AS place
            FROM acts a JOIN events e ON e.tenant_id = ${tenantId} AND e.run_id = a."runId"
              AND ${sql.literal(aboutPeople)}
              AND e.at BETWEEN a.acted_at - ${slackMillis}::float8 * interval '1 millisecond'
                AND a.acted_at + ${slackMillis}::float8 * interval '1 millisecond'
              AND e.kind IN (SELECT json_array_elements_text(a.kinds))
              AND (a.target = a."runId" OR strpos(e.body, a.target) > 0)
          )
          SELECT sequence::float8 AS sequence, run_id AS "runId",
            ${sql.literal(millis("at"))} AS at, body AS event, json_agg(acted)::text AS "near"
          FROM near WHERE place <= ${eventsOfAct}
          GROUP BY near.sequence, run_id, near.at, body ORDER BY 1`),
  );
