/** `Journal` in memory, with the promises of the port but for surviving the process. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { ToolCallId } from "#lib/contract/ids.ts";
import { RunRecord, type StoredRecord } from "#lib/contract/records.ts";
import { chainRecords } from "../chain.ts";
import { type AppendReceipt, type AppendRequest, Journal } from "../Journal.ts";
import { eventsOf } from "../record-events.ts";
import { columnName, columnText } from "../storable-text.ts";
import {
  AbortPending,
  FenceRejected,
  JournalBatchConflict,
  JournalTailConflict,
  StoreError,
} from "../StoreError.ts";
import {
  keyOf,
  logEvents,
  type MemoryRecord,
  type MemoryRun,
  MemoryStore,
  type MemoryTables,
  type MemoryThread,
} from "./MemoryStore.ts";
import { project } from "./project.ts";

type Refusal =
  | AbortPending
  | FenceRejected
  | JournalTailConflict
  | JournalBatchConflict
  | StoreError;

// Read back from its text, as from a database: what is not in the text is not in the record.
const decodeBody = Schema.decodeSync(Schema.fromJsonString(RunRecord));

const neverAdmitted = (what: string): StoreError =>
  new StoreError({
    operation: "Journal.append",
    message: `${what} was never admitted, so nothing can be appended to it.`,
    retryable: false,
  });

/** What was written under the batch id before, or why it is another batch. */
const replayOf = (
  thread: MemoryThread,
  request: AppendRequest,
): Result.Result<AppendReceipt, Refusal> | undefined => {
  const { threadId, batchId, epoch } = request;
  const before = thread.records.filter((record) => record.batchId === batchId);
  const isSoft = before.length === 0 && thread.lastBatchId === batchId;
  if (before.length === 0 && !isSoft) return undefined;
  const { rows } = chainRecords(request.expectedTail, request.records, request);
  const isSame =
    rows.length === before.length && rows.every((row, place) => row.body === before[place]?.body);
  // An owner that lost the thread hears that first where only the thread remembers the batch.
  const fence = new FenceRejected({ threadId, epoch, currentEpoch: thread.epoch });
  if (isSoft && thread.epoch !== epoch) return Result.fail(fence);
  if (!isSame) return Result.fail(new JournalBatchConflict({ threadId, batchId }));
  // What a fenced owner wrote is written, but it may not act on it any more (DU-13).
  if (thread.epoch !== epoch) return Result.fail(fence);
  const last = before.at(-1)?.stored;
  return Result.succeed({
    tail: last === undefined ? thread.tail : { sequence: last.sequence, digest: last.digest },
    replayed: true,
    recordedAt: last?.recordedAt ?? 0,
  });
};

/** A rule would answer what somebody else has answered and no record says yet (DU-07). */
const overtakes = (tables: MemoryTables, { tenantId, records }: AppendRequest): boolean =>
  records.some((record) => {
    if (record._tag !== "UnknownResolved" || record.actor.kind !== "policy") return false;
    const row = tables.unknowns.get(keyOf(tenantId, record.unknownId));
    return (
      row?.state === "resolved" &&
      !row.delivered &&
      !row.afterSettlement &&
      row.resolverId !== record.actor.id
    );
  });

const refusalOf = (
  tables: MemoryTables,
  thread: MemoryThread,
  run: MemoryRun,
  request: AppendRequest,
): Refusal | undefined => {
  const { threadId, epoch, expectedTail, records } = request;
  if (thread.epoch !== epoch)
    return new FenceRejected({ threadId, epoch, currentEpoch: thread.epoch });
  const { tail } = thread;
  if (tail.sequence !== expectedTail.sequence || tail.digest !== expectedTail.digest)
    return new JournalTailConflict({
      threadId,
      expectedSequence: expectedTail.sequence,
      actualSequence: tail.sequence,
      actualDigest: tail.digest,
    });
  const settles = records.some(
    (record) => record._tag === "RunSettled" && record.outcome !== "aborted",
  );
  const delivers = records.some((record) => record._tag === "AbortRequested");
  if ((settles && !delivers && run.abort?.delivered === false) || overtakes(tables, request))
    return new AbortPending({ threadId, runId: request.runId });
  for (const kind of ["RunOpened", "RunSettled"] as const) {
    const stored = thread.records.filter(
      (row) => row.runId === request.runId && row.stored.record._tag === kind,
    );
    const added = records.filter((record) => record._tag === kind);
    if (added.length > 0 && stored.length + added.length > 1)
      return new StoreError({
        operation: "Journal.append",
        message: `Run ${request.runId} would have more than one ${kind}; nothing was written.`,
        retryable: false,
      });
  }
  return undefined;
};

