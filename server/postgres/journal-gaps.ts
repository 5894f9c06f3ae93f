/** Where records of a thread were taken out because of their age: `threads.kept_after_*` at its front, `journal_gaps` behind. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import { emptyTail } from "#lib/durable/chain.ts";
import type { ChainGap } from "#lib/durable/verify-thread.ts";

const Place = Schema.Struct({ sequence: Schema.Int, digest: Schema.String });

/** What `gapsColumn` gives: in order, the one at the front first. */
export const GapsColumn = Schema.Array(Schema.Struct({ after: Place, through: Place }));

/** Of a row of `threads` with the alias `t`. */
export const gapsColumn = `(
  SELECT coalesce(json_agg(json_build_object(
      'after', json_build_object('sequence', g.after_sequence, 'digest', g.after_digest),
      'through', json_build_object('sequence', g.through_sequence, 'digest', g.through_digest))
    ORDER BY g.after_sequence), '[]')
  FROM (
    SELECT 0 AS after_sequence, '${emptyTail.digest}' AS after_digest,
      t.kept_after_sequence AS through_sequence, t.kept_after_digest AS through_digest
    WHERE t.kept_after_sequence > 0
    UNION ALL
    SELECT j.after_sequence, j.after_digest, j.through_sequence, j.through_digest FROM journal_gaps j
    WHERE j.tenant_id = t.tenant_id AND j.thread_id = t.thread_id
  ) AS g)`;

const Row = Schema.Array(Schema.Struct({ gaps: GapsColumn }));

/** Locks the thread's row, as appends do, and answers its gaps; undefined when there is no such thread. */
export const lockGaps = (tenantId: string, threadId: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    const rows = yield* Effect.flatMap(
      sql`SELECT ${sql.literal(gapsColumn)} AS gaps FROM threads t
        WHERE t.tenant_id = ${tenantId} AND t.thread_id = ${threadId} FOR UPDATE`,
      Schema.decodeUnknownEffect(Row),
    );
    return rows[0]?.gaps;
  });

/** Writes a thread's gaps anew; its row is locked. */
export const writeGaps = (tenantId: string, threadId: string, gaps: ReadonlyArray<ChainGap>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    const front = gaps.find((gap) => gap.after.sequence === emptyTail.sequence)?.through;
    yield* sql`UPDATE threads SET kept_after_sequence = ${front?.sequence ?? null}::bigint,
        kept_after_digest = ${front?.digest ?? null}
      WHERE tenant_id = ${tenantId} AND thread_id = ${threadId}`;
    yield* sql`DELETE FROM journal_gaps WHERE tenant_id = ${tenantId} AND thread_id = ${threadId}`;
    const others = gaps.filter((gap) => gap.after.sequence !== emptyTail.sequence);
    if (others.length === 0) return;
    yield* sql`INSERT INTO journal_gaps (tenant_id, thread_id, after_sequence, after_digest,
        through_sequence, through_digest)
      SELECT ${tenantId}, ${threadId}, g.after_sequence, g.after_digest, g.through_sequence, g.through_digest
      FROM json_to_recordset(${JSON.stringify(
        others.map(({ after, through }) => ({
          after_sequence: after.sequence,
          after_digest: after.digest,
          through_sequence: through.sequence,
          through_digest: through.digest,
        })),
      )}::json) AS g (after_sequence bigint, after_digest text, through_sequence bigint, through_digest text)`;
  });
