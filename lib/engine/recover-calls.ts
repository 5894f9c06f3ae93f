/**
 * Calls that had started when their process was lost (DU-04 to DU-06). The
 * verdict follows from the class; a reconciler may prove more, and so may the
 * answer of a probe whose rule says so. Nothing here runs a handler, and no doubt
 * is ever turned into a failure.
 */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import type { RecordOf, RunRecord } from "#lib/contract/records.ts";
import { idempotencyKeyOf, probeIdOf, unknownIdOf } from "#lib/durable/derived-ids.ts";
import { probeActor, probeReason, reconcilerActor } from "#lib/durable/rule-actors.ts";
import { type CallEvidence, type TurnEvidence, withInner } from "#lib/durable/run-state.ts";
import type { LostCall } from "#lib/tool-probe.ts";
import { boundedText } from "#lib/failure-diagnostic.ts";
import { askProbe, maxDetailBytes, settleByRule } from "./ask-probe.ts";
import { checkResult } from "./check-result.ts";
import type { ReconcilerAnswer, RunContext } from "./RunContext.ts";
import { driftOf } from "./stored-calls.ts";

const positionOf = (context: RunContext, turn: number, call: CallEvidence) => ({
  tenantId: context.tenantId,
  runId: context.runId,
  turn,
  callId: call.declared.callId,
});

/** For code of others: what it makes of the parameters changes no record. */
const lostCallOf = (context: RunContext, turn: number, call: CallEvidence): LostCall => ({
  toolName: call.declared.toolName,
  callId: call.declared.callId,
  turn,
  parameters: structuredClone(call.declared.effectiveParameters ?? null),
  idempotencyKey: idempotencyKeyOf(positionOf(context, turn, call)),
});

/** The record that puts a call in front of a person. */
export const unknownRecord = (
  context: RunContext,
  turn: number,
  call: CallEvidence,
  reason: "process-lost" | "interrupted" | "handler-defect" | "run-ended",
  detail: string,
  afterSettlement: boolean,
): RunRecord => ({
  _tag: "ToolCallUnknown",
  runId: context.runId,
  turn,
  callId: call.declared.callId,
  toolName: call.declared.toolName,
  unknownId: unknownIdOf(positionOf(context, turn, call), call.preparations),
  reason,
  detail,
  afterSettlement,
});

/** How long a destination may take to say what became of a call. */
const reconcilerTimeout = "30 seconds";

/** A reconciler's word, or that it is not good enough to be one. */
interface Verdict {
  readonly answer: ReconcilerAnswer;
  /** Why a word was not taken, for the person who has to settle the call now. */
  readonly refused?: string;
}

const uncertain: ReconcilerAnswer = { _tag: "uncertain" };

const resolutions = {
  "never-started": "never-happened",
  "safe-to-retry": "safe-to-retry",
  completed: "completed-with-result",
} as const;

/** The doubt is always recorded first; a reconciler's word answers it, as a person's would. */
const verdictRecords = (
  context: RunContext,
  turn: number,
  call: CallEvidence,
  { answer, refused }: Verdict,
  now: number,
): ReadonlyArray<RunRecord> => {
  const unknown = unknownRecord(
    context,
    turn,
    call,
    "process-lost",
    `The process that ran this call was lost after attempt ${call.prepared?.attempt ?? 0} had started it, and no result was recorded.${refused === undefined ? "" : ` ${refused}`}`,
    false,
  );
  if (answer._tag === "uncertain") return [unknown];
  const resolved: RecordOf<"UnknownResolved"> = {
    _tag: "UnknownResolved",
    runId: context.runId,
    turn,
    callId: call.declared.callId,
    toolName: call.declared.toolName,
    unknownId: unknownIdOf(positionOf(context, turn, call), call.preparations),
    resolution: resolutions[answer._tag],
    ...(answer._tag === "completed" ? { result: answer.result, isFailure: answer.isFailure } : {}),
    actor: reconcilerActor,
    reason: "The tool's reconciler answered.",
    evidence: "",
    resolvedAt: now,
  };
  return [unknown, resolved];
};

/** A completed call's result meets the tool's schema, or it is no proof (DU-06). */
const judge = (
  context: RunContext,
  call: CallEvidence,
  answer: ReconcilerAnswer,
): Effect.Effect<Verdict> => {
  const tool = context.definition.toolkit.tools[call.declared.toolName];
  if (answer._tag !== "completed" || tool === undefined) return Effect.succeed({ answer });
  return Effect.match(checkResult(tool, answer.result, answer.isFailure), {
    onSuccess: (): Verdict => ({ answer }),
    onFailure: (words): Verdict => ({
      answer: uncertain,
      refused: `Its reconciler gave a result that was not taken: ${words}`,
    }),
  });
};

