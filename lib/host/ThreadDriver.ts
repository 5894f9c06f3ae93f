/**
 * Drives one thread: claim its head, interpret it, and go on until nothing is
 * due. Every claim is a new epoch, so two processes that both believe they drive
 * a thread cannot both write (PG-03).
 */
import * as Cause from "effect/Cause";
import * as Context from "effect/Context";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Layer from "effect/Layer";
import * as LanguageModel from "effect/unstable/ai/LanguageModel";
import * as Model from "effect/unstable/ai/Model";
import * as Option from "effect/Option";
import { ApprovalPolicy } from "#lib/approval/ApprovalPolicy.ts";
import type { TenantId, ThreadId, WorkerId } from "#lib/contract/ids.ts";
import type { RunRecord } from "#lib/contract/records.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { foldRecords } from "#lib/durable/run-state.ts";
import { FenceRejected, StoreError } from "#lib/durable/StoreError.ts";
import { type Claim, SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { currentModelCodec } from "#lib/engine/ModelCodec.ts";
import type { RunContext } from "#lib/engine/RunContext.ts";
import { type DurabilityError, RunDurability } from "#lib/engine/RunDurability.ts";
import { interpret, type RunEnd } from "#lib/engine/RunLoop.ts";
import { settlementRecords } from "#lib/engine/settlement-records.ts";
import { AgentRegistry, type RegisteredAgent } from "./AgentRegistry.ts";
import { type JournalWriter, makeJournalWriter } from "./JournalWriter.ts";

/** A thread of one tenant. */
export interface ThreadRef {
  readonly tenantId: TenantId;
  readonly threadId: ThreadId;
}

/** Attempts that ended without suspending or settling before the run is given up as poison. */
export const maxLostAttempts = 8;

/** How long a run waits after its n-th lost attempt: 1 s doubling to 5 minutes. */
export const backoffSeconds = (lostAttempts: number): number => Math.min(300, 2 ** Math.min(lostAttempts, 9));

export class ThreadDriver extends Context.Service<
  ThreadDriver,
  {
    /** Works until nothing of the thread is due. Never fails: what goes wrong is recorded or postponed. */
    readonly drive: (thread: ThreadRef) => Effect.Effect<void>;
    /** Tells a thread that is being driven here to look for commands; others ignore it. */
    readonly nudge: (thread: ThreadRef) => Effect.Effect<void>;
  }
>()("effect-agent/host/ThreadDriver") {
  static readonly layer = (
    workerId: WorkerId,
  ): Layer.Layer<
    ThreadDriver,
    never,
    AgentRegistry | Journal | SubmissionLedger | LanguageModel.LanguageModel
  > => Layer.effect(ThreadDriver, make(workerId));
}

const contextOf = (
  claim: Claim,
  agent: RegisteredAgent,
  attempt: number,
  host: Pick<RunContext, "codec" | "modelId"> & { readonly policies: AgentRegistry["Service"]["policies"] },
): RunContext => ({
  definition: agent.definition,
  definitionDigest: agent.definitionDigest,
  tenantId: claim.tenantId,
  threadId: claim.threadId,
  runId: claim.runId,
  submissionId: claim.submissionId,
  attempt,
  epoch: claim.epoch,
  modelId: host.modelId,
  input: claim.input,
  requester: claim.requester,
  history: claim.history.map((stored) => stored.record),
  handlers: agent.handlers,
  codec: host.codec,
  concurrency: agent.definition.policy.toolConcurrency,
  scheduling: host.policies.scheduling,
  authorization: host.policies.authorization,
  visibility: host.policies.visibility,
  hostSelection: undefined,
  resultBytes: agent.definition.policy.toolResultBounds.maxBytes,
  services: agent.services,
  reconcile: agent.reconcile,
});

const keyOf = ({ tenantId, threadId }: ThreadRef): string => JSON.stringify([tenantId, threadId]);

const make = Effect.fnUntraced(function* (workerId: WorkerId) {
  const registry = yield* AgentRegistry;
  const ledger = yield* SubmissionLedger;
  const journal = yield* Journal;
  const model = yield* LanguageModel.LanguageModel;
  const host = {
    codec: yield* currentModelCodec,
    modelId: Option.getOrElse(yield* Effect.serviceOption(Model.ModelName), () => "unknown"),
    policies: registry.policies,
  };
  /** Bells of the threads driven here; the value is rung when a command may have arrived. */
  const bells = new Map<string, Deferred.Deferred<void>>();

  /** Completes once an abort of this run is stored; looks again whenever the bell rings. */
  const awaitAbort = (claim: Claim): Effect.Effect<ReadonlyArray<RunRecord>> =>
    Effect.gen(function* () {
      for (;;) {
        const bell = yield* Deferred.make<void>();
        bells.set(keyOf(claim), bell);
        const waiting = yield* ledger
          .undelivered({ tenantId: claim.tenantId, runId: claim.runId })
          .pipe(Effect.orElseSucceed((): ReadonlyArray<RunRecord> => []));
        if (waiting.some((record) => record._tag === "AbortRequested")) return waiting;
        yield* Deferred.await(bell);
      }
    });

  const runOnce = (claim: Claim, agent: RegisteredAgent, writer: JournalWriter, deliver: ReadonlyArray<RunRecord>) => {
    const stored = writer.records();
    const context = contextOf(claim, agent, foldRecords(stored).attempts + 1, host);
    return interpret(context, stored, deliver).pipe(
      Effect.provideService(RunDurability, writer.durability),
      Effect.provideService(LanguageModel.LanguageModel, model),
      // Captured with the host, so that a worker's own surroundings change nothing (S-04, A-13).
      Effect.provideService(ApprovalPolicy, registry.policies.approval),
    );
  };

  const poison = (claim: Claim, agent: RegisteredAgent, writer: JournalWriter): Effect.Effect<void, DurabilityError> => {
    const evidence = foldRecords(writer.records());
    const context = contextOf(claim, agent, evidence.attempts + 1, host);
    const turn = evidence.turns.at(-1);
    const inDoubt = turn?.calls.filter((call) => call.prepared !== undefined && call.settled === undefined && call.unknown === undefined) ?? [];
    return writer.durability.record(
      settlementRecords(
        context,
        turn,
        inDoubt,
        {
          outcome: "failed",
          finishReason: "poisoned",
          failure: {
            errorTag: "AttemptsExhausted",
            message: `${claim.lostAttempts} attempts ended without a result; the limit is ${maxLostAttempts}. The run is given up rather than tried for ever.`,
          },
        },
        "run-ended",
      ),
    );
  };

  /** One attempt, and a second one at once when an abort interrupts the first. */
  const attempt = (claim: Claim, agent: RegisteredAgent): Effect.Effect<RunEnd | undefined, DurabilityError> =>
    Effect.scoped(
      Effect.gen(function* () {
        const writer = yield* makeJournalWriter(claim).pipe(Effect.provideService(Journal, journal));
        if (claim.lostAttempts >= maxLostAttempts) {
          yield* poison(claim, agent, writer);
          return undefined;
        }
        const first = yield* Effect.raceFirst(
          Effect.map(runOnce(claim, agent, writer, claim.undelivered), (end) => ({ _tag: "ended" as const, end })),
          Effect.map(awaitAbort(claim), (records) => ({ _tag: "abort" as const, records })),
        ).pipe(Effect.ensuring(Effect.sync(() => bells.delete(keyOf(claim)))));
        if (first._tag === "ended") return first.end;
        return yield* runOnce(claim, agent, writer, first.records);
      }),
    );

  const postpone = (claim: Claim, reason: string, delaySeconds = backoffSeconds(claim.lostAttempts)) =>
    ledger
      .postpone({
        tenantId: claim.tenantId,
        threadId: claim.threadId,
        submissionId: claim.submissionId,
        epoch: claim.epoch,
        delaySeconds,
        reason: reason.slice(0, 500),
      })
      // The store is what failed, or a newer owner has the thread: the sweeper finds it in either case.
      .pipe(Effect.ignore);

  const driveClaim = Effect.fn("ThreadDriver.attempt")(function* (claim: Claim) {
    yield* Effect.annotateCurrentSpan({ runId: claim.runId, threadId: claim.threadId, epoch: claim.epoch });
    const agent = registry.get(claim.agentId);
    if (Option.isNone(agent)) {
      yield* postpone(claim, `No agent named ${claim.agentId} is registered in this host.`);
      return false;
    }
    const exit = yield* attempt(claim, agent.value).pipe(
      // Handing over: whoever drives the thread next takes it up at once.
      Effect.onInterrupt(() => postpone(claim, "This process let go of the thread.", 0)),
      Effect.exit,
    );
    if (Exit.isSuccess(exit)) return true;
    if (Cause.hasInterruptsOnly(exit.cause)) return yield* Effect.failCause(exit.cause as Cause.Cause<never>);
    const failure = exit.cause.reasons.find(Cause.isFailReason)?.error;
    if (failure instanceof FenceRejected) return false;
    yield* Effect.logWarning("An attempt ended without a result", failure instanceof StoreError ? failure.message : Cause.pretty(exit.cause));
    yield* postpone(claim, failure === undefined ? "A defect ended the attempt." : failure.message);
    return false;
  });

  const drive = Effect.fn("ThreadDriver.drive")(function* (thread: ThreadRef) {
    for (;;) {
      const claimed = yield* Effect.result(ledger.claim({ ...thread, workerId }));
      if (claimed._tag === "Failure") {
        yield* Effect.logWarning("A thread could not be claimed", claimed.failure.message);
        return;
      }
      if (Option.isNone(claimed.success)) return;
      const goOn = yield* driveClaim(claimed.success.value);
      if (!goOn) return;
    }
  });

  return ThreadDriver.of({
    drive,
    nudge: (thread) =>
      Effect.suspend(() => {
        const bell = bells.get(keyOf(thread));
        return bell === undefined ? Effect.void : Effect.asVoid(Deferred.succeed(bell, undefined));
      }),
  });
});
