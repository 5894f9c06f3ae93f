/**
 * One open run and one event: the run after the event. What an event does not carry (digests, attempts'
 * epochs, whole values) is filled in by the next read of the run, which `touched-resources` asks for.
 */
import type { EventOf, LoggedEvent, RunEvent } from "../contract/events.ts";
import type { Digest } from "../contract/ids.ts";
import type { CallState } from "../contract/status.ts";
import type { InnerCallView, RunDetail, ToolCallView } from "../contract/run-views.ts";
import { type CallProgress, callKey, type RunSnapshot } from "./run-snapshot.ts";

/** Stands where the digest is not known until the run is read again. */
// 64 hexadecimal digits are a digest; these are drawn as "reading".
export const digestNotReadYet = "0".repeat(64) as Digest;

const keptProgressValues = 50;

type CallEvent = Extract<RunEvent, { readonly callId: unknown }>;

/** Applies an event of this run that is newer than the snapshot; any other leaves it untouched. */
export const applyToRun = (snapshot: RunSnapshot, logged: LoggedEvent): RunSnapshot => {
  const { detail } = snapshot;
  if (logged.runId !== detail.runId || logged.sequence <= detail.asOf) return snapshot;
  const applied = apply(snapshot, logged.event, logged.at);
  return { ...applied, detail: { ...applied.detail, asOf: logged.sequence } };
};

const withDetail = (snapshot: RunSnapshot, change: Partial<RunDetail>): RunSnapshot => ({
  ...snapshot,
  detail: { ...snapshot.detail, ...change },
});

/** The call of an event changed in its place; every other turn and call stays the object it was. */
const changeCall = (
  snapshot: RunSnapshot,
  event: Pick<CallEvent, "turn" | "callId">,
  change: Partial<InnerCallView> | ((call: InnerCallView) => Partial<InnerCallView>),
): RunSnapshot => {
  const { turnViews } = snapshot.detail;
  const at = turnViews.findLastIndex((turn) => turn.turn === event.turn);
  const turn = turnViews[at];
  if (turn === undefined) return snapshot;
  const place = turn.calls.findIndex(
    (call) =>
      call.callId === event.callId || call.inner?.some((one) => one.callId === event.callId),
  );
  const call = turn.calls[place];
  if (call === undefined) return snapshot;
  return withDetail(snapshot, {
    turnViews: turnViews.with(at, {
      ...turn,
      calls: turn.calls.with(place, changed(call, event.callId, change)),
    }),
  });
};

const after = <Call extends InnerCallView>(
  call: Call,
  change: Parameters<typeof changed>[2],
): Call => ({ ...call, ...(typeof change === "function" ? change(call) : change) });

/** The call itself, or the one with this id among those that its program made. */
const changed = (
  call: ToolCallView,
  callId: CallEvent["callId"],
  change: Partial<InnerCallView> | ((call: InnerCallView) => Partial<InnerCallView>),
): ToolCallView =>
  call.callId === callId || call.inner === undefined
    ? after(call, change)
    : {
        ...call,
        inner: call.inner.map((inner) => (inner.callId === callId ? after(inner, change) : inner)),
      };

/** The first result of a step is the one; a replay of its event adds nothing. */
const addStep = (
  snapshot: RunSnapshot,
  { attempt, name, result, ...event }: EventOf<"StepRecorded">,
  recordedAt: number,
): RunSnapshot =>
  changeCall(snapshot, event, ({ steps = [] }) =>
    steps.some((step) => step.name === name)
      ? {}
      : { steps: [...steps, { name, result, attempt, recordedAt }] },
  );

/** Puts a call under the one that made it; a parent that is not known yet comes with the next read. */
const addInner = (
  snapshot: RunSnapshot,
  event: EventOf<"ToolCallDeclared">,
  added: InnerCallView,
): RunSnapshot =>
  withDetail(snapshot, {
    turnViews: snapshot.detail.turnViews.map((turn) =>
      turn.turn === event.turn
        ? {
            ...turn,
            calls: turn.calls.map((call) =>
              call.callId === event.parentCallId &&
              call.inner?.some((inner) => inner.callId === added.callId) !== true
                ? { ...call, inner: [...(call.inner ?? []), added] }
                : call,
            ),
          }
        : turn,
    ),
  });