/** Decides about every lost call of a batch: the records that say so, in declaration order. */
export const recoverCalls = Effect.fnUntraced(function* (
  context: RunContext,
  turn: TurnEvidence,
  calls: ReadonlyArray<CallEvidence>,
  now: number,
): Effect.fn.Return<ReadonlyArray<RunRecord>> {
  const number = turn.recorded.turn;
  const verdicts = yield* Effect.forEach(calls, (call) => {
    const drift = driftOf(context, call);
    // A reconciler of another contract does not speak for this call (DU-19).
    if (drift !== undefined)
      return Effect.succeed(
        verdictRecords(context, number, call, { answer: uncertain, refused: drift }, now),
      );
    return context.reconcile(lostCallOf(context, number, call)).pipe(
      Effect.timeoutOption(reconcilerTimeout),
      Effect.map(Option.getOrElse(() => uncertain)),
      // A reconciler that breaks or does not answer leaves the call open; it never guesses (DU-06).
      Effect.catchDefect(() => Effect.succeed(uncertain)),
      Effect.flatMap((answer) => judge(context, call, answer)),
      Effect.map((verdict) => verdictRecords(context, number, call, verdict, now)),
    );
  });
  return verdicts.flat();
});

/** A rule lets a call run again until it has started this often; then a person looks at it. */
const maxStartsByRule = 3;

type Ruled = Effect.Success<ReturnType<typeof settleByRule>>;

/** A call that ends in doubt each time would else be made without end, as fast as its destination answers. */
const boundRetries = (call: CallEvidence, ruled: Ruled): Ruled =>
  ruled.settles === undefined ||
  ruled.settles.resolution === "completed-with-result" ||
  call.preparations < maxStartsByRule
    ? ruled
    : {
        report: {
          ...ruled.report,
          detail: boundedText(
            `${ruled.report.detail} Nothing was settled: the call has started ${call.preparations} times, and a rule lets it start at most ${maxStartsByRule} times.`,
            maxDetailBytes,
          ),
        },
        settles: undefined,
      };

/**
 * Asks the probes of everything in the last turn that is in doubt, open and not
 * asked about yet: once per doubt, before the attempt lets go. What an attempt
 * cannot ask any more, an operator can.
 */
export const probeUnknowns = Effect.fnUntraced(function* (
  context: RunContext,
  turn: TurnEvidence,
  now: Effect.Effect<number>,
): Effect.fn.Return<ReadonlyArray<RunRecord>> {
  const number = turn.recorded.turn;
  const records = yield* Effect.forEach(
    withInner(turn.calls),
    (call) => {
      const { callId, toolName } = call.declared;
      const { probes = {} } = context;
      const probe = Object.hasOwn(probes, toolName) ? probes[toolName] : undefined;
      const tool = context.definition.toolkit.tools[toolName];
      const { unknown } = call;
      const isOpen =
        unknown !== undefined && call.resolved === undefined && call.settled === undefined;
      if (!isOpen || call.probed !== undefined || probe === undefined || tool === undefined)
        return Effect.succeed([]);
      if (driftOf(context, call) !== undefined) return Effect.succeed([]);
      return Effect.gen(function* () {
        const askedAt = yield* now;
        const asked = yield* askProbe(probe, lostCallOf(context, number, call));
        const { report, settles } = boundRetries(call, yield* settleByRule(tool, probe, asked));
        const answeredAt = yield* now;
        const about = {
          runId: context.runId,
          turn: number,
          callId,
          toolName,
          unknownId: unknown.unknownId,
          actor: probeActor,
        };
        const probed: RecordOf<"UnknownProbed"> = {
          _tag: "UnknownProbed",
          ...about,
          ...report,
          probeId: probeIdOf(unknown.unknownId, `attempt-${context.attempt}`),
          settles: settles !== undefined,
          askedAt,
          answeredAt,
        };
        if (settles === undefined) return [probed];
        const resolved: RecordOf<"UnknownResolved"> = {
          _tag: "UnknownResolved",
          ...about,
          ...settles,
          reason: probeReason(report.finding),
          evidence: report.detail,
          resolvedAt: answeredAt,
        };
        return [probed, resolved];
      });
    },
    { concurrency: 4 },
  );
  return records.flat();
});
