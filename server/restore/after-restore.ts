/**
 * Makes a database that was restored from a backup safe to work on, once, before
 * the first host starts on it. What came after the backup happened and is not
 * recorded, so nothing that may have acted since goes on by itself.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { AgentId, Digest, RunId, SubmissionId, TenantId, ThreadId } from "#lib/contract/ids.ts";
import type { RunRecord } from "#lib/contract/records.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { silentSeconds } from "#lib/durable/worker-silence.ts";
import { Int8 } from "#server/postgres/columns.ts";
import { transaction } from "#server/postgres/Database.ts";
import { afterRestoreOf } from "./later-doubts.ts";

/** A host works on this database, or did a moment before the backup. */
export class HostsAreRunning extends Schema.TaggedError<HostsAreRunning>()("HostsAreRunning", {
  workers: Schema.Int,
}) {
  override get message() {
    return `${this.workers} host(s) said within the last ${silentSeconds} seconds that they work on this database: stop every host first.`;
  }
}

export interface RestoreReport {
  readonly threads: number;
  /** Runs that wait for the resolution of effects that may have happened since the backup. */
  readonly inDoubt: number;
  readonly doubts: number;
  /** Runs that wait until an operator wakes or aborts them. */
  readonly held: number;
}

/**
 * More claims than a thread sees between two backups: an owner from after the backup
 * has a lower epoch than every owner from now on, and the same as none (DU-13).
 */
const epochJump = 1_000_000;

/** Until somebody wakes the run; a date that every client can write. */
const holdUntil = "100 years";
const holdReason =
  "The database was restored from a backup. What this run did after the backup is not recorded: look at the destinations of its tools, then wake it or abort it.";

const pageSize = 500;
/** Records that one read gives at most. */
const recordsAtOnce = 10_000;

const Count = Schema.Tuple([Schema.Struct({ count: Schema.Int })]);
const Unsettled = Schema.Struct({
  tenantId: TenantId,
  threadId: ThreadId,
  submissionId: SubmissionId,
  runId: RunId,
  agentId: AgentId,
});
const Doubt = Schema.Struct({ unknownId: Schema.String });
const Head = Schema.Struct({ epoch: Int8, sequence: Int8, digest: Digest });

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const journal = yield* Journal;
  const countOf = (rows: ReadonlyArray<unknown>) =>
    Effect.map(Schema.decodeUnknownEffect(Count)(rows), ([row]) => row.count);

  const [alive, threads] = [
    yield* Effect.flatMap(
      sql`SELECT count(*)::int AS count FROM workers
        WHERE stopped_at IS NULL AND heartbeat_at > now() - ${silentSeconds} * interval '1 second'`,
      countOf,
    ),
    yield* Effect.flatMap(sql`SELECT count(*)::int AS count FROM threads`, countOf),
  ];
  if (alive > 0) return yield* new HostsAreRunning({ workers: alive });
  yield* sql`UPDATE threads SET epoch = epoch + ${epochJump}`;
  yield* sql`UPDATE workers SET stopped_at = now() WHERE stopped_at IS NULL`;

  const unsettled = SqlSchema.findAll({
    Request: Schema.String,
    Result: Unsettled,
    execute: (after) => sql`
      SELECT tenant_id AS "tenantId", thread_id AS "threadId", submission_id AS "submissionId",
        run_id AS "runId", agent_id AS "agentId" FROM submissions
      WHERE state <> 'settled' AND submission_id > ${after} ORDER BY submission_id LIMIT ${pageSize}`,
  });
  const headOf = SqlSchema.findOne({
    Request: Unsettled,
    Result: Head,
    execute: ({ tenantId, threadId }) => sql`
      SELECT epoch, tail_sequence AS sequence, tail_digest AS digest FROM threads
      WHERE tenant_id = ${tenantId} AND thread_id = ${threadId}`,
  });

  // Answered before the backup and heard by no attempt of it; one after it may have acted on the answer.
  const answeredBefore = SqlSchema.findAll({
    Request: Unsettled,
    Result: Doubt,
    execute: ({ tenantId, runId }) => sql`
      SELECT unknown_id AS "unknownId" FROM unknown_outcomes
      WHERE tenant_id = ${tenantId} AND run_id = ${runId} AND state = 'resolved'
        AND delivered_at IS NULL AND resolution IN ('safe-to-retry', 'never-happened')`,
  });
  const recordsOf = Effect.fnUntraced(function* (run: typeof Unsettled.Type) {
    const { tenantId, threadId, runId } = run;
    const records: Array<RunRecord> = [];
    for (let after = 0; ;) {
      const page = yield* journal.read({ tenantId, threadId, runId, after, limit: recordsAtOnce });
      for (const { record } of page) records.push(record);
      const last = page.at(-1);
      if (last === undefined || page.length < recordsAtOnce) return records;
      after = last.sequence;
    }
  });

  const report = { threads, inDoubt: 0, doubts: 0, held: 0 };
  const treat = Effect.fnUntraced(function* (run: typeof Unsettled.Type) {
    const { tenantId, threadId, runId, agentId, submissionId } = run;
    const answered = yield* answeredBefore(run);
    const verdict = afterRestoreOf(
      run,
      yield* recordsOf(run),
      new Set(answered.map(({ unknownId }) => unknownId)),
    );
    if (verdict._tag === "leave") return;
    if (verdict._tag === "hold") {
      // An abort that is stored already only ends the run, so it is not kept waiting.
      const held = yield* sql`UPDATE submissions s SET state = 'ready', state_since = now(),
          due_at = now() + ${sql.literal(`interval '${holdUntil}'`)}, postponed_reason = ${holdReason}
        WHERE s.tenant_id = ${tenantId} AND s.submission_id = ${submissionId} AND NOT EXISTS (
          SELECT FROM abort_requests b
          WHERE b.tenant_id = s.tenant_id AND b.run_id = s.run_id AND b.delivered_at IS NULL)
        RETURNING s.submission_id`;
      report.held += held.length;
      return;
    }
    const { epoch, ...expectedTail } = yield* headOf(run);
    report.inDoubt += 1;
    report.doubts += verdict.calls;
    yield* journal.append({
      tenantId,
      threadId,
      runId,
      agentId,
      epoch,
      expectedTail,
      batchId: `restore-${epoch}-${expectedTail.sequence}`,
      records: verdict.records,
      events: [],
      diagnostics: [],
    });
  });

  for (let after = ""; ;) {
    const page = yield* unsettled(after);
    yield* Effect.forEach(page, treat, { discard: true });
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return report satisfies RestoreReport;
    after = last.submissionId;
  }
});

/**
 * Everything in one transaction: it is done, or it is not. Done twice, it only moves
 * the epochs once more.
 *
 * - Owners from before are fenced: every thread's epoch jumps past theirs.
 * - Uncertain calls that were open become effects in doubt; none runs again. That
 *   somebody allowed one to run again before the backup counts no more.
 * - Unsettled runs without such a call are held until an operator wakes or aborts
 *   them; what is to be aborted already is aborted.
 *
 * @returns how many threads, runs and calls that was; fails while a host works
 */
export const afterRestore = Effect.suspend(() => transaction("afterRestore", make));
