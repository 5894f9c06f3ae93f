/** Keeps the places and seals of records that go from behind a thread's front, so that proofs of runs around them stay whole. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import { emptyTail } from "#lib/durable/chain.ts";
import type { ChainGap } from "#lib/durable/verify-thread.ts";
import { sealOf } from "#lib/proof/link-seal.ts";
import { makeJournalPages } from "#server/postgres/journal-pages.ts";
import type { Range, Segment } from "./find-segments.ts";

const Live = Schema.Tuple([Schema.Struct({ live: Schema.String })]);

export const makeKeepLinks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { nextPage } = yield* makeJournalPages;

  const keep = Effect.fnUntraced(function* (
    live: string,
    { tenantId, threadId }: Segment,
    { after, through }: Range,
  ) {
    let from = after.sequence;
    while (from < through.sequence) {
      const page = yield* nextPage(
        live,
        { tenantId, only: threadId },
        { threadId, sequence: from },
      );
      const links = page
        .filter((row) => row.sequence <= through.sequence)
        .map((row) => {
          const { sequence, epoch, digest, previous_digest: previousDigest } = row;
          const seal = sealOf({ threadId, epoch, sequence, previousDigest, body: row.body });
          return { sequence, epoch, digest, previousDigest, at: row.recorded_at, ...seal };
        });
      const last = links.at(-1);
      if (last === undefined) return;
      yield* sql`
        INSERT INTO journal_links (tenant_id, thread_id, sequence, epoch, digest, previous_digest,
          recorded_at, seal_state, seal_bytes)
        SELECT ${tenantId}, ${threadId}, l.sequence, l.epoch, l.digest, l."previousDigest",
          from_millis(l.at), l.state, l.bytes
        FROM json_to_recordset(${JSON.stringify(links)}::json) AS l (
          sequence bigint, epoch bigint, digest text, "previousDigest" text, at bigint, state text,
          bytes bigint)`;
      from = last.sequence;
    }
  });

  /**
   * Before the records go, in the same transaction.
   *
   * @param gaps as they will be: what has come to the thread's front by then stands between no two records
   */
  return Effect.fnUntraced(function* (segment: Segment, gaps: ReadonlyArray<ChainGap>) {
    const { tenantId, threadId, ranges } = segment;
    const front =
      gaps.find((gap) => gap.after.sequence === emptyTail.sequence)?.through.sequence ?? 0;
    const [{ live }] = yield* Effect.flatMap(
      sql`SELECT current_schema() AS live`,
      Schema.decodeUnknownEffect(Live),
    );
    for (const range of ranges)
      if (range.after.sequence >= front) yield* keep(live, segment, range);
    yield* sql`DELETE FROM journal_links
      WHERE tenant_id = ${tenantId} AND thread_id = ${threadId} AND sequence <= ${front}`;
  });
});
