/**
 * What a run does next, from its records alone. The run loop asks this after
 * every change, and recovery is nothing but asking it of the records that a
 * dead process left behind: one pure function instead of two (DU-14, crash
 * table in docs/architecture.md).
 */
import type { RecordOf } from "../contract/records.ts";
import type { RecoveryDecision } from "../contract/status.ts";
import {
  awaitsDecision,
  type CallEvidence,
  isInDoubt,
  type RunEvidence,
  type TurnEvidence,
  unrecordedDoubts,
  withInner,
} from "./run-state.ts";

type Settlement = Pick<
  RecordOf<"RunSettled">,
  "outcome" | "finishReason" | "failure" | "exhausted"
>;

export type NextAct =
  /** Nothing is recorded yet: the input comes first. */
  | { readonly _tag: "Open" }
  | { readonly _tag: "AskModel"; readonly turn: number }
  /** Rejected, denied or expired calls, and resolutions with a result, become results without a handler. */
  | {
      readonly _tag: "SettleAnswered";
      readonly turn: TurnEvidence;
      readonly calls: ReadonlyArray<CallEvidence>;
    }
  /** Prepared in an attempt that is gone; each needs a verdict of its class (DU-04, DU-05). */
  | {
      readonly _tag: "ClassifyLost";
      readonly turn: TurnEvidence;
      readonly calls: ReadonlyArray<CallEvidence>;
    }
  | {
      readonly _tag: "Execute";
      readonly turn: TurnEvidence;
      readonly calls: ReadonlyArray<CallEvidence>;
    }
  | { readonly _tag: "Suspend"; readonly waitingFor: "approval" | "unknown" }
  /** The last turn holds the answer, in a result or in its text; it is decoded and the run completes. */
  | {
      readonly _tag: "Answer";
      readonly turn: TurnEvidence;
      /** The call whose result is the answer; absent: the text is. */
      readonly completion: CallEvidence | undefined;
    }
  /** `inDoubt` are recorded unknown before the settlement (DU-09). */
  | {
      readonly _tag: "Settle";
      readonly settlement: Settlement;
      readonly inDoubt: ReadonlyArray<CallEvidence>;
      readonly turn: TurnEvidence | undefined;
    }
  | { readonly _tag: "Done"; readonly settled: RecordOf<"RunSettled"> };

const settle = (turn: TurnEvidence | undefined, settlement: Settlement): NextAct => ({
  _tag: "Settle",
  settlement,
  turn,
  inDoubt: unrecordedDoubts(turn),
});

const failed = (
  finishReason: Settlement["finishReason"],
  failure: NonNullable<Settlement["failure"]>,
): Settlement => ({ outcome: "failed", finishReason, failure });

const aborted = (reason: string): Settlement => ({
  outcome: "aborted",
  finishReason: "aborted",
  failure: { errorTag: "RunAborted", message: reason },
});

/**
 * @param attempt the number of the attempt that asks; a preparation by an
 *   earlier attempt without a result is lost, one by this attempt is running.
 */
export const decideNext = (evidence: RunEvidence, attempt: number): NextAct => {
  if (evidence.settled !== undefined) return { _tag: "Done", settled: evidence.settled };
  const turn = evidence.turns.at(-1);
  if (evidence.abort !== undefined) {
    return settle(turn, aborted(evidence.abort.reason));
  }
  if (evidence.opened === undefined) return { _tag: "Open" };
  if (turn === undefined) return { _tag: "AskModel", turn: 1 };
  if (turn.recorded.refusal !== undefined) {
    return settle(turn, failed("refused", turn.recorded.refusal));
  }
  return decideTurn(turn, attempt);
};

const decideTurn = (turn: TurnEvidence, attempt: number): NextAct => {
  const aborting = withInner(turn.calls).find(
    (call) => call.resolved?.resolution === "abort-submission",
  );
  if (aborting !== undefined) return settle(turn, aborted(aborting.resolved?.reason ?? ""));
  const refusal = refusedBatch(turn);
  if (refusal !== undefined) return settle(turn, refusal);
  const open = turn.calls.filter(
    (call) => call.settled === undefined && !call.declared.providerExecuted,
  );
  const inner = openInner(turn);
  if (open.length === 0 && inner.length === 0) {
    // The last in declaration order, as with selections (X-11, R30).
    const completion = turn.calls.findLast((call) => call.settled?.completes === true);
    return completion !== undefined || turn.calls.every((call) => call.declared.providerExecuted)
      ? { _tag: "Answer", turn, completion }
      : { _tag: "AskModel", turn: turn.recorded.turn + 1 };
  }
  if (open.some(awaitsDecision)) return { _tag: "Suspend", waitingFor: "approval" };
  const answered = [...open, ...inner].filter(isAnswered);
  if (answered.length > 0) return { _tag: "SettleAnswered", turn, calls: answered };
  const lost = turn.calls.flatMap((call) => lostOf(call, attempt));
  if (lost.length > 0) return { _tag: "ClassifyLost", turn, calls: lost };
  if ([...open, ...inner].some(isUnresolved)) {
    return { _tag: "Suspend", waitingFor: "unknown" };
  }
  return { _tag: "Execute", turn, calls: open };
};

