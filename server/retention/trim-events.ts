/**
 * Takes the beginning of a tenant's event log away, up to an age. Events are what
 * screens follow; the facts are in the records. A reader behind the cut is told to
 * load everything afresh (C064). Events of work that is unsettled stay, and with
 * them what came after: the log is cut in one place and has no holes.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import { Int8 } from "#server/postgres/columns.ts";
import { transaction } from "#server/postgres/Database.ts";

/** The tail's lock, which the assigner waits for, is held for one statement of so many events. */
const eventsAtOnce = 5_000;

const Trimmed = Schema.Tuple([Schema.Struct({ trimmed: Schema.Int })]);
const Hold = Schema.Tuple([Schema.Struct({ sequence: Schema.NullOr(Int8) })]);

export const makeTrimEvents = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;

  /** The first event that must stay because its run is unsettled or has an effect in doubt. */
  const holdOf = (tenantId: string) =>
    Effect.flatMap(
      sql`SELECT min(e.sequence) AS sequence FROM (
          SELECT s.run_id FROM submissions s WHERE s.tenant_id = ${tenantId} AND s.state <> 'settled'
          UNION
          SELECT u.run_id FROM unknown_outcomes u WHERE u.tenant_id = ${tenantId} AND u.state = 'open'
        ) AS open
        CROSS JOIN LATERAL (
          SELECT v.sequence FROM events v WHERE v.tenant_id = ${tenantId} AND v.run_id = open.run_id
          ORDER BY v.sequence LIMIT 1
        ) AS e`,
      Schema.decodeUnknownEffect(Hold),
    );

  const trimOnce = Effect.fnUntraced(function* (tenantId: string, olderThanSeconds: number) {
    yield* sql`SELECT FROM event_tails WHERE tenant_id = ${tenantId} FOR UPDATE`;
    const [{ sequence: hold }] = yield* holdOf(tenantId);
    return yield* Effect.flatMap(
      sql`
        WITH head AS (
          SELECT e.sequence, e.at < now() - ${olderThanSeconds}::float8 * interval '1 second'
            AND (${hold}::bigint IS NULL OR e.sequence < ${hold}::bigint) AS may_go
          FROM events e WHERE e.tenant_id = ${tenantId} ORDER BY e.sequence LIMIT ${eventsAtOnce}
        ), gone AS (
          DELETE FROM events e USING head h
          WHERE e.tenant_id = ${tenantId} AND e.sequence = h.sequence
            AND h.sequence < coalesce((SELECT min(k.sequence) FROM head k WHERE NOT k.may_go), 9223372036854775807)
          RETURNING e.sequence
        ), moved AS (
          UPDATE event_tails t SET first_sequence = g.last + 1
          FROM (SELECT max(sequence) AS last FROM gone) AS g
          WHERE t.tenant_id = ${tenantId} AND g.last IS NOT NULL
        )
        SELECT count(*)::integer AS trimmed FROM gone`,
      Schema.decodeUnknownEffect(Trimmed),
    );
  });

  /** Answers how many events are gone. */
  return Effect.fnUntraced(function* (tenantId: string, olderThanSeconds: number) {
    let total = 0;
    for (;;) {
      const [{ trimmed }] = yield* transaction(
        "Retention.trimEvents",
        trimOnce(tenantId, olderThanSeconds),
      ).pipe(Effect.provideService(SqlClient.SqlClient, sql));
      total += trimmed;
      if (trimmed < eventsAtOnce) return total;
    }
  });
});
