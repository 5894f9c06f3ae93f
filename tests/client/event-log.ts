/** Arbitrary event logs of one tenant, and the runs as a server would answer them, computed the plain way. */
import * as fc from "fast-check";
import * as Schema from "effect/Schema";
import { LoggedEvent, type RunEvent } from "#lib/contract/events.ts";
import type { CallState, RunState } from "#lib/contract/status.ts";
import { RunDetail } from "#lib/contract/run-views.ts";

const decodeEvent = Schema.decodeUnknownSync(LoggedEvent);
const decodeDetail = Schema.decodeUnknownSync(RunDetail);

const exposure = {
  exposed: ["a"],
  pins: [],
  discoveryTools: [],
  eager: true,
  selectionSource: "initial",
  selected: [],
  schemaBytes: 10,
  maxTools: 64,
  maxSchemaBytes: 262_144,
  hiddenByVisibility: [],
  hiddenByVisibilityCount: 0,
  notSelected: [],
  notSelectedCount: 0,
  warnings: [],
};
const actor = { kind: "operator", id: "op-2", name: "Ben" };

/** What becomes of one call, as the choices of the generator. */
interface CallPlan {
  readonly gate: "none" | "approved" | "denied" | "expired" | "open";
  /** `left` = in doubt, and a person ends its run rather than settling it. */
  readonly end: "succeeded" | "failed" | "policy" | "unknown" | "left" | "running";
  readonly progress: number;
  /** How the calls end that this one makes itself, where it runs (CM-02). */
  readonly inner: ReadonlyArray<"succeeded" | "failed" | "policy" | "unknown" | "running">;
}
interface RunPlan {
  readonly turns: ReadonlyArray<ReadonlyArray<CallPlan>>;
  readonly end: "completed" | "failed" | "aborted" | "open";
}

const callPlan: fc.Arbitrary<CallPlan> = fc.record({
  gate: fc.constantFrom("none", "approved", "denied", "expired", "open"),
  end: fc.constantFrom("succeeded", "failed", "policy", "unknown", "left", "running"),
  progress: fc.integer({ min: 0, max: 3 }),
  inner: fc.array(fc.constantFrom("succeeded", "failed", "policy", "unknown", "running"), {
    maxLength: 2,
  }),
});
const runPlan: fc.Arbitrary<RunPlan> = fc.record({
  turns: fc.array(fc.array(callPlan, { maxLength: 4 }), { minLength: 1, maxLength: 3 }),
  end: fc.constantFrom("completed", "failed", "aborted", "open"),
});

const eventsOfCall = (
  turn: number,
  index: number,
  plan: CallPlan,
  run: number,
): ReadonlyArray<object> => {
  const call = { turn, callId: `call-${index}`, toolName: "a" };
  const requestId = `approval-${run}-${turn}-${index}`;
  const events: Array<object> = [];
  if (plan.gate !== "none") {
    events.push({
      _tag: "ApprovalRequested",
      ...call,
      requestId,
      summary: "s",
      risk: "high",
      expiresAt: null,
    });
    if (plan.gate === "open") return events;
    events.push({
      _tag: "ApprovalDecided",
      ...call,
      requestId,
      decision: plan.gate,
      actor,
      reason: "",
    });
    if (plan.gate !== "approved") {
      return [
        ...events,
        {
          _tag: "ToolCallDenied",
          ...call,
          by: plan.gate === "denied" ? "person" : "expiry",
          reason: "r",
        },
      ];
    }
  }
  if (plan.end === "policy")
    return [...events, { _tag: "ToolCallDenied", ...call, by: "policy", reason: "r" }];
  events.push({ _tag: "ToolCallStarted", ...call, attempt: 1 });
  // The second record of a step's name is what a replay of its event looks like: it adds nothing.
  for (const name of plan.progress > 1 ? ["reserve", "charge", "reserve"] : [])
    events.push({ _tag: "StepRecorded", ...call, name, result: name, attempt: 1 });
  for (let step = 0; step < plan.progress; step += 1) {
    events.push({ _tag: "ToolProgress", ...call, index: step, value: step, dropped: 0 });
  }
  for (const [place, end] of plan.inner.entries()) {
    const inner = { turn, callId: `inner-${index}-${place}`, toolName: "b" };
    const plain: CallPlan = { gate: "none", end, progress: 1, inner: [] };
    events.push(
      {
        _tag: "ToolCallDeclared",
        ...inner,
        index: place,
        parameters: {},
        providerExecuted: false,
        executionClass: "uncertain",
        parentCallId: call.callId,
      },
      ...eventsOfCall(turn, index, plain, run).map((event) => ({
        ...event,
        ...inner,
        ...("unknownId" in event ? { unknownId: `${String(event.unknownId)}-${place}` } : {}),
      })),
    );
  }
  if (plan.end === "succeeded")
    events.push({ _tag: "ToolCallSucceeded", ...call, result: 1, originalBytes: 1 });
  if (plan.end === "failed") events.push({ _tag: "ToolCallFailed", ...call, rejected: false });
  if (plan.end === "unknown" || plan.end === "left") {
    const unknownId = `unknown-${run}-${turn}-${index}`;
    events.push({ _tag: "ToolCallUnknown", ...call, unknownId, detail: "d" });
    if (plan.end === "left")
      events.push({
        _tag: "UnknownResolved",
        ...call,
        unknownId,
        resolution: "abort-submission",
        actor,
      });
  }
  return events;
};

