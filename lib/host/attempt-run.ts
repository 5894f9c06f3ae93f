/**
 * One claimed run, taken as far as it goes in this process: interpreted, aborted
 * in the middle when an abort is stored, or given up when it only ever kills its
 * process.
 */
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type * as LanguageModel from "effect/unstable/ai/LanguageModel";
import { ApprovalPolicy } from "#lib/approval/ApprovalPolicy.ts";
import type { RecordOf, RunRecord } from "#lib/contract/records.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { foldRecords, unrecordedDoubts } from "#lib/durable/run-state.ts";
import { type Claim, SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { makeResultRoom } from "#lib/engine/keep-results.ts";
import type { RunContext } from "#lib/engine/RunContext.ts";
import { type DurabilityError, RunDurability } from "#lib/engine/RunDurability.ts";
import { interpret, type RunEnd } from "#lib/engine/RunLoop.ts";
import { settlementRecords } from "#lib/engine/settlement-records.ts";
import type { HostPolicies, RegisteredAgent } from "./AgentRegistry.ts";
import { type JournalWriter, makeJournalWriter } from "./JournalWriter.ts";
import { takeBack } from "./take-back.ts";

/** Attempts in a row that ended without progress before the run is given up as poison. */
export const maxLostAttempts = 8;

/** What an attempt runs with, beside its claim; captured with the host (S-04, X-07, Z-08, A-13). */
export interface AttemptHost {
  readonly codec: RunContext["codec"];
  readonly modelId: string;
  readonly policies: HostPolicies;
}

/** Rung when a command for the thread may have arrived; `listen` gives a fresh bell each time. */
export interface Bell {
  readonly listen: Effect.Effect<Deferred.Deferred<void>>;
}

/** Lets calls in flight end and keeps new ones from starting once the host is closing; knows an attempt for as long as its scope. */
export interface Gate {
  /** @param takeBack the records that say of a promised call that it was never started */
  readonly guard: (
    durability: RunDurability["Service"],
    takeBack: (promised: RecordOf<"ToolCallPrepared">, now: number) => ReadonlyArray<RunRecord>,
  ) => Effect.Effect<RunDurability["Service"], never, Scope.Scope>;
}

const contextOf = (
  claim: Claim,
  agent: RegisteredAgent,
  attempt: number,
  host: AttemptHost,
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
  codec: host.codec,
  concurrency: agent.definition.policy.toolConcurrency,
  scheduling: host.policies.scheduling,
  authorization: host.policies.authorization,
  visibility: host.policies.visibility,
  recoveredFailures: host.policies.recoveredFailures,
  hostSelection: undefined,
  resultBytes: agent.definition.policy.toolResultBounds.maxBytes,
  services: agent.services,
  reconcile: agent.reconcile,
  probes: agent.probes,
});

const holdsAbort = (records: ReadonlyArray<RunRecord>): boolean =>
  records.some((record) => record._tag === "AbortRequested");

/** Ends queued runs of the thread that were aborted before anything of them happened: this owner alone can write (DU-12). */
const settleQueued = Effect.fnUntraced(function* (
  claim: Claim,
  agent: RegisteredAgent,
  host: AttemptHost,
  writer: JournalWriter,
): Effect.fn.Return<void, DurabilityError, SubmissionLedger> {
  const ledger = yield* SubmissionLedger;
  for (const queued of yield* ledger.abortedBeforeStart(claim)) {
    const { abort, agentId, input, requester, runId, submissionId } = queued;
    yield* writer.recordOther({ runId, agentId }, [
      {
        _tag: "RunOpened",
        runId,
        submissionId,
        agentId,
        definitionDigest: agent.definitionDigest,
        modelId: host.modelId,
        input,
        requester,
      },
      abort,
      {
        _tag: "RunSettled",
        runId,
        submissionId,
        outcome: "aborted",
        finishReason: "aborted",
        failure: { errorTag: "RunAborted", message: abort.reason },
      },
    ]);
  }
});

