/** What a seeded database is checked for: whole chains, digests of arguments, and rows that the console can read. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { TenantId } from "#lib/contract/ids.ts";
import { ApprovalRequestContent } from "#lib/contract/approval.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import { verifyChain } from "#lib/durable/chain.ts";
import { transaction } from "#server/postgres/Database.ts";
import { decodeRows } from "#server/views/snapshot.ts";

export interface SeedVerdict {
  readonly chains: number;
  readonly records: number;
  readonly approvals: number;
  /** One sentence per fault, at most 20. */
  readonly faults: ReadonlyArray<string>;
}

const Link = Schema.Struct({
  threadId: Schema.String,
  sequence: Schema.Int,
  epoch: Schema.Int,
  body: Schema.String,
  digest: Schema.String,
  previousDigest: Schema.String,
});
const Thread = Schema.Struct({ threadId: Schema.String });
const Asked = Schema.Struct({
  requestId: Schema.String,
  parametersDigest: Schema.String,
  content: Schema.fromJsonString(ApprovalRequestContent),
});
const Counted = Schema.Struct({ what: Schema.String, wrong: Schema.Int });

/** Looks at `threads` journaled threads and `approvals` requests of a tenant, chosen over their whole range. */
export const verifySeed = Effect.fn("seed.verifySeed")(function* (
  tenantId: TenantId,
  sample: { readonly threads: number; readonly approvals: number },
) {
  const sql = yield* SqlClient;
  return yield* transaction(
    "seed.verifySeed",
    Effect.gen(function* () {
      yield* sql`SET LOCAL statement_timeout = 0`;
      const faults: Array<string> = [];
      let records = 0;
      const threads = yield* decodeRows(Thread)(sql`
        SELECT thread_id AS "threadId" FROM journal_records
        WHERE tenant_id = ${tenantId} AND sequence = 1 ORDER BY md5(thread_id) LIMIT ${sample.threads}`);
      for (const { threadId } of threads) {
        const links = yield* decodeRows(Link)(sql`
          SELECT thread_id AS "threadId", sequence::float8 AS sequence, epoch::float8 AS epoch, body, digest, previous_digest AS "previousDigest"
          FROM journal_records WHERE tenant_id = ${tenantId} AND thread_id = ${threadId} ORDER BY sequence`);
        records += links.length;
        const broken = verifyChain(threadId, links);
        if (broken !== undefined)
          faults.push(`Thread ${threadId} breaks at record ${broken.sequence}: ${broken.reason}.`);
      }
      const approvals = yield* decodeRows(Asked)(sql`
        SELECT request_id AS "requestId", parameters_digest AS "parametersDigest", content FROM approval_requests
        WHERE tenant_id = ${tenantId} ORDER BY request_id LIMIT ${sample.approvals}`);
      for (const { requestId, parametersDigest, content } of approvals) {
        if (digestOf(content.effectiveParameters) !== parametersDigest)
          faults.push(`Approval ${requestId} names a digest that its arguments do not have.`);
      }
      const counted = yield* decodeRows(Counted)(sql`
        WITH sampled AS (SELECT * FROM runs WHERE tenant_id = ${tenantId} AND run_id < 'run_01')
        SELECT 'runs whose tool calls are not counted right' AS what, count(*)::int4 AS wrong FROM sampled r
          WHERE r.tool_calls <> (SELECT count(*) FROM tool_calls t WHERE t.tenant_id = r.tenant_id AND t.run_id = r.run_id)
        UNION ALL SELECT 'runs whose turns are not counted right', count(*)::int4 FROM sampled r
          WHERE r.turns <> (SELECT count(*) FROM turns t WHERE t.tenant_id = r.tenant_id AND t.run_id = r.run_id)
        UNION ALL SELECT 'runs without their submission', count(*)::int4 FROM sampled r
          WHERE NOT EXISTS (SELECT FROM submissions s WHERE s.tenant_id = r.tenant_id AND s.run_id = r.run_id AND s.submission_id = r.submission_id)`);
      for (const { what, wrong } of counted) if (wrong > 0) faults.push(`${wrong} ${what}.`);
      const verdict: SeedVerdict = {
        chains: threads.length,
        records,
        approvals: approvals.length,
        faults: faults.slice(0, 20),
      };
      return verdict;
    }),
  );
});