const eventsOfRun = (plan: RunPlan, run: number): ReadonlyArray<object> => {
  const events: Array<object> = [
    { _tag: "RunQueued", submissionId: `submission-${run}`, title: `run ${run}` },
    { _tag: "AttemptPutOff", reason: "not yet", dueAt: 2_000 },
    { _tag: "RunWoken", actor },
    { _tag: "AttemptStarted", attempt: 1, decision: "first-attempt", explanation: "new" },
    { _tag: "RunStarted", submissionId: `submission-${run}`, modelId: "m" },
  ];
  plan.turns.forEach((calls, at) => {
    const turn = at + 1;
    events.push({ _tag: "ModelRequested", turn }, { _tag: "ModelText", turn, text: "hello" });
    events.push({
      _tag: "TurnRecorded",
      turn,
      text: "hello",
      callCount: calls.length,
      exposure,
      finishReason: "tool-calls",
      usage: { inputTokens: 10, outputTokens: null },
      startedAt: 1,
    });
    calls.forEach((_, index) => {
      events.push({
        _tag: "ToolCallDeclared",
        turn,
        callId: `call-${index}`,
        toolName: "a",
        index,
        parameters: {},
        providerExecuted: false,
        executionClass: "uncertain",
      });
    });
    for (const [index, call] of calls.entries())
      events.push(...eventsOfCall(turn, index, call, run));
  });
  if (plan.end === "completed")
    events.push({
      _tag: "RunCompleted",
      output: "done",
      finishReason: "budget-exhausted",
      exhausted: "turns",
      callAsText: { toolName: "a", diagnosticId: "dia_a" },
    });
  if (plan.end === "failed") {
    events.push({
      _tag: "RunFailed",
      failure: { errorTag: "E", message: "m" },
      finishReason: "defect",
    });
  }
  if (plan.end === "aborted") events.push({ _tag: "RunAborted", reason: "r" });
  return events;
};

/** Two runs whose events are interleaved in any way; each run keeps its own order. */
export const eventLog: fc.Arbitrary<ReadonlyArray<LoggedEvent>> = fc
  .tuple(runPlan, runPlan, fc.array(fc.boolean(), { minLength: 1, maxLength: 200 }))
  .map(([first, second, order]) => {
    const queues: readonly [Array<object>, Array<object>] = [
      eventsOfRun(first, 1).slice(),
      eventsOfRun(second, 2).slice(),
    ];
    const log: Array<LoggedEvent> = [];
    for (let at = 0; queues[0].length + queues[1].length > 0; at += 1) {
      const wanted = order[at % order.length] === true ? 1 : 0;
      const from = queues[wanted].length > 0 ? wanted : 1 - wanted;
      const event = (from === 1 ? queues[1] : queues[0]).shift();
      log.push(
        decodeEvent({
          version: 1,
          sequence: log.length + 1,
          tenantId: "t",
          at: 1_000 + log.length * 10,
          agentId: "agent",
          threadId: `thread-${from + 1}`,
          runId: `run-${from + 1}`,
          event,
        }),
      );
    }
    return log;
  });

const last = <Kind extends RunEvent["_tag"]>(
  events: ReadonlyArray<LoggedEvent>,
  kinds: ReadonlyArray<Kind>,
) => events.findLast((one) => kinds.some((kind) => kind === one.event._tag));

