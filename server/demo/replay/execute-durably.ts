/**
 * The durable runtime's whole path: each task is admitted as a submission of its
 * own thread, claimed, driven to its settlement and read back from the journal.
 */
import { Effect, Layer } from "effect";
import { SqlClient } from "effect/unstable/sql";

import * as Agent from "#lib/agent/Agent.ts";
import { ApprovalPolicy } from "#lib/approval/ApprovalPolicy.ts";
import { TenantId, WorkerId } from "#lib/contract/ids.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { AgentRegistry, register } from "#lib/host/AgentRegistry.ts";
import { ThreadDriver } from "#lib/host/ThreadDriver.ts";
import { ScriptedModel } from "#lib/testing/ScriptedModel.ts";

import { RetailPolicy } from "../policy.ts";
import { RetailDeskHandlers } from "../RetailDesk.ts";
import { resultText } from "./json-equal.ts";
import type { RecordedTask } from "./recorded-tasks.ts";
import {
  callIdOf,
  recordedTurn,
  replayApprovalRule,
  replayDesk,
  taskInput,
} from "./recorded-turns.ts";

const tenantId = TenantId.make("replay");
const maxRecords = 10_000;

/** Approves everything, by name: the recordings are of confirmed calls. */
const replayApprovals = Layer.succeed(ApprovalPolicy, {
  decide: () =>
    Effect.succeed({
      _tag: "approve" as const,
      rule: replayApprovalRule,
      reason: "Recorded and confirmed.",
    }),
});

const tenant = Layer.effectDiscard(
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`INSERT INTO tenants (tenant_id, name) VALUES (${tenantId}, 'Replay') ON CONFLICT DO NOTHING`,
  ),
);

/** A host that runs the replay desk with a model that plays `tasks`; needs the store's ports and the shop. */
export const durableReplayHost = (tasks: ReadonlyArray<RecordedTask>) => {
  const registry = AgentRegistry.layer(
    Effect.all([register(Agent.bind(replayDesk, RetailDeskHandlers))]),
  ).pipe(Layer.provide([RetailPolicy, replayApprovals]));
  const model = ScriptedModel.layer([], { whenExhausted: recordedTurn(tasks) });
  return Layer.merge(ThreadDriver.layer(WorkerId.make("replay")), tenant).pipe(
    Layer.provide(Layer.mergeAll(registry, model)),
  );
};

export const executeDurably = Effect.fn("executeDurably")(function* (task: RecordedTask) {
  const ledger = yield* SubmissionLedger;
  const { threadId, runId } = yield* ledger.admit({
    tenantId,
    agentId: replayDesk.id,
    threadId: undefined,
    principal: { kind: "system", id: "replay", name: "Replay" },
    idempotencyKey: `recorded task ${task.index}`,
    input: taskInput(task),
    title: `Recorded task ${task.index}`,
  });
  yield* (yield* ThreadDriver).drive({ tenantId, threadId });
  const stored = yield* (yield* Journal).read({
    tenantId,
    threadId,
    runId,
    after: 0,
    limit: maxRecords,
  });
  const results = new Map<string, string>(
    stored.flatMap(({ record }) =>
      record._tag === "ToolCallSettled"
        ? [[record.callId, resultText(record.result)] as const]
        : [],
    ),
  );
  return task.actions.map((_, index) => results.get(callIdOf(index)) ?? "");
});
