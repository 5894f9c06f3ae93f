/**
 * The lines of a run's proof pack. Records and audit rows are append-only, so they are read page by page up to
 * where they ended when the export began; nothing holds a transaction while a slow reader takes them. Only
 * retention takes rows away: what it took meanwhile makes the export fail, never a pack that ends early.
 */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Schema from "effect/Schema";
import * as Stream from "effect/Stream";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { StoreUnavailable } from "#lib/contract/errors.ts";
import { EpochMillis, type RunId, type TenantId, ThreadId } from "#lib/contract/ids.ts";
import { Actor } from "#lib/contract/records.ts";
import { LinkSeal, sealOf } from "#lib/proof/link-seal.ts";
import {
  type ProofApproval,
  ProofApproval as Approval,
  type ProofHeader,
  ProofLine,
  proofVersion,
} from "#lib/proof/proof-lines.ts";
import { textArray } from "#server/postgres/columns.ts";
import { millis } from "./columns.ts";
import { notFound } from "./require-run.ts";
import { decodeRows, inSnapshot } from "./snapshot.ts";

const recordsPerPage = 200;
/** A page ends with the record that passes this many bytes, so one is always read. */
export const recordBytesPerPage = 1_048_576;
const auditRowsPerPage = 500;

const Bounds = Schema.Struct({
  threadId: ThreadId,
  tailSequence: Schema.Int,
  tailDigest: Schema.String,
  auditSequence: Schema.Int,
  auditDigest: Schema.String,
  /** Of the run's own records; null before its first. */
  first: Schema.NullOr(Schema.Int),
  last: Schema.NullOr(Schema.Int),
  own: Schema.Int,
  lastDigest: Schema.NullOr(Schema.String),
  now: EpochMillis,
});

const readBounds = (tenantId: TenantId, runId: RunId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const rows = yield* decodeRows(Bounds)(sql`
      SELECT r.thread_id AS "threadId", t.tail_sequence::float8 AS "tailSequence",
        t.tail_digest AS "tailDigest", coalesce(a.sequence, 0)::float8 AS "auditSequence",
        coalesce(a.digest, repeat('0', 64)) AS "auditDigest",
        (SELECT min(j.sequence)::float8 FROM journal_records j
          WHERE j.tenant_id = r.tenant_id AND j.run_id = r.run_id) AS first,
        (SELECT max(j.sequence)::float8 FROM journal_records j
          WHERE j.tenant_id = r.tenant_id AND j.run_id = r.run_id) AS last,
        (SELECT count(*)::float8 FROM journal_records j
          WHERE j.tenant_id = r.tenant_id AND j.run_id = r.run_id) AS own,
        (SELECT j.digest FROM journal_records j WHERE j.tenant_id = r.tenant_id
          AND j.run_id = r.run_id ORDER BY j.sequence DESC LIMIT 1) AS "lastDigest",
        ${sql.literal(millis("clock_timestamp()"))} AS now
      FROM runs r JOIN threads t ON t.tenant_id = r.tenant_id AND t.thread_id = r.thread_id
      LEFT JOIN audit_tails a ON a.tenant_id = r.tenant_id
      WHERE r.tenant_id = ${tenantId} AND r.run_id = ${runId}`);
    return rows[0] ?? (yield* notFound("run"));
  });

const ApprovalRow = Schema.Struct({
  ...Approval.fields,
  decidedBy: Schema.NullOr(Actor),
});

const readApprovals = (tenantId: TenantId, runId: RunId) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeRows(ApprovalRow)(sql`
      SELECT 'approval' AS kind, a.request_id AS "requestId", a.turn, a.call_id AS "callId",
        a.tool_name AS "toolName", a.state, a.parameters_digest AS "parametersDigest",
        a.approvers_required AS "approversRequired",
        CASE WHEN a.decider_kind IS NULL THEN NULL ELSE
          json_build_object('kind', a.decider_kind, 'id', a.decider_id, 'name', a.decider_name) END AS "decidedBy",
        ${sql.literal(millis("a.decided_at"))} AS "decidedAt",
        coalesce((SELECT json_agg(json_build_object('operatorId', v.operator_id, 'name', v.operator_name,
            'decision', v.decision, 'parametersDigest', v.parameters_digest,
            'at', ${sql.literal(millis("v.voted_at"))}) ORDER BY v.voted_at, v.operator_id)
          FROM approval_votes v
          WHERE v.tenant_id = a.tenant_id AND v.request_id = a.request_id), '[]') AS approvers
      FROM approval_requests a
      WHERE a.tenant_id = ${tenantId} AND a.run_id = ${runId} ORDER BY a.turn, a.request_id`),
  );