const stateOfCall = (events: ReadonlyArray<LoggedEvent>): CallState => {
  const tag = (event: RunEvent): CallState | undefined => {
    if (event._tag === "ToolCallSucceeded") return "succeeded";
    if (event._tag === "ToolCallFailed") return "failed";
    if (event._tag === "ToolCallUnknown") return "unknown";
    if (event._tag === "ToolCallStarted") return "running";
    if (event._tag === "ToolCallDenied") {
      return event.by === "person"
        ? "denied-by-person"
        : event.by === "policy"
          ? "denied-by-policy"
          : "expired";
    }
    if (event._tag === "ApprovalRequested") return "waiting";
    if (event._tag === "ApprovalDecided") {
      return event.decision === "approved"
        ? "queued"
        : event.decision === "denied"
          ? "denied-by-person"
          : "expired";
    }
    return undefined;
  };
  return events.map((one) => tag(one.event)).findLast((state) => state !== undefined) ?? "queued";
};

const stateOfRun = (events: ReadonlyArray<LoggedEvent>): RunState => {
  const settled = last(events, ["RunCompleted", "RunFailed", "RunAborted"])?.event._tag;
  if (settled === "RunCompleted") return "completed";
  if (settled === "RunFailed") return "failed";
  if (settled === "RunAborted") return "aborted";
  return last(events, ["RunStarted", "AttemptStarted"]) === undefined ? "queued" : "running";
};

/** The doubt about a call, and how it ended. */
const doubtOf = (own: ReadonlyArray<LoggedEvent>) => {
  const since = atOf(own, ["ToolCallUnknown"]);
  if (since === null) return {};
  const answer = own.find(({ event }) => event._tag === "UnknownResolved");
  const said = answer?.event._tag === "UnknownResolved" ? answer.event : undefined;
  return {
    doubt: {
      since,
      resolution: said?.resolution ?? null,
      actor: said?.actor ?? null,
      resolvedAt: answer?.at ?? null,
    },
  };
};

const atOf = (
  events: ReadonlyArray<LoggedEvent>,
  kinds: ReadonlyArray<RunEvent["_tag"]>,
): number | null => events.find((one) => kinds.includes(one.event._tag))?.at ?? null;

/** The first record of each step's name. */
const stepsOf = (own: ReadonlyArray<LoggedEvent>) => {
  const steps = own.flatMap(({ at, event }) =>
    event._tag === "StepRecorded"
      ? [{ name: event.name, result: event.result, attempt: event.attempt, recordedAt: at }]
      : [],
  );
  const first = steps.filter(
    (step, index) => steps.findIndex(({ name }) => name === step.name) === index,
  );
  return first.length === 0 ? {} : { steps: first };
};

