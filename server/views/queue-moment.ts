/** `?at=<sequence>` of the two queues: reads what may have been open then, and what the log says of it. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { ApprovalListItem } from "#lib/contract/approval-views.ts";
import {
  type ApprovalsMoment,
  momentRows,
  type UnknownsMoment,
} from "#lib/contract/http/moments.ts";
import type { TenantId } from "#lib/contract/ids.ts";
import { UnknownListItem } from "#lib/contract/views.ts";
import { approvalListColumns } from "./list-approvals.ts";
import { clockSlackMillis, readPersonEvents, readPlace } from "./moment-place.ts";
import { approvalsThen, unknownsThen } from "./queue-then.ts";
import { decodeRows, inSnapshot } from "./snapshot.ts";
import { unknownListColumns } from "./unknowns.ts";

/** Rows that may have been open around a time: more than were, by the clocks' slack. */
const mostCandidates = 2 * momentRows;

/** As the two indexes of spans have it, word for word; of constants alone. */
const spanNear = (sql: SqlClient, begin: string, end: string, at: number) => {
  const time = (millis: number) => sql`to_timestamp(${millis}::float8 / 1000)`;
  return sql`${sql.literal(`tstzrange(least(${begin}, ${end}), ${end}, '[]')`)}
    && tstzrange(${time(at - clockSlackMillis)}, ${time(at + clockSlackMillis)}, '[]')`;
};

const ApprovalRow = Schema.Struct({
  ...ApprovalListItem.fields,
  approversRequired: Schema.Int,
});

/** The approval queue as it was after an event. */
export const readApprovalsMoment = Effect.fn("views.readApprovalsMoment")(function* (
  tenantId: TenantId,
  asked: number,
) {
  const sql = yield* SqlClient;
  return yield* inSnapshot(
    tenantId,
    Effect.gen(function* () {
      const place = yield* readPlace(tenantId, asked);
      const candidates = yield* decodeRows(ApprovalRow)(sql`
        SELECT ${sql.literal(approvalListColumns)}, a.approvers_required AS "approversRequired"
        FROM approval_requests a JOIN runs r ON r.tenant_id = a.tenant_id AND r.run_id = a.run_id
        WHERE a.tenant_id = ${tenantId} AND ${spanNear(sql, "a.requested_at", "a.decided_at", place.at)}
        ORDER BY a.requested_at, a.request_id LIMIT ${mostCandidates + 1}`);
      const events = yield* readPersonEvents(
        tenantId,
        candidates.map(({ runId }) => runId),
      );
      const items = approvalsThen(candidates, events, place);
      const moment: ApprovalsMoment = {
        ...place,
        items: items.slice(0, momentRows),
        more: items.length > momentRows || candidates.length > mostCandidates,
      };
      return moment;
    }),
  );
});

/** The effects in doubt as they were after an event. */
export const readUnknownsMoment = Effect.fn("views.readUnknownsMoment")(function* (
  tenantId: TenantId,
  asked: number,
) {
  const sql = yield* SqlClient;
  return yield* inSnapshot(
    tenantId,
    Effect.gen(function* () {
      const place = yield* readPlace(tenantId, asked);
      const candidates = yield* decodeRows(UnknownListItem)(sql`
        SELECT ${sql.literal(unknownListColumns)}
        FROM unknown_outcomes u JOIN runs r ON r.tenant_id = u.tenant_id AND r.run_id = u.run_id
        WHERE u.tenant_id = ${tenantId} AND ${spanNear(sql, "u.unknown_at", "u.resolved_at", place.at)}
        ORDER BY u.unknown_at, u.unknown_id LIMIT ${mostCandidates + 1}`);
      const events = yield* readPersonEvents(
        tenantId,
        candidates.map(({ runId }) => runId),
      );
      const items = unknownsThen(candidates, events, place);
      const moment: UnknownsMoment = {
        ...place,
        items: items.slice(0, momentRows),
        more: items.length > momentRows || candidates.length > mostCandidates,
      };
      return moment;
    }),
  );
});