const RecordRow = Schema.Struct({
  sequence: Schema.Int,
  epoch: Schema.Int,
  digest: Schema.String,
  previousDigest: Schema.String,
  recordedAt: EpochMillis,
  /** Null for a record of another run that was archived or deleted; its seal stayed. */
  body: Schema.NullOr(Schema.String),
  seal: Schema.NullOr(LinkSeal),
  /** Whether it is of the run itself; what another run's record says does not leave the server. */
  own: Schema.Boolean,
});

const recordLine =
  (threadId: ThreadId) =>
  ({ body, own, recordedAt, seal, ...link }: typeof RecordRow.Type): ProofLine => {
    if (own && body !== null) return { kind: "record", ...link, recordedAt, body };
    const kept = body === null ? seal : sealOf({ ...link, threadId, body });
    return kept === null ? { kind: "link", ...link } : { kind: "link", ...link, seal: kept };
  };

const AuditRow = Schema.Struct({
  sequence: Schema.Int,
  at: EpochMillis,
  actorKind: Actor.fields.kind,
  actorId: Schema.String,
  actorName: Schema.String,
  verb: Schema.String,
  target: Schema.String,
  runId: Schema.NullOr(Schema.String),
  accepted: Schema.Boolean,
  reason: Schema.String,
  before: Schema.NullOr(Schema.String),
  after: Schema.NullOr(Schema.String),
  commandId: Schema.NullOr(Schema.String),
  digest: Schema.String,
  previousDigest: Schema.String,
});

const auditLine = ({ actorKind, actorId, actorName, ...row }: typeof AuditRow.Type): ProofLine => ({
  kind: "audit",
  ...row,
  actor: { kind: actorKind, id: actorId, name: actorName },
});

/** Pages of rows behind a sequence, until `isLast` says that one of so many rows, up to this sequence, was the last. */
const paged = <Row extends { readonly sequence: number }, E, R>(
  start: number,
  isLast: (rows: number, through: number) => boolean,
  read: (after: number) => Effect.Effect<ReadonlyArray<Row>, E, R>,
): Stream.Stream<Row, E, R> =>
  Stream.paginate(start, (after) =>
    Effect.map(read(after), (rows) => {
      const last = rows.at(-1);
      return [
        rows,
        last === undefined || isLast(rows.length, last.sequence)
          ? Option.none()
          : Option.some(last.sequence),
      ] as const;
    }),
  );

/** Ends like the rows where as many of the run's own came as there were, and fails where some have gone meanwhile. */
const whole =
  (runId: RunId, own: number) =>
  <E, R>(rows: Stream.Stream<typeof RecordRow.Type, E, R>) =>
    Stream.suspend(() => {
      let seen = 0;
      const counted = Stream.map(rows, (row) => {
        if (row.own && row.body !== null) seen += 1;
        return row;
      });
      const complete = Effect.suspend(() =>
        seen === own
          ? Effect.void
          : Effect.fail(
              new StoreUnavailable({
                message: `Run ${runId} was put away while its proof was exported: ${own - seen} of its ${own} records are missing from what was sent, which is no proof. Ask for it again.`,
              }),
            ),
      );
      return Stream.concat(counted, Stream.fromEffectDrain(complete));
    });

/** Records of the thread from the run's first to its last. */
const records = (tenantId: TenantId, runId: RunId, bounds: typeof Bounds.Type) => {
  const { first, last: through, threadId } = bounds;
  if (first === null || through === null) return Stream.empty;
  return paged(
    first - 1,
    (_, sequence) => sequence >= through,
    (after) =>
      inSnapshot(
        tenantId,
        Effect.flatMap(SqlClient, (sql) =>
          // octet_length reads no body: a long text's length stands beside it.
          decodeRows(RecordRow)(sql`
            SELECT p.sequence::float8 AS sequence, p.epoch::float8 AS epoch, p.digest,
              p.previous_digest AS "previousDigest",
              ${sql.literal(millis("p.recorded_at"))} AS "recordedAt", p.body,
              CASE WHEN p.seal_state IS NOT NULL THEN
                json_build_object('state', p.seal_state, 'bytes', p.seal_bytes) END AS seal,
              p.run_id IS NOT DISTINCT FROM ${runId} AS own
            FROM (
              SELECT j.*, sum(coalesce(octet_length(j.body), 0)) OVER (ORDER BY j.sequence)
                - coalesce(octet_length(j.body), 0) AS bytes_before
              FROM (
                (SELECT r.sequence, r.epoch, r.digest, r.previous_digest, r.recorded_at, r.run_id, r.body,
                  NULL::text AS seal_state, NULL::bigint AS seal_bytes
                FROM journal_records r
                WHERE r.tenant_id = ${tenantId} AND r.thread_id = ${threadId}
                  AND r.sequence > ${after}::float8::bigint
                  AND r.sequence <= ${through}::float8::bigint
                ORDER BY r.sequence LIMIT ${recordsPerPage})
                UNION ALL
                (SELECT l.sequence, l.epoch, l.digest, l.previous_digest, l.recorded_at, NULL, NULL,
                  l.seal_state, l.seal_bytes
                FROM journal_links l
                WHERE l.tenant_id = ${tenantId} AND l.thread_id = ${threadId}
                  AND l.sequence > ${after}::float8::bigint
                  AND l.sequence <= ${through}::float8::bigint
                ORDER BY l.sequence LIMIT ${recordsPerPage})
                ORDER BY sequence LIMIT ${recordsPerPage}
              ) AS j
            ) AS p
            WHERE p.bytes_before < ${recordBytesPerPage} ORDER BY p.sequence`),
        ),
      ),
  );
};

