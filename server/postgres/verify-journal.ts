/**
 * Checks what is stored against itself: chains, digests, sequence, one settlement
 * per run, heads, the texts kept of large results, and every projection against a rebuild. Read-only and in bounded
 * memory: threads are taken a hundred at a time, each hundred in one snapshot, so a
 * host may work on. Nothing is repaired.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { emptyTail } from "#lib/durable/chain.ts";
import {
  type JournalFault,
  makeThreadVerifier,
  type ThreadVerifier,
} from "#lib/durable/verify-thread.ts";
import { makeResultVerifier } from "#lib/durable/verify-results.ts";
import { Int8 } from "./columns.ts";
import { gapsColumn, GapsColumn } from "./journal-gaps.ts";
import { type JournalRow, makeJournalPages, type ThreadRange } from "./journal-pages.ts";
import { projectionFaults } from "./projection-faults.ts";
import { inJournalSnapshot, rebuildRange } from "./rebuild-projections.ts";

const threadsAtOnce = 100;
/** Faults of one hundred threads that are told one by one; the rest is counted by the report. */
const maxFaults = 1_000;

export interface VerifyReport {
  readonly threads: number;
  readonly records: number;
  readonly faults: ReadonlyArray<JournalFault>;
}

const Head = Schema.Struct({
  thread_id: Schema.String,
  tail_sequence: Int8,
  tail_digest: Schema.String,
  /** Where records were archived or deleted by age. */
  gaps: GapsColumn,
});

/** A kept text's digest is made where the text is: none of them leaves the database. */
const KeptRow = Schema.Struct({
  thread_id: Schema.String,
  run_id: Schema.String,
  result_id: Schema.String,
  bytes: Schema.Int,
  digest: Schema.String,
});

/** One pass over the rows of a range: a verifier per thread, the faults found, the heads compared at the end. */
const makeInspection = (heads: ReadonlyArray<typeof Head.Type>) => {
  const faults: Array<JournalFault> = [];
  const verifiers = new Map<string, ThreadVerifier>();
  const known = new Map(heads.map((head) => [head.thread_id, head]));
  const results = makeResultVerifier();
  const add = (found: ReadonlyArray<JournalFault>) => {
    for (const fault of found) if (faults.length < maxFaults) faults.push(fault);
  };

  const look = (row: JournalRow): boolean => {
    const where = row.thread_id;
    let verifier = verifiers.get(where);
    if (verifier === undefined) {
      verifier = makeThreadVerifier(where, emptyTail, known.get(where)?.gaps);
      verifiers.set(where, verifier);
      if (!known.has(where))
        add([
          {
            kind: "orphan",
            where,
            sequence: row.sequence,
            expected: "a thread that was admitted",
            seen: "records without one",
          },
        ]);
    }
    const { faults: found, record } = verifier.take({
      sequence: row.sequence,
      epoch: row.epoch,
      body: row.body,
      digest: row.digest,
      previousDigest: row.previous_digest,
      runId: row.run_id,
      kind: row.kind,
      batchId: row.batch_id,
      batchPlace: row.batch_place,
    });
    add(found);
    if (record !== undefined) results.named(where, row.sequence, record);
    if (row.agent_id === null)
      add([
        {
          kind: "orphan",
          where,
          sequence: row.sequence,
          expected: `a submission of run ${row.run_id}`,
          seen: "none",
        },
      ]);
    return found.length === 0 && record !== undefined && row.agent_id !== null && known.has(where);
  };

  const compareHeads = () => {
    for (const head of heads) {
      const verifier =
        verifiers.get(head.thread_id) ?? makeThreadVerifier(head.thread_id, emptyTail, head.gaps);
      const end = verifier.tail();
      for (const gap of verifier.gapsLeft())
        add([
          {
            kind: "gap",
            where: head.thread_id,
            sequence: gap.through.sequence,
            expected: `record ${gap.after.sequence} with digest ${gap.after.digest} before the records that were taken out`,
            seen: "another record, or none",
          },
        ]);
      if (end.sequence !== head.tail_sequence || end.digest !== head.tail_digest)
        add([
          {
            kind: "tail",
            where: head.thread_id,
            sequence: head.tail_sequence,
            expected: `record ${head.tail_sequence} with digest ${head.tail_digest}`,
            seen: `record ${end.sequence} with digest ${end.digest}`,
          },
        ]);
    }
  };

  const compareResults = (rows: ReadonlyArray<typeof KeptRow.Type>) => {
    for (const { thread_id, run_id: runId, result_id: resultId, bytes, digest } of rows)
      add(results.found(thread_id, { runId, resultId, bytes, digest }));
    add(results.end());
  };

  return { look, compareHeads, compareResults, add, faults };
};

/** The threads of one range in one snapshot; `last` names the thread to go on after, absent at the end. */
const verifyHundred = (range: ThreadRange) =>
  inJournalSnapshot(
    "verifyJournal",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient;
      const { inRange } = yield* makeJournalPages;
      const listHeads = SqlSchema.findAll({
        Request: Schema.Void,
        Result: Head,
        execute: () =>
          sql`SELECT t.thread_id, t.tail_sequence, t.tail_digest, ${sql.literal(gapsColumn)} AS gaps
            FROM threads t
            WHERE ${inRange(range, "t")} ORDER BY t.thread_id LIMIT ${threadsAtOnce}`,
      });
      const heads = yield* listHeads();
      const last = heads.length < threadsAtOnce ? undefined : heads.at(-1)?.thread_id;
      const inspection = makeInspection(heads);
      const hundred = last === undefined ? range : { ...range, through: last };
      const { records, differences } = yield* rebuildRange(hundred, inspection.look);
      inspection.compareHeads();
      const listKept = SqlSchema.findAll({
        Request: Schema.Void,
        Result: KeptRow,
        execute: () =>
          sql`SELECT k.thread_id, k.run_id, k.result_id, octet_length(k.body) AS bytes,
              encode(sha256(convert_to(k.body, 'UTF8')), 'hex') AS digest
            FROM kept_results k WHERE ${inRange(hundred, "k")} ORDER BY k.thread_id, k.record_sequence`,
      });
      inspection.compareResults(yield* listKept());
      inspection.add(projectionFaults(differences));
      return { threads: heads.length, records, faults: inspection.faults, last };
    }),
  );

/** One thread, whole. */
export const verifyThread = Effect.fn("verifyThread")((tenantId: string, threadId: string) =>
  verifyHundred({ tenantId, only: threadId }),
);

/**
 * Every thread of a tenant.
 *
 * @param onPart hears of each hundred threads as soon as they are checked
 */
export const verifyTenant = Effect.fn("verifyTenant")(function* <E, R>(
  tenantId: string,
  onPart: (part: VerifyReport) => Effect.Effect<void, E, R>,
) {
  let after: string | undefined;
  do {
    const part = yield* verifyHundred(after === undefined ? { tenantId } : { tenantId, after });
    yield* onPart(part);
    after = part.last;
  } while (after !== undefined);
});
