/**
 * Which events the console sees for each journal record. Pure and total over the
 * union: a record kind without a row here does not compile. Facts that a
 * person's own transaction already announced (a decision, a resolution, an
 * abort) are not announced twice: their records give nothing, or only that the
 * run has received them.
 */
import { canonicalJson } from "../contract/json/canonical-json.ts";
import type { Json } from "../contract/json/json.ts";
import { utf8ByteLength } from "../contract/json/utf8.ts";
import type { EventOf, RunEvent } from "../contract/events.ts";
import type {
  DeclaredCall,
  FailureSummary,
  RecordOf,
  RunRecord,
  RunRecordKind,
} from "../contract/records.ts";
import { isAnnouncedByRecord } from "./rule-actors.ts";

/** A JSON value longer than this many UTF-8 bytes is cut in events: 16 KiB. */
export const maxEventValueBytes = 16_384;
/** How many characters of a cut value are still shown. */
export const cutHeadLength = 1_024;

/** The first `length` characters, never half of a surrogate pair. */
const headOf = (text: string, length: number): string => {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
};

/** A `CutValue` in the place of a value of so many bytes whose canonical text begins like this. */
export const cutOf = (beginning: string, originalBytes: number) => ({
  cut: true,
  originalBytes,
  head: headOf(beginning, cutHeadLength),
});

/** The value itself, or a `CutValue` that tells its size and its beginning when it has more than `maxBytes`. */
export const cutLongValue = (value: Json, maxBytes: number): Json => {
  const text = canonicalJson(value);
  // No character is less than a byte: short text, which most is, need not be measured.
  if (text.length * 3 <= maxBytes) return value;
  const originalBytes = utf8ByteLength(text);
  return originalBytes <= maxBytes ? value : cutOf(text, originalBytes);
};

/** What an event carries of a value. */
export const cutValue = (value: Json): Json => cutLongValue(value, maxEventValueBytes);

/** The text itself, or its beginning with a marker that says how much was cut. */
const cutText = (text: string): string =>
  text.length <= maxEventValueBytes / 4
    ? text
    : `${headOf(text, maxEventValueBytes / 4)} [cut; ${text.length} characters in all]`;

const cutFailure = (failure: FailureSummary): FailureSummary => ({
  ...failure,
  message: cutText(failure.message),
});

const callOf = (
  record: RecordOf<
    | "ToolCallPrepared"
    | "ToolCallSettled"
    | "ToolCallUnknown"
    | "UnknownProbed"
    | "UnknownResolved"
    | "ApprovalRequested"
    | "ApprovalDecided"
    | "AuthorizationDenied"
    | "AuthorizationCheckFailed"
  >,
) => ({
  turn: record.turn,
  callId: record.callId,
  toolName: record.toolName,
});

/** The sentence a denied or skipped call carries for people, wherever the engine put it. */
const reasonOf = (record: RecordOf<"ToolCallSettled">): string => {
  if (record.failure !== undefined) return cutText(record.failure.message);
  const result = record.result;
  if (typeof result === "string") return cutText(result);
  if (result !== null && typeof result === "object") {
    const reason: unknown = Object.getOwnPropertyDescriptor(result, "reason")?.value;
    if (typeof reason === "string") return cutText(reason);
  }
  return "";
};

const settledCall = (record: RecordOf<"ToolCallSettled">): RunEvent => {
  const call = callOf(record);
  switch (record.kind) {
    case "succeeded":
      return {
        _tag: "ToolCallSucceeded",
        ...call,
        result: cutValue(record.result),
        ...(record.selection === undefined ? {} : { toolSelection: record.selection }),
        originalBytes: record.originalBytes,
        ...(record.kept === undefined ? {} : { keptBytes: record.kept.bytes }),
      };
    case "failed":
    case "rejected":
      return {
        _tag: "ToolCallFailed",
        ...call,
        ...(record.failureMode === undefined ? {} : { failureMode: record.failureMode }),
        ...(record.failureHandling === undefined
          ? {}
          : { failureHandling: record.failureHandling }),
        rejected: record.kind === "rejected",
        result: cutValue(record.result),
        ...(record.kept === undefined
          ? {}
          : { originalBytes: record.originalBytes, keptBytes: record.kept.bytes }),
        ...(record.failure === undefined ? {} : { failure: cutFailure(record.failure) }),
      };
    case "denied-by-person":
      return { _tag: "ToolCallDenied", ...call, by: "person", reason: reasonOf(record) };
    case "expired":
      return { _tag: "ToolCallDenied", ...call, by: "expiry", reason: reasonOf(record) };
    case "not-executed":
      return { _tag: "ToolCallNotExecuted", ...call, reason: reasonOf(record) };
  }
};

const declaredCall = (turn: number, call: DeclaredCall): EventOf<"ToolCallDeclared"> => ({
  _tag: "ToolCallDeclared",
  turn,
  callId: call.callId,
  toolName: call.toolName,
  index: call.index,
  parameters: cutValue(call.parameters),
  providerExecuted: call.providerExecuted,
  executionClass: call.executionClass,
  ...(call.parentCallId === undefined ? {} : { parentCallId: call.parentCallId }),
});

