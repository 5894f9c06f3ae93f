/** The ledger on PostgreSQL: admission, claims and what is due, one transition each (DU-10, DU-11, PG-03). */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as Ref from "effect/Ref";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { IdempotencyConflict } from "#lib/contract/errors.ts";
import {
  AgentId,
  Digest,
  EpochMillis,
  RunId,
  SubmissionId,
  TenantId,
  ThreadId,
} from "#lib/contract/ids.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import { AbortRequested, Actor } from "#lib/contract/records.ts";
import { SubmissionLedger, type AdmitRequest, type Claim } from "#lib/durable/SubmissionLedger.ts";
import type { StoreError } from "#lib/durable/StoreError.ts";
import { announce } from "#server/postgres/announce.ts";
import { columnName, columnText, Int8, JsonText } from "#server/postgres/columns.ts";
import { transaction, transition } from "#server/postgres/Database.ts";
import { EventHints } from "#server/postgres/EventHints.ts";
import { RecordRow, storedRecordOf } from "#server/postgres/record-row.ts";
import { makeRequestAbort } from "#server/postgres/request-abort.ts";
import { makeReadUndelivered } from "#server/postgres/undelivered.ts";
import { silentSeconds } from "#lib/durable/worker-silence.ts";

type Request<Method extends keyof SubmissionLedger["Service"]> = Parameters<
  SubmissionLedger["Service"][Method]
>[0];

/** Titles in lists: 200 characters. */
const maxTitleLength = 200;
/** Earlier runs a claim brings along: at most so many, and so many bytes of records. */
const maxHistoryRuns = 20;
const maxHistoryBytes = 1_048_576;

const AdmitAnswer = Schema.Struct({
  admitted: Schema.Boolean,
  submission_id: SubmissionId,
  run_id: RunId,
  thread_id: ThreadId,
  queue_sequence: Schema.Int,
  payload_digest: Digest,
});

const ClaimRow = Schema.Struct({
  submission_id: SubmissionId,
  run_id: RunId,
  agent_id: AgentId,
  epoch: Int8,
  tail_sequence: Int8,
  tail_digest: Digest,
  input: JsonText(Schema.Json),
  requester_kind: Actor.fields.kind,
  requester_id: Schema.String,
  requester_name: Schema.String,
  lost_attempts: Schema.Int,
  queue_sequence: Schema.Int,
});

/** What has to be known of a claim that cannot be read any further. */
const ClaimPlace = Schema.Struct({ submission_id: SubmissionId, epoch: Int8 });
type ClaimPlace = typeof ClaimPlace.Type;

const RunOfRow = Schema.Struct({ run_id: Schema.String });
const decodeRecord = Schema.decodeUnknownResult(RecordRow);

const AbortedRow = Schema.Struct({
  submission_id: SubmissionId,
  run_id: RunId,
  agent_id: AgentId,
  input: JsonText(Schema.Json),
  requester_kind: Actor.fields.kind,
  requester_id: Schema.String,
  requester_name: Schema.String,
  abort: JsonText(AbortRequested),
});

const PutOffRow = Schema.Struct({
  agent_id: AgentId,
  thread_id: ThreadId,
  run_id: RunId,
  postponed_reason: Schema.String,
  due_at: EpochMillis,
});

const DueRow = Schema.Struct({ tenant_id: TenantId, thread_id: ThreadId });

