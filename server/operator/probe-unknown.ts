/**
 * An operator asks a destination about an effect in doubt (DU-06, OP-08). The
 * question is a row before it is asked, so that two people never ask at once; its
 * answer is evidence, and settles the call only by the tool's declared rule.
 */
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Option from "effect/Option";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { ProbeUnknown } from "#lib/contract/commands.ts";
import { ProbeRefused } from "#lib/contract/errors.ts";
import type { CommandId, ProbeId, UnknownId } from "#lib/contract/ids.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import type { Actor } from "#lib/contract/records.ts";
import type { UnknownDetail } from "#lib/contract/unknown-views.ts";
import { Audit } from "#lib/durable/Audit.ts";
import { probeIdOf } from "#lib/durable/derived-ids.ts";
import { columnText } from "#lib/durable/storable-text.ts";
import { Unknowns } from "#lib/durable/Unknowns.ts";
import { Wakes } from "#lib/durable/Wakes.ts";
import type { ProbeReport } from "#lib/engine/ask-probe.ts";
import { askedProbeActor, probeReason } from "#lib/durable/rule-actors.ts";
import { announce } from "#server/postgres/announce.ts";
import { transaction } from "#server/postgres/Database.ts";
import { actForTenant, decodeRows, orStoreUnavailable } from "#server/views/snapshot.ts";
import { lostAfterSeconds, lostProbe, maxProbes } from "#server/views/unknown-probes.ts";
import { readUnknownDetail } from "#server/views/unknowns.ts";
import { actorOf, type Change, type Operator, requireRole, runCommand } from "./run-command.ts";
import { type ProbeOutcome, ToolProbes } from "./ToolProbes.ts";

/** The question that this very request stored; none for a repeat of one that did. */
interface Question {
  readonly probeId: ProbeId;
}

const refused = (why: ProbeRefused["why"], message: string) => new ProbeRefused({ why, message });

/** Stores the question, unless one is under way. */
const begin = (
  operator: Operator,
  detail: UnknownDetail,
  commandId: CommandId,
  opened: (question: Question) => void,
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const { tenantId } = operator;
    const { unknownId } = detail;
    const actor = actorOf(operator);
    const probeId = probeIdOf(unknownId, commandId);
    yield* sql`
      UPDATE unknown_probes SET answered_at = clock_timestamp(), finding = 'failed', detail = ${lostProbe}
      WHERE tenant_id = ${tenantId} AND unknown_id = ${unknownId} AND answered_at IS NULL
        AND asked_at < clock_timestamp() - ${lostAfterSeconds} * interval '1 second'`;
    const stored = yield* sql`
      INSERT INTO unknown_probes (tenant_id, probe_id, unknown_id, thread_id, run_id, turn, call_id,
        tool_name, asker_kind, asker_id, asker_name, asked_at)
      VALUES (${tenantId}, ${probeId}, ${unknownId}, ${detail.threadId}, ${detail.runId},
        ${detail.turn}, ${detail.callId}, ${detail.toolName}, ${actor.kind}, ${actor.id},
        ${actor.name}, date_trunc('milliseconds', clock_timestamp()))
      ON CONFLICT DO NOTHING RETURNING probe_id`;
    if (stored.length === 0)
      return yield* refused(
        "under-way",
        "The destination is being asked about this effect already.",
      );
    // Evidence is bounded: what an attempt recorded stays, of operators' questions the newest.
    yield* sql`
      DELETE FROM unknown_probes p USING (
        SELECT probe_id FROM unknown_probes
        WHERE tenant_id = ${tenantId} AND unknown_id = ${unknownId} AND record_sequence IS NULL
        ORDER BY asked_at DESC OFFSET ${maxProbes}) AS old
      WHERE p.tenant_id = ${tenantId} AND p.probe_id = old.probe_id`;
    opened({ probeId });
    return {
      runId: detail.runId,
      before: { state: detail.state },
      after: { state: detail.state, asked: probeId },
    } satisfies Change;
  });

/** Lets the rule's resolution stand where nobody has resolved the effect meanwhile. */
const settleOpen = (
  operator: Operator,
  detail: UnknownDetail,
  { report, settles }: ProbeOutcome,
  actor: Actor,
) => {
  if (settles === undefined) return Effect.succeed(false);
  return Effect.flatMap(Unknowns, (unknowns) =>
    unknowns.resolve({
      tenantId: operator.tenantId,
      unknownId: detail.unknownId,
      actor,
      ...settles,
      parametersDigest: detail.parametersDigest,
      reason: probeReason(report.finding),
      evidence: report.detail === "" ? report.finding : report.detail,
      commandId: null,
    }),
  ).pipe(
    Effect.as(true),
    // Somebody was faster, or the run has ended and nothing may run again: the answer stays evidence.
    Effect.catchTags({
      UnknownAlreadyResolved: () => Effect.succeed(false),
      RunAlreadySettled: () => Effect.succeed(false),
      ApprovalChanged: () => Effect.succeed(false),
    }),
  );
};

