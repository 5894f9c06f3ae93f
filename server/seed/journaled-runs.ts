/**
 * Runs with whole journals, written through the same ports as the host's own: admitted, claimed,
 * appended, so that their chains, projections and events are right by construction. They belong to the
 * agents that this version defines, within their budgets, and what a person is asked is built by each
 * tool's own rule: an open one can be decided and goes on when a host starts.
 */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import type { Definition } from "#lib/agent/Agent.ts";
import { definitionDigestOf, toolDigestOf } from "#lib/agent/definition-digest.ts";
import { buildRequestContent } from "#lib/approval/request-content.ts";
import { ExposureSnapshot } from "#lib/contract/exposure.ts";
import { AgentId, Digest, type TenantId, ToolCallId, WorkerId } from "#lib/contract/ids.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { Actor, DeclaredCall, RecordOf, RunRecord } from "#lib/contract/records.ts";
import {
  approvalRequestIdOf,
  denialIdOf,
  idempotencyKeyOf,
  unknownIdOf,
} from "#lib/durable/derived-ids.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { eventsOf } from "#lib/durable/record-events.ts";
import { type Claim, SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { executionClassOf } from "#lib/durable-step.ts";
import { retailDesk, RetailDeskToolkit } from "#server/demo/RetailDesk.ts";

const seeder = WorkerId.make("worker-seed");
const requester: Actor = { kind: "operator", id: "opr_administrator", name: "Administrator" };
const tools = RetailDeskToolkit.tools;
type ToolName = keyof typeof tools;

/** The desk's tools need no services to be read. */
const decoded = (tool: (typeof tools)[ToolName], parameters: Json): unknown =>
  Schema.decodeUnknownSync(tool.parametersSchema as Schema.ConstraintCodec<unknown, unknown>)(
    parameters,
  );

const exposed = Object.keys(tools);
const exposure = new ExposureSnapshot({
  exposed,
  pins: [],
  discoveryTools: ["discover_tools"],
  eager: false,
  selectionSource: "initial",
  selected: exposed,
  schemaBytes: 21_400,
  maxTools: 48,
  maxSchemaBytes: 131_072,
  hiddenByVisibility: [],
  hiddenByVisibilityCount: 0,
  notSelected: [],
  notSelectedCount: 0,
  warnings: [],
});

/** One call of a turn: which tool, with what, and whether a person is asked. */
export interface SeedCall {
  readonly tool: ToolName;
  readonly parameters: Json;
  readonly asks?: boolean;
}

/** Appends behind its own tail, as one owner does, and counts the events it caused. */
export class SeedRun {
  private tail: Claim["tail"];
  /** Moves on with each append: a turn begins where the one before ended. */
  private clock: number;
  private batch = 0;
  events = 1;

  constructor(
    readonly definition: Definition,
    readonly claim: Claim,
    readonly startedAt: number,
  ) {
    this.tail = claim.tail;
    this.clock = startedAt;
  }

  readonly append = Effect.fnUntraced(
    function* (this: SeedRun, records: ReadonlyArray<RunRecord>) {
      const journal = yield* Journal;
      this.batch += 1;
      const receipt = yield* journal.append({
        tenantId: this.claim.tenantId,
        threadId: this.claim.threadId,
        runId: this.claim.runId,
        agentId: this.claim.agentId,
        epoch: this.claim.epoch,
        expectedTail: this.tail,
        batchId: `seed-${this.claim.epoch}-${this.batch}`,
        records,
        events: [],
        diagnostics: [],
      });
      this.tail = receipt.tail;
      this.clock = receipt.recordedAt;
      this.events += records.reduce((sum, record) => sum + eventsOf(record).length, 0);
    }.bind(this),
  );

  private call(turn: number, index: number, call: SeedCall) {
    return {
      runId: this.claim.runId,
      turn,
      callId: ToolCallId.make(`call_${turn}_${index}`),
      toolName: call.tool,
    };
  }

  private place(turn: number, index: number) {
    const { tenantId, runId } = this.claim;
    return { tenantId, runId, turn, callId: ToolCallId.make(`call_${turn}_${index}`) };
  }

  readonly opened = (): ReadonlyArray<RunRecord> => [
    {
      _tag: "RunOpened",
      runId: this.claim.runId,
      submissionId: this.claim.submissionId,
      agentId: this.claim.agentId,
      definitionDigest: definitionDigestOf(this.definition),
      modelId: "rehearsal",
      input: this.claim.input,
      requester,
    },
    {
      _tag: "AttemptStarted",
      runId: this.claim.runId,
      attempt: 1,
      epoch: this.claim.epoch,
      decision: "first-attempt",
      explanation: "The first attempt at this run.",
    },
  ];

  readonly turn = (turn: number, calls: ReadonlyArray<SeedCall>, text: string): RunRecord => ({
    _tag: "TurnRecorded",
    runId: this.claim.runId,
    turn,
    response: calls.map((call, index) => ({
      type: "tool-call",
      id: `call_${turn}_${index}`,
      name: call.tool,
      params: call.parameters,
      providerExecuted: false,
    })),
    text,
    calls: calls.map((call, index): DeclaredCall => ({
      callId: ToolCallId.make(`call_${turn}_${index}`),
      index,
      toolName: call.tool,
      parameters: call.parameters,
      effectiveParameters: call.parameters,
      parametersDigest: Digest.make(digestOf(call.parameters)),
      providerExecuted: false,
      executionClass: executionClassOf(tools[call.tool]),
      toolDigest: toolDigestOf(tools[call.tool]),
      needsApproval: call.asks === true,
    })),
    rejections: [],
    exposure,
    finishReason: calls.length === 0 ? "stop" : "tool-calls",
    usage: { inputTokens: 900 + 17 * turn, outputTokens: 60 + turn },
    startedAt: this.clock,
  });

  readonly asked = (turn: number, calls: ReadonlyArray<SeedCall>): ReadonlyArray<RunRecord> =>
    calls.flatMap((call, index): ReadonlyArray<RunRecord> => {
      if (call.asks !== true) return [];
      const requestId = approvalRequestIdOf(this.place(turn, index));
      const tool = tools[call.tool];
      const request = Result.getOrThrow(
        buildRequestContent({
          requestId,
          agentId: this.claim.agentId,
          threadId: this.claim.threadId,
          runId: this.claim.runId,
          submissionId: this.claim.submissionId,
          turnId: `turn-${turn}`,
          turnNumber: turn,
          callId: ToolCallId.make(`call_${turn}_${index}`),
          parameters: call.parameters,
          effectiveParameters: call.parameters,
          parametersDigest: Digest.make(digestOf(call.parameters)),
          requestedAt: this.startedAt,
          requester: requester.name,
          tool,
          decodedParameters: decoded(tool, call.parameters),
        }),
      );
      return [{ _tag: "ApprovalRequested", ...this.call(turn, index, call), requestId, request }];
    });

  readonly prepared = (turn: number, index: number, call: SeedCall): RunRecord => ({
    _tag: "ToolCallPrepared",
    ...this.call(turn, index, call),
    executionClass: executionClassOf(tools[call.tool]),
    parametersDigest: Digest.make(digestOf(call.parameters)),
    idempotencyKey: idempotencyKeyOf(this.place(turn, index)),
    attempt: 1,
  });

  /** Its times follow the append before it, so it belongs into a later append than the call's turn. */
  readonly settled = (
    turn: number,
    index: number,
    call: SeedCall,
    end: Pick<RecordOf<"ToolCallSettled">, "kind" | "result" | "isFailure"> &
      Partial<RecordOf<"ToolCallSettled">>,
  ): RunRecord => ({
    _tag: "ToolCallSettled",
    ...this.call(turn, index, call),
    originalBytes: 2 + JSON.stringify(end.result).length,
    source: "handler",
    startedAt: this.clock,
    endedAt: this.clock + 3 + (index % 7),
    ...end,
  });

  readonly deniedByPolicy = (
    turn: number,
    index: number,
    call: SeedCall,
    reason: string,
  ): RunRecord => ({
    _tag: "AuthorizationDenied",
    ...this.call(turn, index, call),
    denialId: denialIdOf(this.place(turn, index), "denial"),
    reason,
  });

  readonly unknown = (turn: number, index: number, call: SeedCall): RunRecord => ({
    _tag: "ToolCallUnknown",
    ...this.call(turn, index, call),
    unknownId: unknownIdOf(this.place(turn, index), 1),
    reason: "process-lost",
    detail: "The process that had prepared this call was lost before it recorded an answer.",
    afterSettlement: false,
  });

  readonly suspended = (waitingFor: "approval" | "unknown"): RunRecord => ({
    _tag: "RunSuspended",
    runId: this.claim.runId,
    attempt: 1,
    waitingFor,
    activeMillis: 900,
  });

  readonly settledRun = (
    end: Pick<RecordOf<"RunSettled">, "outcome" | "finishReason" | "output" | "failure">,
  ): RunRecord => ({
    _tag: "RunSettled",
    runId: this.claim.runId,
    submissionId: this.claim.submissionId,
    ...end,
  });
}

/** Admits and claims one run, of the retail desk unless said otherwise, and records its input. */
export const openSeedRun = Effect.fn("seed.openSeedRun")(function* (
  tenantId: TenantId,
  title: string,
  key: string,
  definition: Definition = retailDesk,
) {
  const ledger = yield* SubmissionLedger;
  const receipt = yield* ledger.admit({
    tenantId,
    agentId: AgentId.make(definition.id),
    threadId: undefined,
    principal: requester,
    idempotencyKey: key,
    input: title,
    title: title.slice(0, 200),
  });
  const claimed = yield* ledger.claim({
    tenantId,
    threadId: receipt.threadId,
    workerId: seeder,
  });
  if (Option.isNone(claimed))
    return yield* Effect.die(new Error(`Run ${receipt.runId} was admitted and cannot be claimed.`));
  const run = new SeedRun(definition, claimed.value, yield* Clock.currentTimeMillis);
  yield* run.append(run.opened());
  return run;
});
