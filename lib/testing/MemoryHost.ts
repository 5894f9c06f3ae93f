/**
 * A durable host in memory, for tests of agents: the same interpreter, claims,
 * epochs and waits for people as a host on a database, over ports that forget
 * everything with the process. **Not durable**; nothing runs by itself: a test says
 * when the host works, so what it sees does not depend on time.
 *
 * ```ts
 * import { MemoryHost } from "effect-agent/testing/MemoryHost"
 *
 * const host = yield* MemoryHost
 * const receipt = yield* host.submit({ agentId: "cashier", input: "refund 5" })
 * const waiting = yield* host.work(receipt)          // waiting.state is "waiting"
 * yield* host.approve(waiting.approvals[0])
 * const done = yield* host.work(receipt)             // done.state is "completed"
 * ```
 */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import type { ApprovalRefusal } from "#lib/approval/judge-approval.ts";
import type { SubmissionReceipt } from "#lib/contract/commands.ts";
import type { IdempotencyConflict, NotFound, RunAlreadySettled } from "#lib/contract/errors.ts";
import { AgentId, TenantId, type ThreadId, WorkerId } from "#lib/contract/ids.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { Actor, FailureSummary, RunRecord } from "#lib/contract/records.ts";
import type { ResolutionKind, RunOutcome } from "#lib/contract/status.ts";
import { Approvals, type StoredApproval } from "#lib/durable/Approvals.ts";
import { Journal } from "#lib/durable/Journal.ts";
import type { ResolutionRefusal } from "#lib/durable/judge-resolution.ts";
import { layerMemory } from "#lib/durable/memory/layer.ts";
import { foldRecords } from "#lib/durable/run-state.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { type StoredUnknown, Unknowns } from "#lib/durable/Unknowns.ts";
import { AgentRegistry, type RegisteredAgent } from "#lib/host/AgentRegistry.ts";
import { ThreadDriver } from "#lib/host/ThreadDriver.ts";

/** A run as it stands after the host has worked. */
export interface RunSnapshot {
  /** `queued`: nothing of it has run, or it waits behind another; `running`: given back to be tried later. */
  readonly state: "queued" | "running" | "waiting" | "unknown" | RunOutcome;
  /** Encoded by the agent's output schema; undefined unless completed. */
  readonly output: Json | undefined;
  readonly failure: FailureSummary | undefined;
  /** Pending requests only. */
  readonly approvals: ReadonlyArray<StoredApproval>;
  /** Doubts that nobody has resolved. */
  readonly unknowns: ReadonlyArray<StoredUnknown>;
  /** Every record of the run, in order. */
  readonly records: ReadonlyArray<RunRecord>;
}

export interface Submission {
  readonly agentId: string;
  /** Encoded by the agent's input schema. */
  readonly input: Json;
  readonly threadId?: ThreadId;
  /** Default: one of its own, so that every submission is a new run. */
  readonly idempotencyKey?: string;
}

export interface Resolution {
  readonly resolution: ResolutionKind;
  readonly result?: Json;
  readonly isFailure?: boolean;
}

const tenantId = TenantId.make("memory");
const requester: Actor = { kind: "operator", id: "requester", name: "Requester" };
/** Who answers; another person than the one who asked. */
const answerer: Actor = { kind: "operator", id: "answerer", name: "Answerer" };

export class MemoryHost extends Context.Service<
  MemoryHost,
  {
    readonly submit: (
      submission: Submission,
    ) => Effect.Effect<SubmissionReceipt, IdempotencyConflict>;
    /** Works on the run's thread until nothing of it is due, and tells where the run is then. */
    readonly work: (receipt: SubmissionReceipt) => Effect.Effect<RunSnapshot>;
    readonly look: (receipt: SubmissionReceipt) => Effect.Effect<RunSnapshot>;
    readonly approve: (request: StoredApproval) => Effect.Effect<void, ApprovalRefusal | NotFound>;
    readonly deny: (
      request: StoredApproval,
      reason: string,
    ) => Effect.Effect<void, ApprovalRefusal | NotFound>;
    readonly resolve: (
      unknown: StoredUnknown,
      resolution: Resolution,
    ) => Effect.Effect<void, ResolutionRefusal | NotFound>;
    readonly abort: (
      receipt: SubmissionReceipt,
      reason: string,
    ) => Effect.Effect<void, NotFound | RunAlreadySettled>;
  }