/**
 * The denial or expiry that ends the run, in the words everybody is told. Only once
 * nothing of its batch is left asking.
 */
export const terminalDenialOf = (
  turn: TurnEvidence,
):
  | {
      readonly call: CallEvidence;
      readonly decided: RecordOf<"ApprovalDecided">;
      readonly message: string;
    }
  | undefined => {
  if (turn.calls.some(awaitsDecision)) return undefined;
  for (const call of turn.calls) {
    const { declared, decided, requested } = call;
    if (
      requested?.request.denial !== "terminal" ||
      decided === undefined ||
      decided.decision === "approved"
    )
      continue;
    return {
      call,
      decided,
      message:
        decided.decision === "expired"
          ? `Nobody decided the call of ${declared.toolName} before its approval expired.`
          : `${decided.actor.name} denied the call of ${declared.toolName}: ${decided.reason}`,
    };
  }
  return undefined;
};

/**
 * A terminal denial, a policy denial, a failed check or a propagated failure ends
 * the run (A-06, Z-04, F-01). Of these, only the denial of an inner call does not:
 * its program was told (Z-11).
 */
const refusedBatch = (turn: TurnEvidence): Settlement | undefined => {
  const calls = withInner(turn.calls);
  for (const call of calls) {
    if (call.denied !== undefined && call.declared.parentCallId === undefined) {
      return failed("denied", {
        errorTag: "AgentToolAuthorizationDenied",
        message: call.denied.reason,
        ...(call.denied.diagnosticId === undefined
          ? {}
          : { diagnosticId: call.denied.diagnosticId }),
      });
    }
    if (call.checkFailed !== undefined) {
      return failed("check-failed", {
        errorTag: "AgentToolAuthorizationCheckError",
        message: call.checkFailed.message,
        ...(call.checkFailed.diagnosticId === undefined
          ? {}
          : { diagnosticId: call.checkFailed.diagnosticId }),
      });
    }
  }
  const terminal = terminalDenialOf(turn);
  if (terminal !== undefined) {
    return failed("approval-denied", {
      errorTag:
        terminal.decided.decision === "expired"
          ? "AgentToolApprovalExpired"
          : "AgentToolApprovalDenied",
      message: terminal.message,
    });
  }
  const propagated = calls.find((call) => call.settled?.failureHandling === "propagated");
  if (propagated?.settled !== undefined) {
    return failed(
      "tool-failure",
      propagated.settled.failure ?? {
        errorTag: "ToolFailure",
        message: `The tool ${propagated.declared.toolName} failed.`,
      },
    );
  }
  return undefined;
};

const isUnresolved = (call: CallEvidence): boolean =>
  call.unknown !== undefined && call.resolved === undefined;

/**
 * Inner calls that hold the turn: in doubt and not resolved, or resolved with a
 * result that no record gives yet. The others are their parent's business, which
 * meets them when it runs again.
 */
const openInner = (turn: TurnEvidence): ReadonlyArray<CallEvidence> =>
  turn.calls
    .flatMap((call) => call.inner)
    .filter((inner) => inner.settled === undefined && (isUnresolved(inner) || isAnswered(inner)));

/**
 * What of a call was lost with an earlier attempt and cannot simply run again
 * (DU-04, DU-05). An idempotent call can, with the same key, and it takes its
 * idempotent inner calls along; an uncertain inner call never runs again by
 * itself, whatever its parent is (CM-01).
 */
const lostOf = (call: CallEvidence, attempt: number): ReadonlyArray<CallEvidence> => {
  const runsAgain = call.declared.executionClass === "idempotent" && call.settled === undefined;
  const isOpenAndLost = call.settled === undefined && isLost(call, attempt);
  return [
    ...(isOpenAndLost && !runsAgain ? [call] : []),
    ...call.inner.filter(
      (inner) =>
        isLost(inner, attempt) && !(runsAgain && inner.declared.executionClass === "idempotent"),
    ),
  ];
};

