/** Gives an agent work: the receipt comes only after durable admission (DU-11). */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { SubmissionReceipt, SubmitInput } from "#lib/contract/commands.ts";
import { InvalidInput } from "#lib/contract/errors.ts";
import { AgentId, type ThreadId } from "#lib/contract/ids.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { Wakes } from "#lib/durable/Wakes.ts";
import { Audit } from "#lib/durable/Audit.ts";
import { transaction } from "#server/postgres/Database.ts";
import { AgentCatalogue } from "#server/views/AgentCatalogue.ts";
import { notFound } from "#server/views/require-run.ts";
import { actForTenant, decodeRows, orStoreUnavailable } from "#server/views/snapshot.ts";
import { boundedJson } from "./bounded-json.ts";
import { inputTitle } from "./input-title.ts";
import { actorOf, type Operator, refuse, requireRole } from "./run-command.ts";

/** Canonical UTF-8 bytes of one input. */
export const maxInputBytes = 65_536;

/** The agent is registered and the input is what it takes. */
const checkInput = Effect.fnUntraced(function* (command: SubmitInput) {
  const catalogue = yield* AgentCatalogue;
  const agents = yield* catalogue.list();
  if (!agents.some((agent) => agent.agentId === command.agentId)) return yield* notFound("agent");
  yield* boundedJson(command.input, { path: "body.input", maxBytes: maxInputBytes });
  yield* catalogue.checkInput(command);
});

const ThreadRow = Schema.Struct({ agentId: AgentId });

/** A named thread exists in this tenant and belongs to the same agent. */
const checkThread = (operator: Operator, command: SubmitInput, threadId: ThreadId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const rows = yield* decodeRows(ThreadRow)(sql`
      SELECT agent_id AS "agentId" FROM threads
      WHERE tenant_id = ${operator.tenantId} AND thread_id = ${threadId}`);
    const thread = rows[0] ?? (yield* notFound("thread"));
    if (thread.agentId === command.agentId) return;
    return yield* new InvalidInput({
      message: `This thread belongs to the agent ${thread.agentId}; a thread has one agent.`,
      path: "body.agentId",
      limit: thread.agentId,
      seen: command.agentId,
    });
  });

/** One audit row per submission, however often the same key is sent. */
const auditOnce = (operator: Operator, command: SubmitInput, receipt: SubmissionReceipt) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const audit = yield* Audit;
    const written = yield* sql`
      SELECT 1 AS written FROM audit_log WHERE tenant_id = ${operator.tenantId}
        AND run_id = ${receipt.runId} AND verb = 'submit-input' AND accepted LIMIT 1`;
    if (written.length > 0) return;
    // The ledger's own hint was given before the commit; this one arrives with it.
    yield* sql`SELECT pg_notify('effect_agent', ${`inbox ${operator.tenantId}`})`;
    yield* audit.append({
      tenantId: operator.tenantId,
      actor: actorOf(operator),
      verb: "submit-input",
      target: receipt.submissionId,
      runId: receipt.runId,
      accepted: true,
      reason: "",
      before: null,
      after: { agentId: command.agentId, ...receipt },
      commandId: null,
    });
  });

const admit = (operator: Operator, command: SubmitInput, idempotencyKey: string) =>
  Effect.gen(function* () {
    const ledger = yield* SubmissionLedger;
    yield* actForTenant(operator.tenantId);
    if (command.threadId !== undefined) yield* checkThread(operator, command, command.threadId);
    const catalogue = yield* AgentCatalogue;
    const receipt = yield* ledger.admit({
      tenantId: operator.tenantId,
      agentId: command.agentId,
      threadId: command.threadId,
      principal: actorOf(operator),
      idempotencyKey,
      input: command.input,
      title: inputTitle(command.input),
      unknownPolicy: yield* catalogue.unknownPolicyOf(command.agentId),
    });
    yield* auditOnce(operator, command, receipt);
    return receipt;
  });

export const submitInput = Effect.fn("operator.submitInput")(function* (
  operator: Operator,
  command: SubmitInput,
  idempotencyKey: string,
) {
  const about = {
    operator,
    act: "submit-input",
    target: command.agentId,
    commandId: idempotencyKey,
  } as const;
  yield* requireRole(about);
  const receipt = yield* checkInput(command).pipe(
    Effect.andThen(transaction("submit-input", admit(operator, command, idempotencyKey))),
    Effect.catchTags({
      NotFound: (error) => refuse(about, error),
      InvalidInput: (error) => refuse(about, error),
      IdempotencyConflict: (error) => refuse(about, error),
    }),
    orStoreUnavailable,
  );
  yield* (yield* Wakes).wake({ tenantId: operator.tenantId, threadId: receipt.threadId });
  return receipt;
});