const Target = Schema.Struct({ target: Schema.String });

/** What an act about the run may be aimed at; read with the bounds, since an archive takes it with the run. */
const readTargets = (tenantId: TenantId, runId: RunId) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeRows(Target)(sql`
      SELECT ${runId}::text AS target
      UNION SELECT request_id FROM approval_requests WHERE tenant_id = ${tenantId} AND run_id = ${runId}
      UNION SELECT unknown_id FROM unknown_outcomes WHERE tenant_id = ${tenantId} AND run_id = ${runId}
      UNION SELECT denial_id FROM denials WHERE tenant_id = ${tenantId} AND run_id = ${runId}`),
  );

/** Rows about the run itself, and refused ones about it or about its requests and doubts. */
const auditRows = (
  tenantId: TenantId,
  runId: RunId,
  targets: ReadonlyArray<string>,
  through: number,
) =>
  paged(
    0,
    (rows) => rows < auditRowsPerPage,
    (after) =>
      inSnapshot(
        tenantId,
        Effect.flatMap(SqlClient, (sql) =>
          decodeRows(AuditRow)(sql`
          WITH about AS (
            SELECT target FROM unnest(${textArray(targets)}) AS target
          ), found AS (
            SELECT l.sequence FROM audit_log l WHERE l.tenant_id = ${tenantId} AND l.run_id = ${runId}
            UNION
            SELECT l.sequence FROM about b JOIN audit_log l
              ON l.tenant_id = ${tenantId} AND l.run_id IS NULL
              AND left(l.target, 200) = left(b.target, 200) AND l.target = b.target
          )
          SELECT l.sequence::float8 AS sequence, ${sql.literal(millis("l.at"))} AS at,
            l.actor_kind AS "actorKind", l.actor_id AS "actorId", l.actor_name AS "actorName", l.verb,
            l.target, l.run_id AS "runId", l.accepted, l.reason, l.before, l.after,
            l.command_id AS "commandId", l.digest, l.previous_digest AS "previousDigest"
          FROM found f JOIN audit_log l ON l.tenant_id = ${tenantId} AND l.sequence = f.sequence
          WHERE l.sequence > ${after}::float8::bigint AND l.sequence <= ${through}::float8::bigint
          ORDER BY l.sequence LIMIT ${auditRowsPerPage}`),
        ),
      ),
  );

const encodeLine = Schema.encodeSync(Schema.fromJsonString(ProofLine));

/** Everything but the last line, each line's text without its line feed. `NotFound` for a missing or foreign run. */
export const proofLines = Effect.fn("views.proofLines")(function* (
  tenantId: TenantId,
  runId: RunId,
  exportedBy: Actor,
) {
  const read = yield* inSnapshot(
    tenantId,
    Effect.all({
      bounds: readBounds(tenantId, runId),
      approvals: readApprovals(tenantId, runId),
      targets: readTargets(tenantId, runId),
    }),
  );
  const { bounds } = read;
  const header: ProofHeader = {
    kind: "proof",
    version: proofVersion,
    tenantId,
    threadId: bounds.threadId,
    runId,
    exportedAt: bounds.now,
    exportedBy,
    threadTail: { sequence: bounds.tailSequence, digest: bounds.tailDigest },
    ...(bounds.last === null || bounds.lastDigest === null
      ? {}
      : { runTail: { sequence: bounds.last, digest: bounds.lastDigest } }),
    auditTail: { sequence: bounds.auditSequence, digest: bounds.auditDigest },
  };
  const approvals: ReadonlyArray<ProofApproval> = read.approvals;
  const targets = read.targets.map(({ target }) => target);
  return Stream.fromIterable<ProofLine>([header, ...approvals]).pipe(
    Stream.concat(
      records(tenantId, runId, bounds).pipe(
        whole(runId, bounds.own),
        Stream.map(recordLine(bounds.threadId)),
      ),
    ),
    Stream.concat(Stream.map(auditRows(tenantId, runId, targets, bounds.auditSequence), auditLine)),
    Stream.map((line) => encodeLine(line)),
  );
});
