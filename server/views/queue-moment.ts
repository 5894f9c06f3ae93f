/** `?at=<sequence>` of the two queues: reads what may have been open then, and what the log says of it. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { ApprovalListItem } from "#lib/contract/approval-views.ts";
import { momentRows } from "#lib/contract/http/moment-rows.ts";
import type { MomentPlace } from "#lib/contract/http/moments.ts";
import type { RunId, TenantId } from "#lib/contract/ids.ts";
import { UnknownListItem } from "#lib/contract/unknown-views.ts";
import { approvalOwnColumns } from "./list-approvals.ts";
import { clockSlackMillis, type PersonEvent, readPersonEvents, readPlace } from "./moment-place.ts";
import { approvalsThen, unknownsThen } from "./queue-then.ts";
import { decodeRows, inSnapshot } from "./snapshot.ts";
import { unknownListColumns } from "./unknowns.ts";

/** Rows that may have been open around a time: more than were, by the clocks' slack. */
const mostCandidates = 2 * momentRows;

/** The keys of rows that may have been open around a time, of the transaction's tenant (0029). */
const openNear = (sql: SqlClient, queue: "approvals" | "unknowns", at: number) => {
  const time = (millis: number) => sql`to_timestamp(${millis}::float8 / 1000)`;
  return sql`${sql.literal(`${queue}_open_near`)}(${time(at - clockSlackMillis)}, ${time(at + clockSlackMillis)})`;
};

const ApprovalRow = Schema.Struct({
  ...ApprovalListItem.fields,
  approversRequired: Schema.Int,
});

/** A queue's past is read alike: where in the log, what may have been open around then, and what the log says of it. */
const readQueue = <Row extends { readonly runId: RunId }, Then, E, R>(
  tenantId: TenantId,
  queue: "approvals" | "unknowns",
  asked: number,
  readCandidates: (sql: SqlClient, place: MomentPlace) => Effect.Effect<ReadonlyArray<Row>, E, R>,
  openThen: (
    candidates: ReadonlyArray<Row>,
    events: ReadonlyArray<PersonEvent>,
    place: MomentPlace,
  ) => ReadonlyArray<Then>,
) =>
  inSnapshot(
    tenantId,
    Effect.gen(function* () {
      const place = yield* readPlace(tenantId, asked);
      const candidates = yield* readCandidates(yield* SqlClient, place);
      const events = yield* readPersonEvents(
        tenantId,
        queue,
        candidates.map(({ runId }) => runId),
        place,
      );
      const items = openThen(candidates, events, place);
      return {
        ...place,
        items: items.slice(0, momentRows),
        more: items.length > momentRows || candidates.length > mostCandidates,
      };
    }),
  );

/** The approval queue as it was after an event. */
export const readApprovalsMoment = Effect.fn("views.readApprovalsMoment")(
  (tenantId: TenantId, asked: number) =>
    readQueue(
      tenantId,
      "approvals",
      asked,
      (sql, { at }) =>
        decodeRows(ApprovalRow)(sql`
          SELECT ${sql.literal(approvalOwnColumns)}, 0 AS "batchPending", a.approvers_required AS "approversRequired"
          FROM ${openNear(sql, "approvals", at)} AS near
          JOIN approval_requests a ON a.tenant_id = ${tenantId} AND a.request_id = near.request_id
          JOIN runs r ON r.tenant_id = a.tenant_id AND r.run_id = a.run_id
          ORDER BY a.requested_at, a.request_id LIMIT ${mostCandidates + 1}`),
      approvalsThen,
    ),
);

/** The effects in doubt as they were after an event. */
export const readUnknownsMoment = Effect.fn("views.readUnknownsMoment")(
  (tenantId: TenantId, asked: number) =>
    readQueue(
      tenantId,
      "unknowns",
      asked,
      (sql, { at }) =>
        decodeRows(UnknownListItem)(sql`
          SELECT ${sql.literal(unknownListColumns)}
          FROM ${openNear(sql, "unknowns", at)} AS near
          JOIN unknown_outcomes u ON u.tenant_id = ${tenantId} AND u.unknown_id = near.unknown_id
          JOIN runs r ON r.tenant_id = u.tenant_id AND r.run_id = u.run_id
          ORDER BY u.unknown_at, u.unknown_id LIMIT ${mostCandidates + 1}`),
      unknownsThen,
    ),
);