const addCall = (
  snapshot: RunSnapshot,
  event: EventOf<"ToolCallDeclared">,
  at: number,
): RunSnapshot => {
  const call: InnerCallView = {
    turn: event.turn,
    index: event.index,
    callId: event.callId,
    toolName: event.toolName,
    state: "queued",
    executionClass: event.executionClass,
    providerExecuted: event.providerExecuted,
    parameters: event.parameters,
    effectiveParameters: null,
    parametersDigest: digestNotReadYet,
    failureMode: null,
    failureHandling: null,
    failure: null,
    result: null,
    hasResult: false,
    isFailure: false,
    originalBytes: null,
    selection: null,
    approvalRequestId: null,
    unknownId: null,
    idempotencyKey: null,
    declaredAt: at,
    requestedAt: null,
    decidedAt: null,
    startedAt: null,
    endedAt: null,
  };
  if (event.parentCallId !== undefined) return addInner(snapshot, event, call);
  const known = snapshot.detail.turnViews.some(
    (turn) => turn.turn === event.turn && turn.calls.some((one) => one.callId === event.callId),
  );
  if (known) return snapshot;
  return withDetail(snapshot, {
    toolCalls: snapshot.detail.toolCalls + 1,
    turnViews: snapshot.detail.turnViews.map((turn) =>
      turn.turn === event.turn ? { ...turn, calls: [...turn.calls, call] } : turn,
    ),
  });
};

const recordTurn = (
  snapshot: RunSnapshot,
  event: EventOf<"TurnRecorded">,
  at: number,
): RunSnapshot => {
  const { detail } = snapshot;
  if (detail.turnViews.some((turn) => turn.turn === event.turn)) return snapshot;
  const { [String(event.turn)]: _written, ...drafts } = snapshot.drafts;
  return {
    ...snapshot,
    drafts,
    asking: null,
    detail: {
      ...detail,
      turns: Math.max(detail.turns, event.turn),
      inputTokens: detail.inputTokens + (event.usage.inputTokens ?? 0),
      outputTokens: detail.outputTokens + (event.usage.outputTokens ?? 0),
      turnViews: [
        ...detail.turnViews,
        {
          turn: event.turn,
          text: event.text,
          finishReason: event.finishReason,
          usage: event.usage,
          exposure: event.exposure,
          calls: [],
          startedAt: event.startedAt,
          recordedAt: at,
        },
      ],
    },
  };
};

const addProgress = (
  snapshot: RunSnapshot,
  event: EventOf<"ToolProgress">,
  at: number,
): RunSnapshot => {
  const key = callKey(event.turn, event.callId);
  const before: CallProgress = snapshot.progress[key] ?? { values: [], dropped: 0 };
  if (before.values.some((value) => value.index === event.index)) return snapshot;
  const values = [...before.values, { index: event.index, at, value: event.value }];
  const dropped =
    Math.max(before.dropped, event.dropped) + Math.max(0, values.length - keptProgressValues);
  return {
    ...snapshot,
    progress: {
      ...snapshot.progress,
      [key]: { values: values.slice(-keptProgressValues), dropped },
    },
  };
};

const settled = (state: CallState, at: number): Partial<ToolCallView> => ({ state, endedAt: at });

const stateAfterDecision: Record<EventOf<"ApprovalDecided">["decision"], CallState> = {
  approved: "queued",
  denied: "denied-by-person",
  expired: "expired",
  withdrawn: "aborted",
};

const stateAfterDenial: Record<EventOf<"ToolCallDenied">["by"], CallState> = {
  person: "denied-by-person",
  policy: "denied-by-policy",
  expiry: "expired",
};

const fewer = (count: number): number => Math.max(0, count - 1);

/** Who ended the run where nobody asked to abort it: by their answer to a doubt about one of its calls (DU-07). */
const abortByDoubt = ({ turnViews }: RunDetail, reason: string): RunDetail["abort"] => {
  const doubt = (turnViews.at(-1)?.calls ?? [])
    .flatMap((call) => [call, ...(call.inner ?? [])])
    .find((call) => call.doubt?.resolution === "abort-submission")?.doubt;
  return doubt === undefined || doubt.actor === null || doubt.resolvedAt === null
    ? null
    : { actor: doubt.actor, reason, at: doubt.resolvedAt };
};

