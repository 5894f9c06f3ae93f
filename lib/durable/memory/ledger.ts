/** `SubmissionLedger` in memory, with the promises of the port but for surviving the process. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import { IdempotencyConflict, type NotFound, RunAlreadySettled } from "#lib/contract/errors.ts";
import { RunId, SubmissionId, type TenantId, ThreadId } from "#lib/contract/ids.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import { utf8ByteLength } from "#lib/contract/json/utf8.ts";
import { emptyTail } from "../chain.ts";
import { notFound } from "../not-found.ts";
import { columnText } from "../storable-text.ts";
import {
  type AbortAnswer,
  type AbortedBeforeStart,
  type AdmitRequest,
  type Claim,
  SubmissionLedger,
} from "../SubmissionLedger.ts";
import {
  keyOf,
  logEvents,
  type MemoryRun,
  MemoryStore,
  type MemoryTables,
  type MemoryThread,
} from "./MemoryStore.ts";
import { isDue, nextOf, runsOf } from "./queue.ts";
import { undeliveredOf } from "./undelivered.ts";

type Request<Method extends keyof SubmissionLedger["Service"]> = Parameters<
  SubmissionLedger["Service"][Method]
>[0];

/** Earlier runs a claim brings along: at most so many, and so many bytes of records. */
const maxHistoryRuns = 20;
const maxHistoryBytes = 1_048_576;
/** A running submission whose worker lives is looked at again after this long. */
const unattendedMillis = 20_000;

const admitTo = (tables: MemoryTables, request: AdmitRequest, now: number) => {
  const { tenantId, agentId, principal, idempotencyKey } = request;
  const scope = request.threadId ?? "";
  const key = keyOf(tenantId, scope, principal.kind, principal.id, idempotencyKey);
  const payload = digestOf({ agentId, threadId: request.threadId ?? null, input: request.input });
  const known = tables.admissions.get(key);
  if (known !== undefined)
    return known.payload === payload
      ? Result.succeed(known.run)
      : Result.fail(
          new IdempotencyConflict({
            message: `The idempotency key ${idempotencyKey} was used before with another input; use a new key for a new submission.`,
            key: idempotencyKey,
          }),
        );
  const number = tables.nextId++;
  const threadId = request.threadId ?? ThreadId.make(`thr_memory-${number}`);
  const thread: MemoryThread = tables.threads.get(keyOf(tenantId, threadId)) ?? {
    tenantId,
    threadId,
    epoch: 0,
    workerId: undefined,
    tail: emptyTail,
    lastBatchId: undefined,
    lastQueueSequence: 0,
    records: [],
  };
  tables.threads.set(keyOf(tenantId, threadId), thread);
  thread.lastQueueSequence += 1;
  const title = columnText(request.title, 200);
  const run: MemoryRun = {
    tenantId,
    threadId,
    agentId,
    submissionId: SubmissionId.make(`sub_memory-${number}`),
    runId: RunId.make(`run_memory-${number}`),
    queueSequence: thread.lastQueueSequence,
    unknownPolicy: request.unknownPolicy ?? "park",
    title,
    input: request.input,
    requester: principal,
    state: "ready",
    runState: "queued",
    dueAt: now,
    stateSince: now,
    lostAttempts: 0,
    postponedReason: undefined,
    abort: undefined,
  };
  tables.runs.set(keyOf(tenantId, run.runId), run);
  tables.admissions.set(key, { payload, run });
  const { submissionId } = run;
  logEvents(tables, run, [{ event: { _tag: "RunQueued", submissionId, title }, at: now }]);
  return Result.succeed(run);
};

/** Whole earlier runs, newest first while they fit, given back oldest first. */
const historyOf = (thread: MemoryThread, tables: MemoryTables, run: MemoryRun) => {
  const earlier = runsOf(tables, run.tenantId, run.threadId)
    .filter(
      (other) =>
        other.queueSequence < run.queueSequence &&
        (other.state === "settled" || other.state === "unknown"),
    )
    .toSorted((a, b) => b.queueSequence - a.queueSequence)
    .slice(0, maxHistoryRuns);
  const kept = new Set<RunId>();
  let bytes = 0;
  for (const { runId } of earlier) {
    const rows = thread.records.filter((row) => row.runId === runId);
    bytes += rows.reduce((sum, row) => sum + utf8ByteLength(row.body), 0);
    if (bytes > maxHistoryBytes) break;
    kept.add(runId);
  }
  return thread.records.filter((row) => kept.has(row.runId)).map((row) => row.stored);
};

const abortedBeforeStartIn = (
  tables: MemoryTables,
  tenantId: TenantId,
  threadId: ThreadId,
): ReadonlyArray<AbortedBeforeStart> =>
  runsOf(tables, tenantId, threadId)
    .toSorted((a, b) => a.queueSequence - b.queueSequence)
    .flatMap(({ abort, agentId, input, requester, runId, runState, state, submissionId }) =>
      abort === undefined || abort.delivered || state !== "ready" || runState !== "queued"
        ? []
        : [
            {
              submissionId,
              runId,
              agentId,
              input,
              requester,
              abort: {
                _tag: "AbortRequested" as const,
                runId,
                actor: abort.actor,
                reason: abort.reason,
                requestedAt: abort.requestedAt,
              },
            },
          ],
    )
    .slice(0, 100);