/** Somebody has closed the question as lost: a late answer is nobody's any more, and its transaction is taken back. */
class QuestionClosed {
  readonly _tag = "QuestionClosed";
}

/** Stores the answer with everything that follows from it, in one transaction. */
const finish = (
  operator: Operator,
  detail: UnknownDetail,
  question: Question,
  outcome: ProbeOutcome,
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const { tenantId } = operator;
    const { report } = outcome;
    yield* actForTenant(tenantId);
    // The effect's row first, as a person's resolution locks it.
    const settled = yield* settleOpen(operator, detail, outcome, askedProbeActor(operator.name));
    const stored = yield* sql`
      UPDATE unknown_probes SET answered_at = date_trunc('milliseconds', clock_timestamp()),
        finding = ${report.finding}, detail = ${columnText(report.detail)},
        result = ${report.result === undefined ? null : canonicalJson(report.result)},
        result_is_failure = ${report.isFailure ?? null}, settles = ${settled}
      WHERE tenant_id = ${tenantId} AND probe_id = ${question.probeId} AND answered_at IS NULL
      RETURNING probe_id`;
    if (stored.length === 0) return yield* Effect.fail(new QuestionClosed());
    yield* announce(
      { ...detail, tenantId },
      {
        _tag: "UnknownProbed",
        turn: detail.turn,
        callId: detail.callId,
        toolName: detail.toolName,
        unknownId: detail.unknownId,
        finding: report.finding,
        detail: report.detail,
        actor: actorOf(operator),
      },
    );
    yield* (yield* Audit).append({
      tenantId,
      actor: actorOf(operator),
      verb: "probe-unknown",
      target: detail.unknownId,
      runId: detail.runId,
      accepted: true,
      reason: report.detail,
      before: { state: detail.state },
      after: {
        state: settled ? "resolved" : detail.state,
        answered: question.probeId,
        finding: report.finding,
        settled,
      },
      commandId: null,
    });
    return settled;
  });

const ToolDigestRow = Schema.Struct({ toolDigest: Schema.String });

const toolDigestOf = (operator: Operator, detail: UnknownDetail) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    yield* actForTenant(operator.tenantId);
    const rows = yield* decodeRows(ToolDigestRow)(sql`
      SELECT tool_digest AS "toolDigest" FROM tool_calls
      WHERE tenant_id = ${operator.tenantId} AND run_id = ${detail.runId}
        AND turn = ${detail.turn} AND call_id = ${detail.callId}`);
    return rows[0]?.toolDigest ?? null;
  });

const gone: ProbeReport = {
  finding: "failed",
  detail: "Whoever asked went away before the destination answered.",
};

const ask = Effect.fnUntraced(function* (operator: Operator, detail: UnknownDetail) {
  const probes = yield* ToolProbes;
  const toolDigest = yield* transaction("probe-unknown", toolDigestOf(operator, detail)).pipe(
    Effect.orElseSucceed(() => null),
  );
  const { callId, idempotencyKey, parameters, toolName, turn } = detail;
  const outcome = yield* probes.ask({
    agentId: detail.agentId,
    call: { toolName, callId, turn, parameters, idempotencyKey },
    toolDigest,
  });
  return Option.getOrElse(outcome, (): ProbeOutcome => ({ report: gone, settles: undefined }));
});

/** Asks once per command id, at most one question about one effect at a time, and waits for the answer. */
export const probeUnknown = Effect.fn("operator.probeUnknown")(function* (
  operator: Operator,
  unknownId: UnknownId,
  { commandId }: ProbeUnknown,
) {
  const about = { operator, act: "probe-unknown", target: unknownId, commandId } as const;
  yield* requireRole(about);
  const detail = yield* readUnknownDetail(operator.tenantId, unknownId);
  let question: Question | undefined;
  const change = Effect.suspend(() => {
    if (detail.probeRule === null)
      return Effect.fail(
        refused(
          "no-probe",
          `The tool ${detail.toolName} has no probe to ask its destination with.`,
        ),
      );
    return detail.state === "resolved"
      ? Effect.fail(
          refused("settled", "This effect is resolved already; there is nothing left to ask."),
        )
      : begin(operator, detail, commandId, (opened) => {
          question = opened;
        });
  });
  yield* runCommand({ ...about, payload: {}, reason: "" }, change);
  if (question === undefined) return;
  const asked = question;
  // From the stored question on, an answer of some kind is always stored.
  yield* Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(restore(ask(operator, detail)));
      const outcome = Exit.isSuccess(exit) ? exit.value : { report: gone, settles: undefined };
      const settled = yield* transaction(
        "probe-unknown",
        finish(operator, detail, asked, outcome),
      ).pipe(
        Effect.catchTag("QuestionClosed", () => Effect.succeed(false)),
        orStoreUnavailable,
      );
      if (settled)
        yield* (yield* Wakes).wake({ tenantId: operator.tenantId, threadId: detail.threadId });
    }),
  );
});