/** Every event kind has its case: a new kind does not compile without one. */
const apply = (snapshot: RunSnapshot, event: RunEvent, at: number): RunSnapshot => {
  const { detail } = snapshot;
  switch (event._tag) {
    case "RunQueued":
      return withDetail(snapshot, { state: "queued", title: event.title });
    case "RunStarted":
      return withDetail(snapshot, {
        state: "running",
        modelId: event.modelId,
        startedAt: detail.startedAt ?? at,
      });
    case "AttemptStarted": {
      if (detail.attempts.some((one) => one.attempt === event.attempt)) return snapshot;
      const { attempt, decision, explanation } = event;
      return withDetail(snapshot, {
        state: "running",
        startedAt: detail.startedAt ?? at,
        attempts: [
          ...detail.attempts,
          { attempt, decision, explanation, epoch: 0, startedAt: at, suspendedFor: null },
        ],
      });
    }
    case "ModelRequested":
      return { ...snapshot, asking: event.turn };
    case "ModelText": {
      const turn = String(event.turn);
      return {
        ...snapshot,
        drafts: { ...snapshot.drafts, [turn]: (snapshot.drafts[turn] ?? "") + event.text },
      };
    }
    case "TurnRecorded":
      return recordTurn(snapshot, event, at);
    case "ToolCallDeclared":
      return addCall(snapshot, event, at);
    case "StepRecorded":
      return addStep(snapshot, event, at);
    case "ToolCallStarted":
      return changeCall(snapshot, event, { state: "running", startedAt: at });
    case "ToolProgress":
      return addProgress(snapshot, event, at);
    case "ToolCallSucceeded":
      return changeCall(snapshot, event, {
        ...settled("succeeded", at),
        result: event.result,
        hasResult: true,
        isFailure: false,
        originalBytes: event.originalBytes,
        ...(event.keptBytes === undefined ? {} : { keptBytes: event.keptBytes }),
        selection: event.toolSelection ?? null,
      });
    case "ToolCallFailed":
      return changeCall(snapshot, event, {
        ...settled("failed", at),
        isFailure: true,
        failure: event.failure ?? null,
        failureMode: event.failureMode ?? null,
        failureHandling: event.failureHandling ?? null,
        result: event.result ?? null,
        hasResult: event.result !== undefined,
        ...(event.originalBytes === undefined ? {} : { originalBytes: event.originalBytes }),
        ...(event.keptBytes === undefined ? {} : { keptBytes: event.keptBytes }),
      });
    case "ToolCallDenied":
      return changeCall(snapshot, event, settled(stateAfterDenial[event.by], at));
    case "ToolCallNotExecuted":
      return changeCall(snapshot, event, settled("not-executed", at));
    case "ToolCallUnknown":
      return withDetail(
        changeCall(snapshot, event, {
          state: "unknown",
          unknownId: event.unknownId,
          doubt: { since: at, resolution: null, actor: null, resolvedAt: null },
        }),
        {
          openUnknowns: detail.openUnknowns + 1,
        },
      );
    case "UnknownResolved": {
      const { actor, resolution } = event;
      return withDetail(
        changeCall(snapshot, event, ({ doubt }) =>
          doubt === undefined ? {} : { doubt: { ...doubt, resolution, actor, resolvedAt: at } },
        ),
        { openUnknowns: fewer(detail.openUnknowns) },
      );
    }
    case "ApprovalRequested":
      return withDetail(
        changeCall(snapshot, event, {
          state: "waiting",
          requestedAt: at,
          approvalRequestId: event.requestId,
        }),
        { pendingApprovals: detail.pendingApprovals + 1 },
      );
    case "ApprovalDecided":
      return withDetail(
        changeCall(snapshot, event, { state: stateAfterDecision[event.decision], decidedAt: at }),
        { pendingApprovals: fewer(detail.pendingApprovals) },
      );
    case "AuthorizationCheckFailed":
      return changeCall(snapshot, event, settled("not-executed", at));
    case "AbortRequested":
      return withDetail(snapshot, { abort: { actor: event.actor, reason: event.reason, at } });
    case "RunSuspended":
      return withDetail(snapshot, {
        state: event.waitingFor === "approval" ? "waiting" : "unknown",
        attempts: detail.attempts.map((attempt, index) =>
          index === detail.attempts.length - 1
            ? { ...attempt, suspendedFor: event.waitingFor }
            : attempt,
        ),
      });
    case "RunCompleted":
      return withDetail(
        { ...snapshot, asking: null },
        {
          state: "completed",
          output: event.output,
          finishReason: event.finishReason,
          settledAt: at,
          exhausted: event.exhausted ?? null,
          ...(event.callAsText === undefined ? {} : { callAsText: event.callAsText }),
        },
      );
    case "RunFailed":
      return withDetail(
        { ...snapshot, asking: null },
        {
          state: "failed",
          failure: event.failure,
          failureTag: event.failure.errorTag,
          finishReason: event.finishReason,
          settledAt: at,
          exhausted: event.exhausted ?? null,
          ...(event.callAsText === undefined ? {} : { callAsText: event.callAsText }),
        },
      );
    case "RunAborted":
      return withDetail(
        { ...snapshot, asking: null },
        {
          state: "aborted",
          finishReason: "aborted",
          settledAt: at,
          abort: detail.abort ?? abortByDoubt(detail, event.reason),
        },
      );
    // When the next attempt is due stands in the run's explanation and among what is owed.
    case "AttemptPutOff":
    case "RunWoken":
    case "ApprovalCounted":
    case "ApprovalLookedAt":
    case "ApprovalExtended":
    case "ApprovalDelivered":
    case "UnknownProbed":
    case "DenialAcknowledged":
    // Only a run without a durable host ends so: it is not in this log.
    case "RunInterrupted":
    case "UnknownEvent":
      return snapshot;
  }
};
