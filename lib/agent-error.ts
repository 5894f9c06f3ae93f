/**
 * Every typed way a run can fail by decision of the runtime.
 *
 * A declared tool failure keeps its own type (`F-01`) and is not in this file.
 * `message` is always a sentence that is safe for models and logs; `cause` is
 * private evidence that encodes to a bounded diagnostic and is never sent to a
 * model (`DX-06`).
 */
import * as Schema from "effect/Schema";
import { Value as PrivateCause } from "#lib/failure-diagnostic.ts";

export { AgentRunSuspended } from "#lib/engine/run-suspended.ts";

const call = { toolCallId: Schema.String, toolName: Schema.String };
const privateCause = Schema.optionalKey(PrivateCause);

/**
 * The policy refused the call (`Z-04`). Fails the run before any handler of the
 * batch. `message` is the policy's reason; `cause` its private evidence.
 */
export class AgentToolAuthorizationDenied extends Schema.TaggedError<AgentToolAuthorizationDenied>()(
  "AgentToolAuthorizationDenied",
  { ...call, message: Schema.String, cause: privateCause },
) {}

/**
 * The policy could not be asked: storage, transport or state trouble (`Z-06`).
 * Not a denial, and never turned into one. `cause` takes any live value.
 */
export class AgentToolAuthorizationCheckError extends Schema.TaggedError<AgentToolAuthorizationCheckError>()(
  "AgentToolAuthorizationCheckError",
  {
    ...call,
    message: Schema.String,
    cause: PrivateCause,
    /** Name of the check that could not be made. */
    check: Schema.optionalKey(Schema.String),
    /** Call id of an inner call, where the check was for one. */
    callId: Schema.optionalKey(Schema.String),
  },
) {}

/** A person denied a call whose tool declares denial as terminal (`A-06`). */
export class AgentToolApprovalDenied extends Schema.TaggedError<AgentToolApprovalDenied>()(
  "AgentToolApprovalDenied",
  {
    ...call,
    message: Schema.String,
    requestId: Schema.optionalKey(Schema.String),
  },
) {}

/** Nobody decided in time and the tool declares denial as terminal (`A-07`). */
export class AgentToolApprovalExpired extends Schema.TaggedError<AgentToolApprovalExpired>()(
  "AgentToolApprovalExpired",
  {
    ...call,
    message: Schema.String,
    requestId: Schema.optionalKey(Schema.String),
    /** Milliseconds since the epoch, by the clock that owns the run. */
    expiredAt: Schema.Int,
  },
) {}

/**
 * An approval request cannot be made or granted: a rule's function failed, its
 * answer is over a bound, or the resolver itself failed (`A-02`, `A-04`, `A-10`).
 * The call is not executed.
 */
export class ApprovalPolicyError extends Schema.TaggedError<ApprovalPolicyError>()(
  "ApprovalPolicyError",
  {
    ...call,
    /** The part of the approval that failed. */
    part: Schema.Literals([
      "need",
      "summary",
      "targets",
      "preview",
      "expiry",
      "rule",
      "policy",
      "resolver",
    ]),
    message: Schema.String,
    cause: privateCause,
  },
) {}

/**
 * What the model or the request did that the protocol does not allow (`B-01`,
 * `T-17`, `X-04`, `X-06`). No handler of the batch runs.
 */
export class ModelProtocolError extends Schema.TaggedError<ModelProtocolError>()(
  "ModelProtocolError",
  {
    reason: Schema.Literals([
      "exposure-limit",
      "unknown-initial-tool",
      "mandatory-tool-hidden",
      "invalid-selection",
      "missing-exposure",
      "incomplete-response",
      "part-lifecycle",
      "finish-reason",
      "response-limit",
      "malformed-response",
      "invalid-call-id",
      "duplicate-call-id",
    ]),
    message: Schema.String,
    toolCallId: Schema.optionalKey(Schema.String),
    toolName: Schema.optionalKey(Schema.String),
    limit: Schema.optionalKey(Schema.Finite),
    seen: Schema.optionalKey(Schema.Finite),
    cause: privateCause,
  },
) {}

/**
 * A declared call that is fatal for its run: wrong parameters without `return`
 * mode, an unknown or unexposed tool, wrong provider-executed parameters, or
 * arguments that are no JSON (`F-07`). No handler of the batch runs.
 */
export class AgentToolCallRejected extends Schema.TaggedError<AgentToolCallRejected>()(
  "AgentToolCallRejected",
  {
    ...call,
    reason: Schema.Literals([
      "parameters",
      "unknown-tool",
      "unexposed-tool",
      "ineligible-tool",
      "provider-parameters",
      "malformed-arguments",
    ]),
    message: Schema.String,
    cause: privateCause,
  },
) {}

/** A handler's result does not encode to JSON, in either failure mode (`F-04`, `T-06`). */
export class AgentToolResultEncodingError extends Schema.TaggedError<AgentToolResultEncodingError>()(
  "AgentToolResultEncodingError",
  {
    ...call,
    reason: Schema.Literals(["schema", "not-json", "undeclared-failure"]),
    message: Schema.String,
    cause: privateCause,
  },
) {}

/** Too many failed calls in a row (`F-13`). */
export class AgentRepeatedFailureError extends Schema.TaggedError<AgentRepeatedFailureError>()(
  "AgentRepeatedFailureError",
  {
    /** The call that reached the limit. */
    ...call,
    limit: Schema.Int,
    seen: Schema.Int,
    message: Schema.String,
  },
) {}

/** A budget of the run is spent and no final answer could be had (`F-14`). `duration` counts milliseconds. */
export class AgentBudgetExceeded extends Schema.TaggedError<AgentBudgetExceeded>()(
  "AgentBudgetExceeded",
  {
    dimension: Schema.Literals(["turns", "toolCalls", "duration"]),
    limit: Schema.Finite,
    seen: Schema.Finite,
    message: Schema.String,
  },
) {}

/** The final answer does not decode through the agent's output schema. */
export class AgentOutputInvalid extends Schema.TaggedError<AgentOutputInvalid>()(
  "AgentOutputInvalid",
  {
    message: Schema.String,
    cause: privateCause,
  },
) {}

/** An agent definition contradicts itself; found before any run starts (`X-02`, `D-15`). */
export class AgentDefinitionError extends Schema.TaggedError<AgentDefinitionError>()(
  "AgentDefinitionError",
  {
    agentName: Schema.optionalKey(Schema.String),
    toolName: Schema.optionalKey(Schema.String),
    message: Schema.String,
    cause: privateCause,
  },
) {}

/** A run asked for a concurrency that is no positive whole number (`S-01`). */
export class SchedulingOverrideInvalid extends Schema.TaggedError<SchedulingOverrideInvalid>()(
  "SchedulingOverrideInvalid",
  {
    /** The value seen, as text, because it may be no number at all. */
    seen: Schema.String,
    /** The agent policy's maximum, where it is known. */
    limit: Schema.optionalKey(Schema.Int),
    message: Schema.String,
  },
) {}