/** Completes once an abort of this run is stored; looks again whenever the bell rings, and at what is queued behind it. */
const awaitAbort = Effect.fnUntraced(function* (
  claim: Claim,
  agent: RegisteredAgent,
  host: AttemptHost,
  writer: JournalWriter,
  bell: Bell,
): Effect.fn.Return<ReadonlyArray<RunRecord>, never, SubmissionLedger> {
  const ledger = yield* SubmissionLedger;
  for (;;) {
    const rung = yield* bell.listen;
    // Trouble with the store is met by the attempt itself; what is queued waits for the next look.
    yield* Effect.ignore(settleQueued(claim, agent, host, writer));
    const waiting = yield* ledger
      .undelivered({ tenantId: claim.tenantId, runId: claim.runId })
      .pipe(Effect.orElseSucceed((): ReadonlyArray<RunRecord> => []));
    if (holdsAbort(waiting)) return waiting;
    yield* Deferred.await(rung);
  }
});

const runOnce = (
  claim: Claim,
  agent: RegisteredAgent,
  host: AttemptHost,
  gate: Gate,
  writer: JournalWriter,
  deliver: ReadonlyArray<RunRecord>,
) => {
  const stored = writer.records();
  const context: RunContext = {
    ...contextOf(claim, agent, foldRecords(stored).attempts + 1, host),
    results: makeResultRoom(agent.definition, stored),
  };
  return interpret(context, stored, deliver).pipe(
    Effect.provideServiceEffect(
      RunDurability,
      gate.guard(writer.durability, (promised, now) =>
        takeBack(claim, writer.records(), promised, now),
      ),
    ),
    Effect.scoped,
    // Captured with the host, so that a worker's own surroundings change nothing.
    Effect.provideService(ApprovalPolicy, host.policies.approval),
  );
};

/** Settles a run that ended every attempt without progress; what is in doubt is recorded with it (DU-09). */
const giveUp = (
  claim: Claim,
  agent: RegisteredAgent,
  host: AttemptHost,
  writer: JournalWriter,
): Effect.Effect<void, DurabilityError> => {
  const evidence = foldRecords(writer.records());
  const turn = evidence.turns.at(-1);
  return writer.durability.record(
    settlementRecords(
      contextOf(claim, agent, evidence.attempts + 1, host),
      turn,
      unrecordedDoubts(turn),
      {
        outcome: "failed",
        finishReason: "poisoned",
        failure: {
          errorTag: "AttemptsExhausted",
          message: `${claim.lostAttempts} attempts in a row ended without progress; the limit is ${maxLostAttempts}. The run is given up rather than tried for ever.`,
        },
      },
      "run-ended",
    ),
  );
};

/** One attempt, and another at once when an abort interrupts it or a person's answer comes before a rule's. */
export const attemptRun = (
  claim: Claim,
  agent: RegisteredAgent,
  host: AttemptHost,
  bell: Bell,
  gate: Gate,
): Effect.Effect<
  RunEnd | undefined,
  DurabilityError,
  Journal | SubmissionLedger | LanguageModel.LanguageModel
> =>
  Effect.scoped(
    Effect.gen(function* () {
      const writer = yield* makeJournalWriter(claim);
      let deliver = claim.undelivered;
      // A stored abort wins over everything, giving up included.
      if (
        !holdsAbort(deliver) &&
        !holdsAbort(writer.records()) &&
        claim.lostAttempts >= maxLostAttempts
      ) {
        yield* giveUp(claim, agent, host, writer);
        return undefined;
      }
      const ledger = yield* SubmissionLedger;
      // Once more for each answer of a person that came in the last moment, until the run lets go.
      while (!holdsAbort(deliver) && !holdsAbort(writer.records())) {
        const pass = yield* Effect.raceFirst(
          Effect.map(runOnce(claim, agent, host, gate, writer, deliver), (end) => ({
            _tag: "ended" as const,
            end,
          })),
          Effect.map(awaitAbort(claim, agent, host, writer, bell), (records) => ({
            _tag: "said" as const,
            records,
          })),
        ).pipe(
          // Stored in the moment before the settlement, or before a rule's answer: it wins (Z-05, DU-07, DU-12).
          Effect.catchTag("AbortPending", () =>
            Effect.map(
              ledger.undelivered({ tenantId: claim.tenantId, runId: claim.runId }),
              (records) => ({ _tag: "said" as const, records }),
            ),
          ),
        );
        if (pass._tag === "ended") return pass.end;
        // Results on their way are part of what it finds.
        yield* writer.durability.record([]);
        deliver = pass.records;
      }
      return yield* runOnce(claim, agent, host, gate, writer, deliver);
    }),
  );
