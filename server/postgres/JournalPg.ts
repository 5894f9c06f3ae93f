/** The journal on PostgreSQL: one statement per append, so one round trip and one commit (PG-02). */
import * as PgTypes from "@effect/sql-pg/PgTypes";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { encodeCanonicalJson } from "#lib/contract/json/canonical-json.ts";
import { Digest } from "#lib/contract/ids.ts";
import { RunEvent } from "#lib/contract/events.ts";
import { type ChainedRow, chainRecords } from "#lib/durable/chain.ts";
import {
  Journal,
  type AppendReceipt,
  type AppendRequest,
  type DiagnosticToStore,
} from "#lib/durable/Journal.ts";
import { eventsOf } from "#lib/durable/record-events.ts";
import {
  AbortPending,
  FenceRejected,
  JournalBatchConflict,
  JournalTailConflict,
  StoreError,
} from "#lib/durable/StoreError.ts";
import {
  columnName,
  columnText,
  Int8,
  int8Array,
  Millis,
  textArray,
} from "#server/postgres/columns.ts";
import { turnoverOf, turnoverStatement } from "#server/postgres/call-turnover.ts";
import { transition } from "#server/postgres/Database.ts";
import { EventHints } from "#server/postgres/EventHints.ts";
import { keptParameters, withKeptResults } from "#server/postgres/keep-results.ts";
import { projectRecords } from "#server/postgres/project-records.ts";
import { type ProjectionChanges, changesOnlyCalls } from "#server/postgres/projection-draft.ts";
import { RecordRow, storedRecordOf } from "#server/postgres/record-row.ts";

const AppendAnswer = Schema.Struct({
  answer: Schema.Literals([
    "appended",
    "replayed",
    "fenced",
    "tail-conflict",
    "batch-conflict",
    "no-thread",
    "abort-pending",
  ]),
  tail_sequence: Int8,
  tail_digest: Digest,
  recorded_at: Schema.NullOr(Millis),
  current_epoch: Int8,
});
type AppendAnswer = typeof AppendAnswer.Type;

const encodeEvent = Schema.encodeSync(RunEvent);

interface EventToStore {
  readonly kind: string;
  /** `null`: the time of the append. */
  readonly at: number | null;
  readonly body: string;
}

/** The three events of nearly every call, made of a record whose text was made before: plain data, which no encoding changes. */
const isEncoded = ({ _tag }: RunEvent): boolean =>
  _tag === "ToolCallDeclared" || _tag === "ToolCallStarted" || _tag === "ToolCallSucceeded";

const eventToStore = (event: RunEvent, at: number | null): EventToStore => ({
  kind: event._tag,
  at,
  body: Result.getOrThrow(
    encodeCanonicalJson(at === null && isEncoded(event) ? event : encodeEvent(event)),
  ),
});

/** Events that no record carries, then those that follow from the records. */
const eventsToStore = (request: AppendRequest): ReadonlyArray<EventToStore> => [
  ...request.events.map(({ event, at }) => eventToStore(event, at)),
  ...request.records.flatMap((record) =>
    eventsOf(record).map((event) => eventToStore(event, null)),
  ),
];

const diagnosticRow = (diagnostic: DiagnosticToStore) => ({
  diagnostic_id: diagnostic.diagnosticId,
  fingerprint: diagnostic.fingerprint,
  title: columnText(diagnostic.title),
  tool_name: diagnostic.toolName === null ? null : columnName(diagnostic.toolName),
  call_id: diagnostic.callId === null ? null : columnName(diagnostic.callId),
  body: Result.getOrThrow(encodeCanonicalJson(diagnostic.encoded)),
});

/** One text for every append, so that each connection prepares it once; `parametersOf` gives what it takes. */
const appendStatement = `SELECT answer, tail_sequence, tail_digest, recorded_at, current_epoch
  FROM journal_append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
    $12::json, $13::boolean, $14::json, $15, $16, $17, $18::json)`;

/** The same for the few appends that keep the texts of large results. */
const keepingStatement = withKeptResults(appendStatement, 18);

/** Already JSON text; the driver must not make a JSON string of it. */
const json = (value: unknown): string | null =>
  value === undefined ? null : JSON.stringify(value);

const parametersOf = (
  request: AppendRequest,
  rows: ReadonlyArray<ChainedRow>,
  changes: ProjectionChanges | undefined,
  events: ReadonlyArray<EventToStore>,
): ReadonlyArray<unknown> => {
  const { diagnostics, expectedTail } = request;
  const calls = changes !== undefined && changesOnlyCalls(changes) ? changes : undefined;
  return [
    PgTypes.text(request.tenantId),
    PgTypes.text(request.threadId),
    PgTypes.text(request.runId),
    PgTypes.text(request.agentId),
    PgTypes.int8(BigInt(request.epoch)),
    PgTypes.int8(BigInt(expectedTail.sequence)),
    PgTypes.text(expectedTail.digest),
    PgTypes.text(request.batchId),
    textArray(rows.map((row) => row.kind)),
    textArray(rows.map((row) => row.body)),
    textArray(rows.map((row) => row.digest)),
    json(calls?.call_changes),
    calls === undefined ? null : calls.progressed === true,
    calls === undefined ? json(changes) : null,
    textArray(events.map((event) => event.kind)),
    int8Array(events.map((event) => event.at)),
    textArray(events.map((event) => event.body)),
    json(diagnostics.length === 0 ? undefined : diagnostics.map(diagnosticRow)),
  ];
};

const fenceOf = ({ threadId, epoch }: AppendRequest, answer: AppendAnswer) =>
  new FenceRejected({ threadId, epoch, currentEpoch: answer.current_epoch });

