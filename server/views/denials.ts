/** Policy denials and authorization check errors; the safe sentence only, the evidence is a diagnostic (OP-06, Z-04). */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { Fragment } from "effect/unstable/sql/Statement";
import { countCap } from "#lib/contract/http/paging.ts";
import type { DenialId, RunId, TenantId } from "#lib/contract/ids.ts";
import { DenialListItem } from "#lib/contract/denial-views.ts";
import { millis } from "./columns.ts";
import { cursorForms, decodeCursor } from "./cursor.ts";
import { readPage } from "./page.ts";
import { notFound } from "./require-run.ts";
import { decodeRows, inSnapshot } from "./snapshot.ts";

const columns = `
  d.denial_id AS "denialId", d.kind, d.run_id AS "runId", d.agent_id AS "agentId",
  d.thread_id AS "threadId", r.title AS "runTitle", d.turn, d.call_id AS "callId",
  d.tool_name AS "toolName", d.reason, d.diagnostic_id AS "diagnosticId",
  ${millis("d.denied_at")} AS "deniedAt", ${millis("d.acknowledged_at")} AS "acknowledgedAt",
  d.acknowledger_name AS "acknowledgedBy", d.note`;

const source = `FROM denials d JOIN runs r ON r.tenant_id = d.tenant_id AND r.run_id = d.run_id`;

const Row = Schema.Struct({ ...DenialListItem.fields, cursorAt: Schema.String });

interface DenialFilters {
  readonly kind?: "denial" | "check-error";
  readonly acknowledged?: "yes" | "no";
}

/** The conditions of the ordered walks whose merge is the list: each is the beginning of one index. */
const walksOf = ({ acknowledged, kind }: DenialFilters): ReadonlyArray<string> => {
  const kinds = kind === undefined ? ["denial", "check-error"] : [kind];
  const answers = acknowledged === undefined ? ["yes", "no"] : [acknowledged];
  return kinds.flatMap((one) =>
    answers.map(
      (answer) =>
        `d.kind = '${one}' AND d.acknowledged_at IS ${answer === "yes" ? "NOT " : ""}NULL`,
    ),
  );
};

/** Latest first. */
export const listDenials = Effect.fn("views.listDenials")(function* (
  tenantId: TenantId,
  query: DenialFilters & {
    readonly runId?: RunId;
    readonly cursor?: string;
    readonly limit?: number;
  },
) {
  const sql = yield* SqlClient;
  const cursor = yield* decodeCursor(query.cursor, [cursorForms.time, cursorForms.id]);
  const after =
    cursor === undefined
      ? sql``
      : sql`AND (d.denied_at, d.denial_id) < (${cursor[0]}::timestamptz, ${cursor[1]})`;
  const inOrder = sql`ORDER BY d.denied_at DESC, d.denial_id DESC`;
  /** At most `most` of the denials, from each of their indexes as far as it is asked for. */
  const merged = (from: Fragment, most: number): Fragment => {
    const walks = walksOf(query).map(
      (walk) => sql`(SELECT d.* FROM denials d
        WHERE d.tenant_id = ${tenantId} AND ${sql.literal(walk)}
          ${query.runId === undefined ? sql`` : sql`AND d.run_id = ${query.runId}`} ${from}
        ${inOrder} LIMIT ${most})`,
    );
    return walks.reduce((before, next) => sql`${before} UNION ALL ${next}`);
  };
  return yield* inSnapshot(
    tenantId,
    readPage({
      tenantId,
      limit: query.limit,
      schema: Row,
      rows: (limit) => sql`
        SELECT ${sql.literal(columns)}, d.denied_at::text AS "cursorAt"
        FROM (SELECT d.* FROM (${merged(after, limit)}) AS d ${inOrder} LIMIT ${limit}) AS d
        JOIN runs r ON r.tenant_id = d.tenant_id AND r.run_id = d.run_id ${inOrder}`,
      matching: sql`FROM (${merged(sql``, countCap + 1)}) AS d`,
      cursorOf: (row) => [row.cursorAt, row.denialId],
    }),
  );
});

export const readDenial = Effect.fn("views.readDenial")(function* (
  tenantId: TenantId,
  denialId: DenialId,
) {
  const sql = yield* SqlClient;
  const rows = yield* inSnapshot(
    tenantId,
    decodeRows(DenialListItem)(sql`
      SELECT ${sql.literal(columns)} ${sql.literal(source)}
      WHERE d.tenant_id = ${tenantId} AND d.denial_id = ${denialId}`),
  );
  return rows[0] ?? (yield* notFound("denial"));
});
