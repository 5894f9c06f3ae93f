/**
 * Drives threads: claim a thread's head, interpret it, and go on until nothing is
 * due. Every claim is a new epoch, so two processes that both believe they drive
 * a thread cannot both write (PG-03).
 */
import * as Cause from "effect/Cause";
import * as Context from "effect/Context";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as Semaphore from "effect/Semaphore";
import type * as LanguageModel from "effect/unstable/ai/LanguageModel";
import * as Model from "effect/unstable/ai/Model";
import type { TenantId, ThreadId, WorkerId } from "#lib/contract/ids.ts";
import type { Journal } from "#lib/durable/Journal.ts";
import { FenceRejected } from "#lib/durable/StoreError.ts";
import { type Claim, SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { currentModelCodec } from "#lib/engine/ModelCodec.ts";
import { AgentRegistry } from "./AgentRegistry.ts";
import { attemptRun, type Bell } from "./attempt-run.ts";
import { makeDrainGate } from "./drain-gate.ts";

/** A thread of one tenant. */
export interface ThreadRef {
  readonly tenantId: TenantId;
  readonly threadId: ThreadId;
}

/** How many runs one process works on at once; threads beyond it stay due. 1 to 10,000, default 64. */
export const defaultMaxActiveRuns = 64;

/** How long a run waits after its n-th lost attempt: 1 s doubling to 5 minutes. */
export const backoffSeconds = (lostAttempts: number): number =>
  Math.min(300, 2 ** Math.min(lostAttempts, 9));

export class ThreadDriver extends Context.Service<
  ThreadDriver,
  {
    /** Works until nothing of the thread is due. Never fails: what goes wrong is recorded or postponed. */
    readonly drive: (thread: ThreadRef) => Effect.Effect<void>;
    /** Tells a thread that is being driven here to look for commands; others ignore it. */
    readonly nudge: (thread: ThreadRef) => Effect.Effect<void>;
    /** Starts nothing more and waits, at most `millis`, for the calls in flight to be recorded. */
    readonly close: (millis: number) => Effect.Effect<void>;
  }
>()("effect-agent/host/ThreadDriver") {
  static readonly layer = (
    workerId: WorkerId,
    options: { readonly maxActiveRuns?: number } = {},
  ): Layer.Layer<
    ThreadDriver,
    never,
    AgentRegistry | Journal | SubmissionLedger | LanguageModel.LanguageModel
  > => Layer.effect(ThreadDriver, make(workerId, options.maxActiveRuns ?? defaultMaxActiveRuns));
}

const keyOf = ({ tenantId, threadId }: ThreadRef): string => JSON.stringify([tenantId, threadId]);

/** One bell per thread that is driven here. */
const makeBells = () => {
  const bells = new Map<string, Deferred.Deferred<void>>();
  return {
    of: (thread: ThreadRef): Bell => ({
      listen: Effect.tap(Deferred.make<void>(), (bell) =>
        Effect.sync(() => bells.set(keyOf(thread), bell)),
      ),
    }),
    ring: (thread: ThreadRef) =>
      Effect.suspend(() => {
        const bell = bells.get(keyOf(thread));
        return bell === undefined ? Effect.void : Effect.asVoid(Deferred.succeed(bell, undefined));
      }),
    remove: (thread: ThreadRef) => Effect.sync(() => bells.delete(keyOf(thread))),
  };
};

const make = Effect.fnUntraced(function* (workerId: WorkerId, maxActiveRuns: number) {
  const registry = yield* AgentRegistry;
  const ledger = yield* SubmissionLedger;
  const services = yield* Effect.context<
    Journal | SubmissionLedger | LanguageModel.LanguageModel
  >();
  const host = {
    codec: yield* currentModelCodec,
    modelId: Option.getOrElse(yield* Effect.serviceOption(Model.ModelName), () => "unknown"),
    policies: registry.policies,
  };
  const bells = makeBells();
  const gate = makeDrainGate();
  // Taken before the claim: what this process cannot work on stays due for it or for another.
  const slots = yield* Semaphore.make(maxActiveRuns);

  const postpone = (claim: Claim, reason: string, delaySeconds: number, counts: boolean) =>
    ledger
      .postpone({
        tenantId: claim.tenantId,
        threadId: claim.threadId,
        submissionId: claim.submissionId,
        epoch: claim.epoch,
        delaySeconds,
        reason: reason.slice(0, 500),
        counts,
      })
      // The store is what failed, or a newer owner has the thread: the sweeper finds it in either case.
      .pipe(Effect.ignore);

  const driveClaim = Effect.fn("ThreadDriver.attempt")(function* (claim: Claim) {
    yield* Effect.annotateCurrentSpan({
      runId: claim.runId,
      threadId: claim.threadId,
      epoch: claim.epoch,
    });
    const agent = registry.get(claim.agentId);
    if (Option.isNone(agent)) {
      // Not the run's fault: another host, or the next release, may know the agent.
      yield* postpone(
        claim,
        `No agent named ${claim.agentId} is registered in this host.`,
        30,
        false,
      );
      return false;
    }
    const exit = yield* attemptRun(claim, agent.value, host, bells.of(claim), gate).pipe(
      Effect.provideContext(services),
      Effect.ensuring(bells.remove(claim)),
      // Handing over: whoever drives the thread next takes it up at once.
      Effect.onInterrupt(() => postpone(claim, "This process let go of the thread.", 0, false)),
      Effect.exit,
    );
    if (Exit.isSuccess(exit)) return true;
    if (Cause.hasInterruptsOnly(exit.cause)) {
      // Interruptions alone hold no typed error.
      return yield* Effect.failCause(exit.cause as Cause.Cause<never>);
    }
    const failure = exit.cause.reasons.find(Cause.isFailReason)?.error;
    if (failure instanceof FenceRejected) return false;
    const reason = failure === undefined ? "A defect ended the attempt." : failure.message;
    // Names only: a defect's own text may hold what a handler was given.
    yield* Effect.logWarning("An attempt ended without a result", { runId: claim.runId, reason });
    yield* postpone(claim, reason, backoffSeconds(claim.lostAttempts), true);
    return false;
  });

  /** Claims and drives one run; false when the thread is done with for now. */
  const driveNext = Effect.fnUntraced(function* (thread: ThreadRef) {
    if (gate.isClosing()) return false;
    const claimed = yield* Effect.result(ledger.claim({ ...thread, workerId }));
    if (claimed._tag === "Failure") {
      yield* Effect.logWarning("A thread could not be claimed", claimed.failure.message);
      return false;
    }
    return Option.isNone(claimed.success) ? false : yield* driveClaim(claimed.success.value);
  });

  const drive = Effect.fn("ThreadDriver.drive")(function* (thread: ThreadRef) {
    while (yield* slots.withPermit(driveNext(thread))) {
      // The slot is given back between two runs, so that a long queue does not starve other threads.
    }
  });

  return ThreadDriver.of({ drive, nudge: bells.ring, close: gate.close });
});