const recordedTurn = (record: RecordOf<"TurnRecorded">): ReadonlyArray<RunEvent> => [
  {
    _tag: "TurnRecorded",
    turn: record.turn,
    text: cutText(record.text),
    callCount: record.calls.length,
    exposure: record.exposure,
    finishReason: record.finishReason,
    usage: record.usage,
    startedAt: record.startedAt,
  },
  ...record.calls.map((call) => declaredCall(record.turn, call)),
];

const settledRun = (record: RecordOf<"RunSettled">): RunEvent => {
  const told = {
    ...(record.exhausted === undefined ? {} : { exhausted: record.exhausted }),
    ...(record.callAsText === undefined ? {} : { callAsText: record.callAsText }),
  };
  switch (record.outcome) {
    case "completed":
      return {
        _tag: "RunCompleted",
        output: cutValue(record.output ?? null),
        finishReason: record.finishReason,
        ...told,
      };
    case "failed":
      return {
        _tag: "RunFailed",
        failure:
          record.failure === undefined
            ? { errorTag: "UnstatedFailure", message: `The run failed (${record.finishReason}).` }
            : cutFailure(record.failure),
        finishReason: record.finishReason,
        ...told,
      };
    case "aborted":
      return { _tag: "RunAborted", reason: cutText(record.failure?.message ?? "") };
  }
};

type EventsOf = {
  readonly [Kind in RunRecordKind]: (record: RecordOf<Kind>) => ReadonlyArray<RunEvent>;
};

const eventsByKind: EventsOf = {
  RunOpened: (record) => [
    { _tag: "RunStarted", submissionId: record.submissionId, modelId: record.modelId },
  ],
  AttemptStarted: (record) => [
    {
      _tag: "AttemptStarted",
      attempt: record.attempt,
      decision: record.decision,
      explanation: cutText(record.explanation),
    },
  ],
  TurnRecorded: recordedTurn,
  ApprovalRequested: (record) => [
    {
      _tag: "ApprovalRequested",
      ...callOf(record),
      requestId: record.requestId,
      summary: record.request.summary,
      risk: record.request.risk,
      expiresAt: record.request.expiresAt === "never" ? null : record.request.expiresAt,
    },
  ],
  ApprovalDecided: (record) => [
    // A rule's decision has no transaction of its own that could have announced it.
    ...(record.actor.kind === "policy"
      ? [
          {
            _tag: "ApprovalDecided" as const,
            ...callOf(record),
            requestId: record.requestId,
            decision: record.decision,
            actor: record.actor,
            reason: cutText(record.reason),
          },
        ]
      : []),
    { _tag: "ApprovalDelivered", ...callOf(record), requestId: record.requestId },
  ],
  AuthorizationDenied: (record) => [
    {
      _tag: "ToolCallDenied",
      ...callOf(record),
      by: "policy",
      reason: cutText(record.reason),
      denialId: record.denialId,
    },
  ],
  AuthorizationCheckFailed: (record) => [
    {
      _tag: "AuthorizationCheckFailed",
      ...callOf(record),
      message: cutText(record.message),
      denialId: record.denialId,
    },
  ],
  InnerCallDeclared: (record) => [declaredCall(record.turn, record.declared)],
  ToolCallPrepared: (record) => [
    {
      _tag: "ToolCallStarted",
      ...callOf(record),
      attempt: record.attempt,
      ...(record.parentCallId === undefined ? {} : { parentCallId: record.parentCallId }),
    },
  ],
  StepRecorded: (record) => [
    {
      _tag: "StepRecorded",
      turn: record.turn,
      callId: record.callId,
      toolName: record.toolName,
      name: record.name,
      result: cutValue(record.result),
      attempt: record.attempt,
    },
  ],
  ToolCallSettled: (record) => [settledCall(record)],
  ToolCallUnknown: (record) => [
    {
      _tag: "ToolCallUnknown",
      ...callOf(record),
      unknownId: record.unknownId,
      detail: cutText(record.detail),
    },
  ],
  UnknownProbed: (record) => [
    {
      _tag: "UnknownProbed",
      ...callOf(record),
      unknownId: record.unknownId,
      finding: record.finding,
      detail: cutText(record.detail),
      actor: record.actor,
    },
  ],
  // A person's own transaction announced it; a rule has none that could have (DU-06).
  UnknownResolved: (record) =>
    isAnnouncedByRecord(record.actor)
      ? [
          {
            _tag: "UnknownResolved",
            ...callOf(record),
            unknownId: record.unknownId,
            resolution: record.resolution,
            actor: record.actor,
          },
        ]
      : [],
  AbortRequested: () => [],
  RunSuspended: (record) => [{ _tag: "RunSuspended", waitingFor: record.waitingFor }],
  RunSettled: (record) => [settledRun(record)],
};

/**
 * The events that follow from one record, in order. Values over
 * {@link maxEventValueBytes} are cut; private evidence never appears (DX-06).
 */
export const eventsOf = (record: RunRecord): ReadonlyArray<RunEvent> => {
  // The table is keyed by the record's own tag, a correlation that TypeScript cannot follow.
  const give = eventsByKind[record._tag] as (record: RunRecord) => ReadonlyArray<RunEvent>;
  return give(record);
};