const write = (
  tables: MemoryTables,
  thread: MemoryThread,
  run: MemoryRun,
  request: AppendRequest,
  now: number,
): AppendReceipt => {
  const { rows, tail } = chainRecords(request.expectedTail, request.records, request);
  const stored = rows.map((row): StoredRecord => ({
    sequence: row.sequence,
    epoch: request.epoch,
    recordedAt: now,
    digest: row.digest,
    previousDigest: row.previousDigest,
    record: decodeBody(row.body),
  }));
  for (const [place, row] of rows.entries()) {
    const record = stored[place];
    if (record === undefined) continue;
    thread.records.push({
      stored: record,
      runId: request.runId,
      batchId: request.batchId,
      body: row.body,
    } satisfies MemoryRecord);
  }
  thread.tail = tail;
  thread.lastBatchId = request.batchId;
  logEvents(tables, run, request.events);
  logEvents(
    tables,
    run,
    request.records.flatMap((record) => eventsOf(record).map((event) => ({ event, at: now }))),
  );
  for (const { record } of stored) project(tables, run, record, now);
  for (const diagnostic of request.diagnostics) {
    const key = keyOf(request.tenantId, diagnostic.diagnosticId);
    if (tables.diagnostics.has(key)) continue;
    const { callId, toolName } = diagnostic;
    tables.diagnostics.set(key, {
      tenantId: request.tenantId,
      diagnosticId: diagnostic.diagnosticId,
      fingerprint: diagnostic.fingerprint,
      runId: request.runId,
      toolName: toolName === null ? null : columnName(toolName),
      callId: callId === null ? null : toolCallId(columnName(callId)),
      capturedAt: now,
      title: columnText(diagnostic.title),
      diagnostic: diagnostic.encoded,
    });
  }
  for (const { resultId, text } of request.results ?? [])
    tables.results.set(keyOf(request.tenantId, request.runId, resultId), text);
  return { tail, replayed: false, recordedAt: now };
};

const toolCallId = Schema.decodeSync(ToolCallId);

const appendTo = (
  tables: MemoryTables,
  request: AppendRequest,
  now: number,
): Result.Result<AppendReceipt, Refusal> => {
  const thread = tables.threads.get(keyOf(request.tenantId, request.threadId));
  const run = tables.runs.get(keyOf(request.tenantId, request.runId));
  if (thread === undefined) return Result.fail(neverAdmitted(`Thread ${request.threadId}`));
  if (run === undefined) return Result.fail(neverAdmitted(`Run ${request.runId}`));
  const replayed = replayOf(thread, request);
  if (replayed !== undefined) return replayed;
  const refusal = refusalOf(tables, thread, run, request);
  if (refusal !== undefined) return Result.fail(refusal);
  return Result.succeed(write(tables, thread, run, request, now));
};

/** Not durable: what is written is gone with the layer. */
export const layer: Layer.Layer<Journal, never, MemoryStore> = Layer.effect(
  Journal,
  Effect.map(MemoryStore, (store) =>
    Journal.of({
      append: Effect.fn("Journal.append")((request: AppendRequest) => {
        const stray = request.records.find((record) => record.runId !== request.runId);
        return stray === undefined
          ? Effect.flatMap(
              store.at((tables, now) => appendTo(tables, request, now)),
              Effect.fromResult,
            )
          : Effect.die(
              new Error(
                `An append of run ${request.runId} carries a record of run ${stray.runId}.`,
              ),
            );
      }),
      keptResult: Effect.fn("Journal.keptResult")(({ tenantId, runId, resultId }) =>
        store.at((tables) => tables.results.get(keyOf(tenantId, runId, resultId))),
      ),
      read: Effect.fn("Journal.read")(({ tenantId, threadId, runId, after, limit }) =>
        store.at((tables) =>
          (tables.threads.get(keyOf(tenantId, threadId))?.records ?? [])
            .filter((row) => row.stored.sequence > after && (runId ?? row.runId) === row.runId)
            .slice(0, Math.min(Math.max(limit, 1), 10_000))
            .map((row) => row.stored),
        ),
      ),
    }),
  ),
);