>()("effect-agent/testing/MemoryHost") {
  /**
   * The host and its ports, each build a new and empty one. Policies that stand
   * around the layer (authorization, approval rules, visibility) are captured as by
   * any host.
   */
  static readonly layer = <E, R>(agents: Effect.Effect<ReadonlyArray<RegisteredAgent>, E, R>) =>
    Layer.effect(MemoryHost, make).pipe(
      Layer.provideMerge(ThreadDriver.layer(WorkerId.make("memory-worker"))),
      Layer.provideMerge(AgentRegistry.layer(agents)),
      Layer.provideMerge(layerMemory),
    );
}

const snapshotOf = (
  records: ReadonlyArray<RunRecord>,
  approvals: ReadonlyArray<StoredApproval>,
  unknowns: ReadonlyArray<StoredUnknown>,
): RunSnapshot => {
  const { settled, suspended, opened } = foldRecords(records);
  const waits = suspended?.waitingFor === "approval" ? "waiting" : "unknown";
  const open = suspended === undefined ? "running" : waits;
  return {
    state: settled?.outcome ?? (opened === undefined ? "queued" : open),
    output: settled?.output,
    failure: settled?.failure,
    approvals: approvals.filter((row) => row.state === "pending"),
    unknowns: unknowns.filter((row) => row.state === "open"),
    records,
  };
};

const make = Effect.gen(function* () {
  const approvals = yield* Approvals;
  const driver = yield* ThreadDriver;
  const journal = yield* Journal;
  const ledger = yield* SubmissionLedger;
  const unknowns = yield* Unknowns;
  let submitted = 0;

  const look = Effect.fn("MemoryHost.look")(function* ({ threadId, runId }: SubmissionReceipt) {
    const stored = yield* journal.read({ tenantId, threadId, runId, after: 0, limit: 10_000 });
    return snapshotOf(
      stored.map(({ record }) => record),
      yield* approvals.ofRun({ tenantId, runId }),
      yield* unknowns.ofRun({ tenantId, runId }),
    );
    // Memory always answers: a store error here is a bug.
  }, Effect.orDie);

  const decide = (request: StoredApproval, decision: "approved" | "denied", reason: string) =>
    approvals
      .decide({
        tenantId,
        requestId: request.requestId,
        actor: answerer,
        decision,
        parametersDigest: request.parametersDigest,
        reason,
        commandId: null,
      })
      .pipe(Effect.catchTag("StoreError", Effect.die), Effect.asVoid);

  return MemoryHost.of({
    look,
    submit: ({ agentId, input, threadId, idempotencyKey }) =>
      ledger
        .admit({
          tenantId,
          agentId: AgentId.make(agentId),
          threadId,
          principal: requester,
          idempotencyKey: idempotencyKey ?? `submission-${++submitted}`,
          input,
          title: agentId,
        })
        .pipe(Effect.catchTag("StoreError", Effect.die)),
    work: (receipt) =>
      approvals
        .expire(1_000)
        .pipe(
          Effect.orDie,
          Effect.andThen(driver.drive({ tenantId, threadId: receipt.threadId })),
          Effect.andThen(look(receipt)),
        ),
    approve: (request) => decide(request, "approved", ""),
    deny: (request, reason) => decide(request, "denied", reason),
    resolve: (unknown, resolution) =>
      unknowns
        .resolve({
          ...resolution,
          tenantId,
          unknownId: unknown.unknownId,
          actor: answerer,
          parametersDigest: unknown.parametersDigest,
          reason: "A test says so.",
          evidence: "a test",
          commandId: null,
        })
        .pipe(Effect.catchTag("StoreError", Effect.die), Effect.asVoid),
    abort: ({ runId }, reason) =>
      ledger
        .abort({ tenantId, runId, actor: answerer, reason, commandId: null })
        .pipe(Effect.catchTag("StoreError", Effect.die), Effect.asVoid),
  });
});
