/** Checks a thread's records and tables against each other, and writes down who asked and what was found (OP-09). */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { InvalidInput } from "#lib/contract/errors.ts";
import type { RunId, TenantId, ThreadId } from "#lib/contract/ids.ts";
import type { JournalVerification } from "#lib/contract/verification.ts";
import { Audit } from "#lib/durable/Audit.ts";
import { notFound } from "#lib/durable/not-found.ts";
import { transition } from "#server/postgres/Database.ts";
import { verifyThread } from "#server/postgres/verify-journal.ts";
import { orArchived } from "#server/views/archived-run.ts";
import { requireRun } from "#server/views/require-run.ts";
import { decodeRows, inSnapshot, orStoreUnavailable } from "#server/views/snapshot.ts";
import { actorOf, type Operator, requireRole } from "./run-command.ts";

/** A check holds one connection while it reads; longer threads are for `npm run verify-journal`. */
const maxRecords = 100_000;

const Head = Schema.Struct({ records: Schema.Int });

const requireShortThread = (tenantId: TenantId, threadId: ThreadId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const heads = yield* transition(
      "verifyJournal.head",
      decodeRows(Head)(sql`
        SELECT least(tail_sequence, 2000000000)::int4 AS records FROM threads
        WHERE tenant_id = ${tenantId} AND thread_id = ${threadId}`),
    ).pipe(orStoreUnavailable);
    const head = heads[0] ?? (yield* notFound("thread"));
    if (head.records > maxRecords)
      return yield* new InvalidInput({
        message: `This thread has ${head.records} records; a request checks at most ${maxRecords}. Use npm run verify-journal on the host.`,
        path: "params.threadId",
        limit: `${maxRecords} records`,
        seen: `${head.records} records`,
      });
  });

const verify = (operator: Operator, threadId: ThreadId, runId: RunId | null) =>
  Effect.gen(function* () {
    const audit = yield* Audit;
    const { tenantId } = operator;
    yield* requireShortThread(tenantId, threadId);
    const { records, faults } = yield* verifyThread(tenantId, threadId).pipe(orStoreUnavailable);
    yield* audit
      .append({
        tenantId,
        actor: actorOf(operator),
        verb: "verify-journal",
        target: threadId,
        runId,
        accepted: true,
        reason: "",
        before: null,
        after: { records, faults: faults.length },
        commandId: null,
      })
      .pipe(orStoreUnavailable);
    const verifiedAt = yield* Clock.currentTimeMillis;
    return { threadId, records, faults, verifiedAt } satisfies JournalVerification;
  });

export const verifyRunJournal = Effect.fn("operator.verifyRunJournal")(function* (
  operator: Operator,
  runId: RunId,
) {
  yield* requireRole({ operator, act: "verify-journal", target: runId, commandId: null });
  const { tenantId } = operator;
  const { threadId } = yield* inSnapshot(tenantId, requireRun(tenantId, runId)).pipe(
    orArchived(tenantId, runId),
  );
  return yield* verify(operator, threadId, runId);
});

export const verifyThreadJournal = Effect.fn("operator.verifyThreadJournal")(function* (
  operator: Operator,
  threadId: ThreadId,
) {
  yield* requireRole({ operator, act: "verify-journal", target: threadId, commandId: null });
  return yield* verify(operator, threadId, null);
});