const payloadDigest = (request: AdmitRequest): string =>
  digestOf({ agentId: request.agentId, threadId: request.threadId ?? null, input: request.input });

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const hints = yield* EventHints;
  const readUndelivered = yield* makeReadUndelivered;
  const requestAbort = yield* makeRequestAbort;
  const withSql = Effect.provideService(SqlClient.SqlClient, sql);

  const insertSubmission = (request: AdmitRequest) =>
    Effect.flatMap(
      sql`SELECT * FROM submission_admit(
        ${request.tenantId}, ${request.agentId}, ${request.threadId ?? null}, ${request.principal.kind},
        ${columnName(request.principal.id)}, ${columnName(request.principal.name)},
        ${request.idempotencyKey}, ${payloadDigest(request)}, ${canonicalJson(request.input)},
        ${columnText(request.title, maxTitleLength)}, ${request.unknownPolicy ?? "park"})`,
      Schema.decodeUnknownEffect(Schema.Tuple([AdmitAnswer])),
    );

  const admit = Effect.fn("SubmissionLedger.admit")(function* (request: AdmitRequest) {
    const [answer] = yield* transition("SubmissionLedger.admit", insertSubmission(request));
    if (!answer.admitted && answer.payload_digest !== payloadDigest(request)) {
      return yield* new IdempotencyConflict({
        message: `The idempotency key ${request.idempotencyKey} was used before with another input; use a new key for a new submission.`,
        key: request.idempotencyKey,
      });
    }
    if (answer.admitted) yield* hints.written(request.tenantId);
    return {
      submissionId: answer.submission_id,
      runId: answer.run_id,
      threadId: answer.thread_id,
      queueSequence: answer.queue_sequence,
    };
  });

  const decodePlace = Schema.decodeUnknownEffect(ClaimPlace);
  const decodeClaim = Schema.decodeUnknownEffect(ClaimRow);

  const recordsOfRun = SqlSchema.findAll({
    Request: Schema.Struct({ tenantId: Schema.String, runId: Schema.String }),
    Result: RecordRow,
    execute: ({ tenantId, runId }) =>
      sql`SELECT sequence, epoch, recorded_at, digest, previous_digest, body FROM journal_records
        WHERE tenant_id = ${tenantId} AND run_id = ${runId} ORDER BY sequence`,
  });

  const selectEarlierRuns = (request: Request<"claim">, queueSequence: number) => {
    const { tenantId, threadId } = request;
    return sql`
      WITH earlier AS (
        SELECT run_id, queue_sequence FROM submissions
        WHERE tenant_id = ${tenantId} AND thread_id = ${threadId} AND state IN ('settled', 'unknown')
          AND queue_sequence < ${queueSequence}
        ORDER BY queue_sequence DESC LIMIT ${maxHistoryRuns}
      ), sized AS (
        SELECT e.run_id, sum((
          SELECT sum(octet_length(r.body)) FROM journal_records r
          WHERE r.tenant_id = ${tenantId} AND r.run_id = e.run_id
        )) OVER (ORDER BY e.queue_sequence DESC) AS bytes
        FROM earlier e
      )
      SELECT r.run_id, r.sequence, r.epoch, r.recorded_at, r.digest, r.previous_digest, r.body
      FROM sized s JOIN journal_records r ON r.tenant_id = ${tenantId} AND r.run_id = s.run_id
      WHERE s.bytes <= ${maxHistoryBytes} ORDER BY r.sequence`;
  };

  const decodeRuns = Schema.decodeUnknownEffect(Schema.Array(RunOfRow));
  /** A run of which anything cannot be read is left out whole: it is context, not evidence. */
  const recordsOfEarlierRuns = Effect.fnUntraced(function* (
    request: Request<"claim">,
    queueSequence: number,
  ) {
    const rows = yield* selectEarlierRuns(request, queueSequence);
    const runs = yield* decodeRuns(rows);
    const decoded = rows.map((row, index) => ({
      runId: runs[index]?.run_id ?? "",
      record: decodeRecord(row),
    }));
    const unreadable = new Set(
      decoded.filter(({ record }) => Result.isFailure(record)).map(({ runId }) => runId),
    );
    if (unreadable.size > 0) {
      yield* Effect.logWarning("Earlier runs cannot be read and are left out", {
        threadId: request.threadId,
        runs: [...unreadable],
      });
    }
    return decoded.flatMap(({ runId, record }) =>
      Result.isSuccess(record) && !unreadable.has(runId) ? [storedRecordOf(record.success)] : [],
    );
  });

  const claimHead = Effect.fnUntraced(function* (
    request: Request<"claim">,
    place: Ref.Ref<ClaimPlace | undefined>,
  ) {
    const [head] =
      yield* sql`SELECT * FROM submission_claim(${request.tenantId}, ${request.threadId}, ${request.workerId})`;
    if (head === undefined) return Option.none<Claim>();
    yield* Effect.flatMap(decodePlace(head), (taken) => Ref.set(place, taken));
    const row = yield* decodeClaim(head);
    const run = { tenantId: request.tenantId, runId: row.run_id };
    // A thread that has no record has none of this run.
    const records = row.tail_sequence === 0 ? [] : yield* recordsOfRun(run);
    const history =
      row.queue_sequence === 1 ? [] : yield* recordsOfEarlierRuns(request, row.queue_sequence);
    const undelivered = yield* readUndelivered(run);
    return Option.some<Claim>({
      tenantId: request.tenantId,
      threadId: request.threadId,
      agentId: row.agent_id,
      submissionId: row.submission_id,
      runId: row.run_id,
      epoch: row.epoch,
      tail: { sequence: row.tail_sequence, digest: row.tail_digest },
      input: row.input,
      requester: { kind: row.requester_kind, id: row.requester_id, name: row.requester_name },
      records: records.map(storedRecordOf),
      history,
      undelivered,
      lostAttempts: row.lost_attempts,
    });
  });

  const dueMillis = sql.literal("trunc(extract(epoch FROM s.due_at) * 1000)::float8");
  const decodePutOff = Schema.decodeUnknownEffect(Schema.Array(PutOffRow));
  /** Whoever looks at what is owed learns of the new time exactly when it is committed. */
  const announcePutOff = Effect.fnUntraced(function* (
    tenantId: TenantId,
    rows: ReadonlyArray<object>,
  ) {
    for (const row of yield* decodePutOff(rows))
      yield* announce(
        { tenantId, agentId: row.agent_id, threadId: row.thread_id, runId: row.run_id },
        { _tag: "AttemptPutOff", reason: row.postponed_reason, dueAt: row.due_at },
      );
  });

  // The reads are part of the claim's transaction: a claim whose answer cannot be given is not made (PG-08).
  const claim = Effect.fn("SubmissionLedger.claim")(function* (request: Request<"claim">) {
    const place = yield* Ref.make<ClaimPlace | undefined>(undefined);
    const putOff = Effect.fnUntraced(function* (error: StoreError) {
      const taken = yield* Ref.get(place);
      if (error.retryable || taken === undefined) return;
      const reason = columnText(error.message, 500);
      yield* sql`SELECT submission_put_off(${request.tenantId}, ${request.threadId},
        ${taken.submission_id}, ${taken.epoch}::bigint, ${reason})`;
      // The epoch is the claim's own only when the fence held and it was put off.
      yield* announcePutOff(
        request.tenantId,
        yield* sql`SELECT s.agent_id, s.thread_id, s.run_id, s.postponed_reason, ${dueMillis} AS due_at
          FROM submissions s JOIN threads t ON t.tenant_id = s.tenant_id AND t.thread_id = s.thread_id
          WHERE s.tenant_id = ${request.tenantId} AND s.submission_id = ${taken.submission_id}
            AND s.state = 'ready' AND s.postponed_reason = ${reason} AND t.epoch = ${taken.epoch}::bigint`,
      );
    });
    return yield* withSql(transaction("SubmissionLedger.claim", claimHead(request, place))).pipe(
      // Whoever asked hears why it failed; the delay is best effort.
      Effect.tapError((error) =>
        Effect.ignore(withSql(transaction("SubmissionLedger.putOff", putOff(error)))),
      ),
    );
  });

  const undelivered = Effect.fn("SubmissionLedger.undelivered")((request: Request<"undelivered">) =>
    transition("SubmissionLedger.undelivered", readUndelivered(request)),
  );

  const putOffRow = (request: Request<"postpone">) => sql`
    UPDATE submissions s SET
      state = 'ready', state_since = clock_timestamp(),
      due_at = clock_timestamp() + ${request.delaySeconds}::float8 * interval '1 second',
      postponed_reason = ${columnText(request.reason)},
      lost_attempts = s.lost_attempts + ${request.counts === false ? 0 : 1}
    -- Locked: a claim that is under way is waited for, and then the epoch is looked at again.
    FROM (
      SELECT tenant_id FROM threads
      WHERE tenant_id = ${request.tenantId} AND thread_id = ${request.threadId}
        AND epoch = ${request.epoch} FOR UPDATE
    ) AS t
    WHERE s.tenant_id = t.tenant_id AND s.submission_id = ${request.submissionId}
      AND s.state = 'running'
    RETURNING s.agent_id, s.thread_id, s.run_id, s.postponed_reason, ${dueMillis} AS due_at`;

  const postpone = Effect.fn("SubmissionLedger.postpone")((request: Request<"postpone">) =>
    withSql(
      transaction(
        "SubmissionLedger.postpone",
        Effect.flatMap(putOffRow(request), (rows) => announcePutOff(request.tenantId, rows)),
      ),
    ),
  );

  const findAborted = SqlSchema.findAll({
    Request: Schema.Struct({ tenantId: Schema.String, threadId: Schema.String }),
    Result: AbortedRow,
    execute: ({ tenantId, threadId }) => sql`
      SELECT s.submission_id, s.run_id, s.agent_id, s.input, s.requester_kind, s.requester_id,
        s.requester_name, json_build_object('_tag', 'AbortRequested', 'runId', b.run_id,
          'actor', json_build_object('kind', b.actor_kind, 'id', b.actor_id, 'name', b.actor_name),
          'reason', b.reason,
          'requestedAt', floor(extract(epoch FROM b.requested_at) * 1000)::bigint)::text AS abort
      FROM submissions s
      JOIN abort_requests b ON b.tenant_id = s.tenant_id AND b.run_id = s.run_id
      JOIN runs r ON r.tenant_id = s.tenant_id AND r.run_id = s.run_id
      WHERE s.tenant_id = ${tenantId} AND s.thread_id = ${threadId} AND s.state = 'ready'
        AND b.delivered_at IS NULL AND r.state = 'queued'
      ORDER BY s.queue_sequence LIMIT 100`,
  });

  const abortedBeforeStart = Effect.fn("SubmissionLedger.abortedBeforeStart")(
    (request: Request<"abortedBeforeStart">) =>
      transition("SubmissionLedger.abortedBeforeStart", findAborted(request)).pipe(
        Effect.map((rows) =>
          rows.map((row) => ({
            submissionId: row.submission_id,
            runId: row.run_id,
            agentId: row.agent_id,
            input: row.input,
            requester: { kind: row.requester_kind, id: row.requester_id, name: row.requester_name },
            abort: row.abort,
          })),
        ),
      ),
  );

  const findDue = SqlSchema.findAll({
    Request: Schema.Int,
    Result: DueRow,
    execute: (limit) =>
      sql`SELECT tenant_id, thread_id FROM due_threads(${limit}, ${silentSeconds} * interval '1 second')`,
  });

  const due = Effect.fn("SubmissionLedger.due")((limit: number) =>
    transition("SubmissionLedger.due", findDue(Math.min(Math.max(limit, 1), 1_000))).pipe(
      Effect.map((rows) =>
        rows.map((row) => ({ tenantId: row.tenant_id, threadId: row.thread_id })),
      ),
    ),
  );

  const abort = Effect.fn("SubmissionLedger.abort")((request: Request<"abort">) =>
    withSql(transaction("SubmissionLedger.abort", requestAbort(request))),
  );

  // A new worker at an address takes it over: whoever was there before is gone. It also clears away whom nobody
  // has heard of for a week; a thread whose worker has no row is due like one whose worker is silent.
  const heartbeat = Effect.fn("SubmissionLedger.heartbeat")((request: Request<"heartbeat">) =>
    transition(
      "SubmissionLedger.heartbeat",
      sql`WITH mine AS (
          INSERT INTO workers (worker_id, address) VALUES (${request.workerId}, ${request.address})
          ON CONFLICT (worker_id) DO UPDATE SET heartbeat_at = clock_timestamp(), stopped_at = NULL
          RETURNING started_at = heartbeat_at AS is_new
        ), forgotten AS (
          DELETE FROM workers w USING mine
          WHERE mine.is_new AND w.heartbeat_at < clock_timestamp() - interval '7 days'
        )
        UPDATE workers w SET stopped_at = clock_timestamp() FROM mine
        WHERE mine.is_new AND w.address = ${request.address} AND w.worker_id <> ${request.workerId}
          AND w.stopped_at IS NULL AND w.heartbeat_at >= clock_timestamp() - interval '7 days'`,
    ).pipe(Effect.asVoid),
  );

  const retire = Effect.fn("SubmissionLedger.retire")(({ workerId }: Request<"retire">) =>
    transition(
      "SubmissionLedger.retire",
      sql`UPDATE workers SET stopped_at = clock_timestamp()
        WHERE worker_id = ${workerId} AND stopped_at IS NULL`,
    ).pipe(Effect.asVoid),
  );

  return SubmissionLedger.of({
    admit,
    claim,
    undelivered,
    abortedBeforeStart,
    postpone,
    due,
    abort,
    heartbeat,
    retire,
  });
});

/** `SubmissionLedger` on the pool's database. */
export const layer = Layer.effect(SubmissionLedger, make);