/** `GET /runs/:id` at a sequence: every field from the facts up to there, without any reducer. */
export const answerAt = (
  log: ReadonlyArray<LoggedEvent>,
  runId: string,
  sequence: number,
): RunDetail => {
  const events = log.filter((one) => one.runId === runId && one.sequence <= sequence);
  const of = <Kind extends RunEvent["_tag"]>(kind: Kind) =>
    events.filter((one) => one.event._tag === kind);
  const settledKinds = ["RunCompleted", "RunFailed", "RunAborted"] as const;
  const settled = last(events, settledKinds);
  const failed = settled?.event._tag === "RunFailed" ? settled.event : undefined;
  const turnViews = of("TurnRecorded").flatMap((logged) => {
    const recorded = logged.event;
    if (recorded._tag !== "TurnRecorded") return [];
    const all = of("ToolCallDeclared").flatMap((one) => {
      const declared = one.event;
      if (declared._tag !== "ToolCallDeclared" || declared.turn !== recorded.turn) return [];
      const own = events.filter(
        ({ event }) =>
          "callId" in event && event.callId === declared.callId && event.turn === declared.turn,
      );
      const success = own.find(({ event }) => event._tag === "ToolCallSucceeded")?.event;
      const asked = own.find(({ event }) => event._tag === "ApprovalRequested")?.event;
      const doubt = own.find(({ event }) => event._tag === "ToolCallUnknown")?.event;
      return [
        {
          turn: declared.turn,
          index: declared.index,
          callId: declared.callId,
          toolName: declared.toolName,
          state: stateOfCall(own),
          executionClass: declared.executionClass,
          providerExecuted: false,
          parameters: declared.parameters,
          effectiveParameters: null,
          parametersDigest: "0".repeat(64),
          failureMode: null,
          failureHandling: null,
          failure: null,
          result: success?._tag === "ToolCallSucceeded" ? success.result : null,
          hasResult: success !== undefined,
          isFailure: own.some(({ event }) => event._tag === "ToolCallFailed"),
          originalBytes: success?._tag === "ToolCallSucceeded" ? success.originalBytes : null,
          selection: null,
          approvalRequestId: asked?._tag === "ApprovalRequested" ? asked.requestId : null,
          unknownId: doubt?._tag === "ToolCallUnknown" ? doubt.unknownId : null,
          idempotencyKey: null,
          declaredAt: one.at,
          requestedAt: atOf(own, ["ApprovalRequested"]),
          decidedAt: atOf(own, ["ApprovalDecided"]),
          startedAt: atOf(own, ["ToolCallStarted"]),
          endedAt: atOf(own, ["ToolCallSucceeded", "ToolCallFailed", "ToolCallDenied"]),
          ...doubtOf(own),
          ...stepsOf(own),
        },
      ];
    });
    // A call that another one made is shown under it and nowhere else.
    const parents = new Map(
      of("ToolCallDeclared").flatMap(({ event }) =>
        event._tag === "ToolCallDeclared" && event.turn === recorded.turn
          ? [[event.callId, event.parentCallId]]
          : [],
      ),
    );
    const calls = all
      .filter(({ callId }) => parents.get(callId) === undefined)
      .map((call) => {
        const inner = all.filter(({ callId }) => parents.get(callId) === call.callId);
        return inner.length === 0 ? call : { ...call, inner };
      });
    return [
      {
        turn: recorded.turn,
        text: recorded.text,
        finishReason: recorded.finishReason,
        usage: recorded.usage,
        exposure,
        calls,
        startedAt: recorded.startedAt,
        recordedAt: logged.at,
      },
    ];
  });
  const queued = of("RunQueued")[0]?.event;
  const left =
    settled?.event._tag !== "RunAborted"
      ? undefined
      : (turnViews.at(-1)?.calls ?? [])
          .flatMap((call) => [call, ...("inner" in call ? (call.inner ?? []) : [])])
          .flatMap((call) => ("doubt" in call && call.doubt !== undefined ? [call.doubt] : []))
          .find(({ resolution }) => resolution === "abort-submission");
  return decodeDetail({
    runId,
    threadId: runId.replace("run", "thread"),
    submissionId: runId.replace("run", "submission"),
    agentId: "agent",
    state: stateOfRun(events),
    title: queued?._tag === "RunQueued" ? queued.title : "",
    failureTag: failed?.failure.errorTag ?? null,
    requester: "ops",
    turns: turnViews.length,
    toolCalls: of("ToolCallDeclared").filter(
      ({ event }) => event._tag === "ToolCallDeclared" && event.parentCallId === undefined,
    ).length,
    pendingApprovals: of("ApprovalRequested").length - of("ApprovalDecided").length,
    openUnknowns: of("ToolCallUnknown").length - of("UnknownResolved").length,
    inputTokens: turnViews.length * 10,
    outputTokens: 0,
    createdAt: 1_000,
    startedAt: atOf(events, ["RunStarted", "AttemptStarted"]),
    settledAt: settled?.at ?? null,
    input: "in",
    output: settled?.event._tag === "RunCompleted" ? "done" : null,
    failure: failed?.failure ?? null,
    finishReason:
      settled === undefined
        ? null
        : settled.event._tag === "RunAborted"
          ? "aborted"
          : "finishReason" in settled.event
            ? settled.event.finishReason
            : null,
    exhausted: settled?.event._tag === "RunCompleted" ? (settled.event.exhausted ?? null) : null,
    ...(settled?.event._tag === "RunCompleted" && settled.event.callAsText !== undefined
      ? { callAsText: settled.event.callAsText }
      : {}),
    modelId: of("RunStarted").length > 0 ? "m" : null,
    abort: left === undefined ? null : { actor: left.actor, reason: "r", at: left.resolvedAt },
    attempts: of("AttemptStarted").map((one) => ({
      attempt: 1,
      epoch: 0,
      decision: "first-attempt",
      explanation: "new",
      startedAt: one.at,
      suspendedFor: null,
    })),
    turnViews,
    earlier: { turns: 0, calls: 0 },
    opening: [],
    policy: { maxTurns: 1, maxToolCalls: 1, maxDurationMillis: 1, toolConcurrency: 1 },
    asOf: sequence,
    serverTime: 1,
  });
};