const claimFrom = (
  tables: MemoryTables,
  request: Request<"claim">,
  now: number,
): Option.Option<Claim> => {
  const { tenantId, threadId, workerId } = request;
  const thread = tables.threads.get(keyOf(tenantId, threadId));
  const run = nextOf(tables, tenantId, threadId, now);
  if (thread === undefined || run === undefined) return Option.none();
  // Still running: the claim before ended with its process.
  if (run.state === "running") run.lostAttempts += 1;
  thread.epoch += 1;
  thread.workerId = workerId;
  run.state = "running";
  run.stateSince = now;
  run.postponedReason = undefined;
  run.dueAt = now + unattendedMillis;
  return Option.some({
    tenantId,
    threadId,
    agentId: run.agentId,
    submissionId: run.submissionId,
    runId: run.runId,
    epoch: thread.epoch,
    tail: thread.tail,
    input: run.input,
    requester: run.requester,
    records: thread.records.filter((row) => row.runId === run.runId).map((row) => row.stored),
    history: historyOf(thread, tables, run),
    undelivered: undeliveredOf(tables, run),
    lostAttempts: run.lostAttempts,
  });
};

const postponeIn = (tables: MemoryTables, request: Request<"postpone">, now: number): void => {
  const thread = tables.threads.get(keyOf(request.tenantId, request.threadId));
  if (thread?.epoch !== request.epoch) return;
  for (const run of runsOf(tables, request.tenantId, request.threadId)) {
    if (run.submissionId !== request.submissionId || run.state !== "running") continue;
    run.state = "ready";
    run.stateSince = now;
    run.dueAt = now + request.delaySeconds * 1_000;
    run.postponedReason = columnText(request.reason);
    if (request.counts !== false) run.lostAttempts += 1;
    const { dueAt, postponedReason: reason } = run;
    logEvents(tables, run, [{ event: { _tag: "AttemptPutOff", reason, dueAt }, at: now }]);
  }
};

const dueIn = (tables: MemoryTables, limit: number, now: number) => {
  const found = new Map<string, { readonly tenantId: TenantId; readonly threadId: ThreadId }>();
  const due = [...tables.runs.values()]
    .filter((run) => isDue(tables, run, now))
    .toSorted((a, b) => a.stateSince - b.stateSince);
  for (const run of due) {
    const { tenantId, threadId } = run;
    if (found.size >= limit) break;
    if (run.state === "running") run.dueAt = now + unattendedMillis;
    found.set(keyOf(tenantId, threadId), { tenantId, threadId });
  }
  return [...found.values()];
};

const abortIn = (
  tables: MemoryTables,
  request: Request<"abort">,
  now: number,
): Result.Result<AbortAnswer, NotFound | RunAlreadySettled> => {
  const run = tables.runs.get(keyOf(request.tenantId, request.runId));
  if (run === undefined) return Result.fail(notFound("run"));
  const { runState: state, threadId } = run;
  if (run.state === "settled")
    return Result.fail(
      new RunAlreadySettled({
        message: `The run is ${state} already; a settled outcome does not change.`,
        state,
      }),
    );
  const isFirst = run.abort === undefined;
  if (isFirst) {
    const { actor } = request;
    const reason = columnText(request.reason);
    run.abort = { actor, reason, requestedAt: now, delivered: false };
    logEvents(tables, run, [{ event: { _tag: "AbortRequested", actor, reason }, at: now }]);
  }
  return Result.succeed({ threadId, state, isFirst });
};

/** Not durable: what is admitted is gone with the layer. */
export const layer: Layer.Layer<SubmissionLedger, never, MemoryStore> = Layer.effect(
  SubmissionLedger,
  Effect.map(MemoryStore, (store) =>
    SubmissionLedger.of({
      admit: (request) =>
        Effect.flatMap(
          store.at((tables, now) => admitTo(tables, request, now)),
          Effect.fromResult,
        ).pipe(
          Effect.map(({ submissionId, runId, threadId, queueSequence }) => ({
            submissionId,
            runId,
            threadId,
            queueSequence,
          })),
          Effect.withSpan("SubmissionLedger.admit"),
        ),
      claim: Effect.fn("SubmissionLedger.claim")((request) =>
        store.at((tables, now) => claimFrom(tables, request, now)),
      ),
      undelivered: Effect.fn("SubmissionLedger.undelivered")(({ tenantId, runId }) =>
        store.at((tables) => {
          const run = tables.runs.get(keyOf(tenantId, runId));
          return run === undefined ? [] : undeliveredOf(tables, run);
        }),
      ),
      abortedBeforeStart: Effect.fn("SubmissionLedger.abortedBeforeStart")(
        ({ tenantId, threadId }) =>
          store.at((tables) => abortedBeforeStartIn(tables, tenantId, threadId)),
      ),
      postpone: Effect.fn("SubmissionLedger.postpone")((request) =>
        store.at((tables, now) => postponeIn(tables, request, now)),
      ),
      due: Effect.fn("SubmissionLedger.due")((limit) =>
        store.at((tables, now) => dueIn(tables, Math.min(Math.max(limit, 1), 1_000), now)),
      ),
      abort: (request) =>
        Effect.flatMap(
          store.at((tables, now) => abortIn(tables, request, now)),
          Effect.fromResult,
        ).pipe(Effect.withSpan("SubmissionLedger.abort")),
      // A new worker at an address takes it over: whoever was there before is gone.
      heartbeat: Effect.fn("SubmissionLedger.heartbeat")(({ workerId, address }) =>
        store.at((tables, now) => {
          const isNew = !tables.workers.has(workerId);
          for (const [id, worker] of tables.workers)
            if (isNew && id !== workerId && worker.address === address) worker.stopped = true;
          tables.workers.set(workerId, { address, heartbeatAt: now, stopped: false });
        }),
      ),
      retire: Effect.fn("SubmissionLedger.retire")(({ workerId }) =>
        store.at((tables) => {
          const worker = tables.workers.get(workerId);
          if (worker !== undefined) worker.stopped = true;
        }),
      ),
    }),
  ),
);
