/** Who did what, refused acts too, latest first (C097, C099). */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { Fragment } from "effect/unstable/sql/Statement";
import { Digest, EpochMillis, RunId, type TenantId } from "#lib/contract/ids.ts";
import { Actor } from "#lib/contract/records.ts";
import type { AuditView } from "#lib/contract/audit-views.ts";
import { columnText } from "#server/postgres/columns.ts";
import { eventKindsOf, mayHaveMoment, momentOfAct } from "./act-moment.ts";
import { millis } from "./columns.ts";
import { cursorForms, decodeCursor } from "./cursor.ts";
import { type EventOfActs, readEventsOfActs } from "./moment-place.ts";
import { readPage } from "./page.ts";
import { inSnapshot } from "./snapshot.ts";

const JsonColumn = Schema.NullOr(Schema.fromJsonString(Schema.Json));

const Row = Schema.Struct({
  sequence: Schema.Int,
  at: EpochMillis,
  actorKind: Actor.fields.kind,
  actorId: Schema.String,
  actorName: Schema.String,
  verb: Schema.String,
  target: Schema.String,
  runId: Schema.NullOr(RunId),
  accepted: Schema.Boolean,
  reason: Schema.String,
  before: JsonColumn,
  after: JsonColumn,
  commandId: Schema.NullOr(Schema.String),
  digest: Digest,
  previousDigest: Digest,
});

const view = ({ actorKind, actorId, actorName, ...row }: typeof Row.Type): AuditView => ({
  ...row,
  actor: { kind: actorKind, id: actorId, name: actorName },
});

/** Another act's event is not taken for one that still waits for its place. */
const withMoment = (act: AuditView, events: ReadonlyArray<EventOfActs>): AuditView => {
  const own = events.filter(({ near, runId }) => runId === act.runId && near.includes(act.at));
  const moment = momentOfAct(act, own);
  return moment === undefined ? act : { ...act, moment };
};

export const listAudit = Effect.fn("views.listAudit")(function* (
  tenantId: TenantId,
  query: {
    readonly verb?: string;
    readonly runId?: RunId;
    readonly actorId?: string;
    readonly accepted?: "yes" | "no";
    readonly cursor?: string;
    readonly limit?: number;
  },
) {
  const sql = yield* SqlClient;
  const cursor = yield* decodeCursor(query.cursor, [cursorForms.number]);
  const where: Array<Fragment> = [sql`l.tenant_id = ${tenantId}`];
  if (query.verb !== undefined) where.push(sql`l.verb = ${columnText(query.verb)}`);
  if (query.runId !== undefined) where.push(sql`l.run_id = ${query.runId}`);
  if (query.actorId !== undefined) where.push(sql`l.actor_id = ${columnText(query.actorId)}`);
  if (query.accepted !== undefined)
    where.push(sql.literal(query.accepted === "yes" ? "l.accepted" : "NOT l.accepted"));
  const matching = sql`FROM audit_log l WHERE ${sql.and(where)}`;
  const after =
    cursor === undefined ? sql`` : sql`AND l.sequence < ${Number(cursor[0])}::float8::bigint`;
  return yield* inSnapshot(
    tenantId,
    Effect.flatMap(
      readPage({
        tenantId,
        limit: query.limit,
        schema: Row,
        rows: (limit) => sql`
        SELECT l.sequence::float8 AS sequence, ${sql.literal(millis("l.at"))} AS at,
          l.actor_kind AS "actorKind", l.actor_id AS "actorId", l.actor_name AS "actorName", l.verb,
          l.target, l.run_id AS "runId", l.accepted, l.reason, l.before, l.after,
          l.command_id AS "commandId", l.digest, l.previous_digest AS "previousDigest"
        FROM (SELECT l.sequence ${matching} ${after} ORDER BY l.sequence DESC LIMIT ${limit}) AS k
        JOIN audit_log l ON l.tenant_id = ${tenantId} AND l.sequence = k.sequence
        ORDER BY l.sequence DESC`,
        matching,
        cursorOf: (row) => [String(row.sequence)],
      }),
      Effect.fnUntraced(function* (found) {
        const items = found.items.map(view);
        const events = yield* readEventsOfActs(
          tenantId,
          items.flatMap(({ runId, ...act }) =>
            runId !== null && mayHaveMoment(act)
              ? [{ runId, target: act.target, at: act.at, kinds: eventKindsOf(act.verb) }]
              : [],
          ),
        );
        return { ...found, items: items.map((act) => withMoment(act, events)) };
      }),
    ),
  );
});
