/**
 * One host process of the crash drill: admits the run (idempotently), drives it
 * through the cluster, approves what waits, and ends when the run is settled or
 * in doubt. `DRILL_FAILPOINT` kills it with SIGKILL at that place.
 */
import { NodeRuntime } from "@effect/platform-node";
import { Effect, Layer, Option, Redacted, Schema } from "effect";
import { SqlClient, SqlSchema } from "effect/unstable/sql";
import {
  AgentId,
  ApprovalRequestId,
  CommandId,
  Digest,
  OperatorId,
  RunId,
  TenantId,
  UnknownId,
  WorkerId,
} from "#lib/contract/ids.ts";
import type { Actor } from "#lib/contract/records.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { Wakes } from "#lib/durable/Wakes.ts";
import { AgentRegistry } from "#lib/host/AgentRegistry.ts";
import { RunToolAuthorization } from "#lib/run-options.ts";
import { AgentToolAuthorizationCheckError } from "#lib/agent-error.ts";
import { ThreadDriver } from "#lib/host/ThreadDriver.ts";
import { around, journalLayer, ledgerLayer, ReachFailpoint } from "#lib/testing/failpoints.ts";
import { ScriptedModel } from "#lib/testing/ScriptedModel.ts";
import { toolSchemasLayer } from "#server/agents/RegistryCatalogue.ts";
import { toolProbesLayer } from "#server/agents/RegistryProbes.ts";
import { singleProcessLayer } from "#server/cluster/placement.ts";
import { sweeperLayer } from "#server/cluster/Sweeper.ts";
import { threadEntityLayer, wakesLayer } from "#server/cluster/Thread.ts";
import { abortRun } from "#server/operator/abort-run.ts";
import { decideApproval } from "#server/operator/decide-approval.ts";
import { resolveUnknown } from "#server/operator/resolve-unknown.ts";
import * as Database from "#server/postgres/Database.ts";
import { EventHints } from "#server/postgres/EventHints.ts";
import * as EventLogPg from "#server/postgres/EventLogPg.ts";
import * as JournalPg from "#server/postgres/JournalPg.ts";
import { peopleLayer } from "#server/postgres/ports.ts";
import * as SubmissionLedgerPg from "#server/postgres/SubmissionLedgerPg.ts";
import {
  acknowledgeAndExport,
  goOnFromLater,
  moreTime,
  probeOnce,
  putOff,
} from "./drill-operator.ts";
import { loadSubject } from "./drill-subject.ts";

const failpoint = process.env["DRILL_FAILPOINT"] ?? "";
const key = process.env["DRILL_KEY"] ?? "drill-key-0";
const resolves = process.env["DRILL_RESOLVE"] === "1";
const tenantId = TenantId.make("default");
const scenario = process.env["DRILL_SCENARIO"] ?? "work";
const subject = await loadSubject(process.env["DRILL_TARGET"]);
const requester: Actor = { kind: "operator", id: "op-requester", name: "Requester" };
const approver = {
  tenantId,
  operatorId: OperatorId.make("opr_drill"),
  name: "Drill",
  email: "drill@localhost",
  role: "admin",
  proof: "bearer",
  credentialDigest: "0".repeat(64),
} as const;

const reachLayer = Layer.succeed(ReachFailpoint, (place) =>
  place === failpoint
    ? Effect.sync(() => {
        process.kill(process.pid, "SIGKILL");
      }).pipe(Effect.andThen(Effect.never))
    : Effect.void,
);

const storeLayer = Layer.mergeAll(
  journalLayer.pipe(Layer.provide(JournalPg.layer)),
  ledgerLayer.pipe(Layer.provide(SubmissionLedgerPg.layer)),
  EventLogPg.layer,
  peopleLayer,
).pipe(
  Layer.provide(EventHints.layer),
  Layer.provideMerge(Database.layer({ url: Redacted.make(process.env["DRILL_URL"] ?? "") })),
  Layer.provideMerge(reachLayer),
);

/** What the policy says to one call of the script, per scenario. */
const policyLayer = Layer.succeed(RunToolAuthorization, {
  authorize: ({ call }) => {
    if (call.toolCallId !== subject.guardedCallId || !["deny", "check-fail"].includes(scenario))
      return Effect.succeed({ _tag: "allowed" });
    return scenario === "deny"
      ? Effect.succeed({ _tag: "denied", reason: "No refunds in this drill." })
      : Effect.fail(
          new AgentToolAuthorizationCheckError({
            toolCallId: call.toolCallId,
            toolName: call.toolName,
            message: "The policy store is away.",
            cause: "drill",
          }),
        );
  },
});