const isLost = (call: CallEvidence, attempt: number): boolean =>
  isInDoubt(call) && call.unknown === undefined && (call.prepared?.attempt ?? attempt) < attempt;

const isAnswered = (call: CallEvidence): boolean =>
  call.rejection !== undefined ||
  call.decided?.decision === "denied" ||
  call.decided?.decision === "expired" ||
  call.resolved?.resolution === "completed-with-result";

/** Whoever let a call run again: a person, or by its name the rule that did. */
const resolverOf = (calls: ReadonlyArray<CallEvidence>): string => {
  const actors = calls.flatMap(({ resolved }) => (resolved === undefined ? [] : [resolved.actor]));
  const rule = actors.every(({ kind }) => kind === "policy") ? actors[0] : undefined;
  return rule?.name ?? "An operator";
};

/** Names what an attempt found when it started, in the words of the crash table (OP-12). */
export const explainRecovery = (
  evidence: RunEvidence,
  attempt: number,
): { readonly decision: RecoveryDecision; readonly explanation: string } => {
  const next = decideNext(evidence, attempt);
  if (evidence.attempts === 0) {
    return {
      decision: "first-attempt",
      explanation: "Nothing has run yet: the input is recorded and the model is asked.",
    };
  }
  switch (next._tag) {
    case "Open":
      return {
        decision: "first-attempt",
        explanation:
          "A process took this run and ended before it recorded the input; it starts now.",
      };
    case "AskModel":
      return evidence.turns.length + 1 === next.turn && evidence.suspended === undefined
        ? {
            decision: next.turn === 1 ? "ask-model-again" : "next-turn",
            explanation: `No response is stored for turn ${next.turn}: the model is asked. A request that was under way may have been paid for.`,
          }
        : {
            decision: "next-turn",
            explanation: `Every call of turn ${next.turn - 1} has a result: the model is asked next.`,
          };
    case "SettleAnswered":
      return next.calls.some((call) => call.resolved !== undefined)
        ? {
            decision: "apply-resolutions",
            explanation:
              "An operator resolved an effect in doubt; its answer becomes the call's result. Nothing runs again for it.",
          }
        : {
            decision: "apply-decisions",
            explanation:
              "Denied or expired calls become results that say so; their handlers never run.",
          };
    case "ClassifyLost":
      return {
        decision: "record-unknown",
        explanation: `${next.calls.length} call(s) had started when the process was lost and have no result. They may have happened, so they are not run again: a reconciler or a person says what happened.`,
      };
    case "Execute":
      return next.calls.some((call) => call.decided !== undefined)
        ? {
            decision: "apply-decisions",
            explanation: `${next.calls.length} call(s) of turn ${next.turn.recorded.turn} run now, after authorization by today's policy. The model is not asked again.`,
          }
        : next.calls.some((call) => isLost(call, attempt))
          ? {
              decision: "rerun-idempotent",
              explanation: `Idempotent call(s) had started when the process was lost; they run again with the same idempotency key.`,
            }
          : next.calls.some((call) => call.resolved !== undefined)
            ? {
                decision: "apply-resolutions",
                explanation: `${resolverOf(next.calls)} said that a call may run again; ${next.calls.length} call(s) run now.`,
              }
            : {
                decision: "continue-declared-batch",
                explanation: `The response of turn ${next.turn.recorded.turn} is stored: ${next.calls.length} call(s) without a result run now, the others keep theirs.`,
              };
    case "Suspend":
      return next.waitingFor === "approval"
        ? {
            decision: "restore-approval-wait",
            explanation:
              "Approval requests are stored and open: the wait is restored, nobody is asked twice.",
          }
        : {
            decision: "restore-unknown-wait",
            explanation: "An effect is in doubt and nobody has resolved it: nothing runs.",
          };
    case "Answer":
      return {
        decision: "settle-recorded-outcome",
        explanation: "The stored response is the answer: it is settled as recorded.",
      };
    case "Settle":
      return next.settlement.outcome === "aborted"
        ? {
            decision: "apply-abort",
            explanation: "An abort is stored: it wins over everything else.",
          }
        : {
            decision: "settle-recorded-outcome",
            explanation: "The records hold the reason why this run fails: it is settled.",
          };
    case "Done":
      return {
        decision: "settle-recorded-outcome",
        explanation: "The settlement is recorded; there is nothing left to do.",
      };
  }
};