const receiptOf = (
  request: AppendRequest,
  answer: AppendAnswer,
): Effect.Effect<
  AppendReceipt,
  AbortPending | FenceRejected | JournalTailConflict | JournalBatchConflict | StoreError
> => {
  const { threadId } = request;
  switch (answer.answer) {
    case "appended":
    case "replayed":
      // What a fenced owner wrote is written, but it may not act on it any more (DU-13).
      if (answer.current_epoch !== request.epoch) return Effect.fail(fenceOf(request, answer));
      return Effect.succeed({
        tail: { sequence: answer.tail_sequence, digest: answer.tail_digest },
        replayed: answer.answer === "replayed",
        recordedAt: answer.recorded_at ?? 0,
      });
    case "fenced":
      return Effect.fail(fenceOf(request, answer));
    case "abort-pending":
      return Effect.fail(new AbortPending({ threadId, runId: request.runId }));
    case "tail-conflict":
      return Effect.fail(
        new JournalTailConflict({
          threadId,
          expectedSequence: request.expectedTail.sequence,
          actualSequence: answer.tail_sequence,
          actualDigest: answer.tail_digest,
        }),
      );
    case "batch-conflict":
      return Effect.fail(new JournalBatchConflict({ threadId, batchId: request.batchId }));
    case "no-thread":
      return Effect.fail(
        new StoreError({
          operation: "Journal.append",
          message: `Thread ${threadId} was never admitted, so nothing can be appended to it.`,
          retryable: false,
        }),
      );
  }
};

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const hints = yield* EventHints;

  const decodeAnswer = Schema.decodeUnknownEffect(Schema.Tuple([AppendAnswer]));

  /** The time of the append; null when nothing was written, for a reason that the general append finds out. */
  const turnOver = (parameters: ReadonlyArray<unknown>) =>
    transition(
      "Journal.append",
      sql.unsafe<{ readonly recorded_at: unknown }>(turnoverStatement, parameters).pipe(
        Effect.map(([row]) =>
          row?.recorded_at instanceof Date ? row.recorded_at.getTime() : null,
        ),
        // The batch id was used before, at an earlier tail.
        Effect.catchIf(
          (error) => error.reason._tag === "UniqueViolation",
          () => Effect.succeed(null),
        ),
      ),
    );

  const append = Effect.fn("Journal.append")(function* (request: AppendRequest) {
    const stray = request.records.find((record) => record.runId !== request.runId);
    if (stray !== undefined) {
      return yield* Effect.die(
        new Error(`An append of run ${request.runId} carries a record of run ${stray.runId}.`),
      );
    }
    const { expectedTail, records, results = [] } = request;
    const { rows, tail } = chainRecords(expectedTail, records, request);
    const changes = projectRecords(
      records.map((record, place) => ({ record, sequence: expectedTail.sequence + 1 + place })),
    );
    const events = eventsToStore(request);
    const turnover = turnoverOf(request, rows, changes, events);
    if (turnover !== undefined) {
      const recordedAt = yield* turnOver(turnover);
      if (recordedAt !== null) {
        yield* hints.written(request.tenantId);
        return { tail, replayed: false, recordedAt };
      }
    }
    const parameters = parametersOf(request, rows, changes, events);
    const answers = yield* transition(
      "Journal.append",
      Effect.flatMap(
        results.length === 0
          ? sql.unsafe(appendStatement, parameters)
          : sql.unsafe(keepingStatement, [...parameters, ...keptParameters(request, results)]),
        decodeAnswer,
      ),
    );
    const receipt = yield* receiptOf(request, answers[0]);
    if (events.length > 0) yield* hints.written(request.tenantId);
    return receipt;
  });

  const select = SqlSchema.findAll({
    Request: Schema.Struct({
      tenantId: Schema.String,
      threadId: Schema.String,
      runId: Schema.NullOr(Schema.String),
      after: Schema.Int,
      limit: Schema.Int,
    }),
    Result: RecordRow,
    execute: (request) =>
      sql`SELECT sequence, epoch, recorded_at, digest, previous_digest, body
        FROM journal_records
        WHERE tenant_id = ${request.tenantId} AND thread_id = ${request.threadId}
          AND sequence > ${request.after}
          ${request.runId === null ? sql`` : sql`AND run_id = ${request.runId}`}
        ORDER BY sequence LIMIT ${request.limit}`,
  });

  const read = Effect.fn("Journal.read")(function* (
    request: Parameters<Journal["Service"]["read"]>[0],
  ) {
    const rows = yield* transition(
      "Journal.read",
      select({
        tenantId: request.tenantId,
        threadId: request.threadId,
        runId: request.runId ?? null,
        after: request.after,
        limit: Math.min(Math.max(request.limit, 1), 10_000),
      }),
    );
    return rows.map(storedRecordOf);
  });

  const selectKept = SqlSchema.findAll({
    Request: Schema.Struct({
      tenantId: Schema.String,
      runId: Schema.String,
      resultId: Schema.String,
    }),
    Result: Schema.Struct({ body: Schema.String }),
    execute: ({ tenantId, runId, resultId }) =>
      sql`SELECT body FROM kept_results
        WHERE tenant_id = ${tenantId} AND run_id = ${runId} AND result_id = ${resultId}`,
  });

  const keptResult = Effect.fn("Journal.keptResult")(function* (
    request: Parameters<Journal["Service"]["keptResult"]>[0],
  ) {
    const [row] = yield* transition("Journal.keptResult", selectKept(request));
    return row?.body;
  });

  return Journal.of({ append, keptResult, read });
});

/** `Journal` on the pool's database. */
export const layer = Layer.effect(Journal, make);