const workerId = WorkerId.make(`worker-drill-${process.pid}`);
const hostLayer = Layer.mergeAll(
  threadEntityLayer,
  sweeperLayer,
  toolSchemasLayer,
  toolProbesLayer,
).pipe(
  Layer.provide(ThreadDriver.layer(workerId)),
  Layer.provideMerge(wakesLayer),
  Layer.provideMerge(singleProcessLayer),
  Layer.provideMerge(
    AgentRegistry.layer(Effect.all([subject.agent])).pipe(Layer.provide(policyLayer)),
  ),
  Layer.provideMerge(ScriptedModel.layer([], { whenExhausted: subject.script })),
  Layer.provideMerge(storeLayer),
);

const StateRow = Schema.Struct({ state: Schema.String });
const PendingRow = Schema.Struct({ requestId: ApprovalRequestId, digest: Digest });
const OpenRow = Schema.Struct({
  unknownId: UnknownId,
  digest: Digest,
  key: Schema.String,
  toolName: Schema.String,
});

const operate = Effect.fnUntraced(function* (runId: string) {
  const sql = yield* SqlClient.SqlClient;
  const pending = yield* SqlSchema.findAll({
    Request: Schema.String,
    Result: PendingRow,
    execute: (
      id,
    ) => sql`SELECT request_id AS "requestId", parameters_digest AS digest FROM approval_requests
      WHERE run_id = ${id} AND state = 'pending'`,
  })(runId);
  if (scenario === "abort" && pending.length > 0) {
    yield* abortRun(approver, RunId.make(runId), {
      commandId: CommandId.make(`abort-${runId}`),
      reason: "drill",
    }).pipe(around("abort-run"));
    return;
  }
  for (const { requestId, digest } of pending) {
    yield* moreTime(approver, requestId);
    yield* decideApproval(approver, requestId, {
      commandId: CommandId.make(`approve-${requestId}`),
      decision: "approved",
      parametersDigest: digest,
      reason: "drill",
    }).pipe(around("decide-approval"));
  }
  if (!resolves) return;
  const open = yield* SqlSchema.findAll({
    Request: Schema.String,
    Result: OpenRow,
    execute: (
      id,
    ) => sql`SELECT u.unknown_id AS "unknownId", u.tool_name AS "toolName", t.parameters_digest AS digest,
        t.idempotency_key AS key
      FROM unknown_outcomes u JOIN tool_calls t USING (tenant_id, run_id, turn, call_id)
      WHERE u.run_id = ${id} AND u.state = 'open'`,
  })(runId);
  for (const { unknownId, digest, key: callKey, toolName } of open) {
    yield* probeOnce(approver, unknownId);
    const times = yield* subject.timesDone(callKey);
    yield* resolveUnknown(approver, unknownId, {
      commandId: CommandId.make(`resolve-${unknownId}`),
      parametersDigest: digest,
      reason: "drill",
      evidence: "the provider's own table",
      ...(times > 0
        ? {
            resolution: "completed-with-result",
            result: subject.resultOf(toolName),
            isFailure: false,
          }
        : { resolution: "never-happened" }),
    }).pipe(around("resolve-unknown"));
  }
});

const main = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const ledger = yield* SubmissionLedger;
  const wakes = yield* Wakes;
  const receipt = yield* ledger.admit({
    tenantId,
    agentId: AgentId.make("drill"),
    threadId: undefined,
    principal: requester,
    idempotencyKey: key,
    input: "go",
    title: "drill",
  });
  if (scenario === "wake" || scenario === "retry") {
    yield* putOff(receipt.runId, scenario);
    yield* goOnFromLater(approver, receipt.runId, scenario);
  } else yield* wakes.wake({ tenantId, threadId: receipt.threadId });
  const stateOf = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: StateRow,
    execute: (runId) => sql`SELECT state FROM runs WHERE run_id = ${runId}`,
  });
  for (;;) {
    const state = Option.match(yield* stateOf(receipt.runId), {
      onNone: () => "queued",
      onSome: (row) => row.state,
    });
    const isTerminal = ["completed", "failed", "aborted"].includes(state);
    if (isTerminal || (state === "unknown" && !resolves)) {
      if (isTerminal) yield* acknowledgeAndExport(approver, receipt.runId);
      console.log(JSON.stringify({ runId: receipt.runId, state }));
      return;
    }
    yield* operate(receipt.runId).pipe(Effect.ignore);
    yield* Effect.sleep("50 millis");
  }
}).pipe(Effect.timeout("60 seconds"), Effect.provide(hostLayer));

NodeRuntime.runMain(main);
