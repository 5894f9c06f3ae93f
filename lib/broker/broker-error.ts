/**
 * What a call inside a call can fail with, each as a value that the program may
 * catch, and the one failure that ends the outer call. `message` is a sentence
 * that is safe for models and logs.
 */
import * as Schema from "effect/Schema";

const inner = {
  toolName: Schema.String,
  /** Number of the call within its outer one, from 0; made by the broker (`CM-02`). */
  sequenceIndex: Schema.Int,
  message: Schema.String,
};

/** The call may not be made from a program at all; nothing of it ran (`CM-01`, `CM-06`, `X-20`). */
export class ProgrammaticToolNotAllowed extends Schema.TaggedError<ProgrammaticToolNotAllowed>()(
  "ProgrammaticToolNotAllowed",
  {
    ...inner,
    reason: Schema.Literals([
      "not-in-allowlist",
      "not-registered",
      "not-visible",
      "needs-approval",
      "selects-tools",
      "provider-executed",
      "call-ended",
    ]),
  },
) {}

/** The arguments do not decode by the tool's schema; no policy was asked, nothing ran (`CM-03`). */
export class ProgrammaticToolParametersInvalid extends Schema.TaggedError<ProgrammaticToolParametersInvalid>()(
  "ProgrammaticToolParametersInvalid",
  inner,
) {}

/** The host's policy refused this inner call; it cost no budget (`Z-11`). `message` is the policy's reason. */
export class ProgrammaticToolAuthorizationDenied extends Schema.TaggedError<ProgrammaticToolAuthorizationDenied>()(
  "ProgrammaticToolAuthorizationDenied",
  inner,
) {}

/** No call is left: of the run, of this outer call, or of attempts to make one (`CM-05`). */
export class ProgrammaticToolBudgetExceeded extends Schema.TaggedError<ProgrammaticToolBudgetExceeded>()(
  "ProgrammaticToolBudgetExceeded",
  {
    ...inner,
    dimension: Schema.Literals(["toolCalls", "programmaticCalls", "attempts"]),
    limit: Schema.Int,
  },
) {}

/** The tool failed as it declares, in either failure mode (`CM-07`). */
export class ProgrammaticToolFailed extends Schema.TaggedError<ProgrammaticToolFailed>()(
  "ProgrammaticToolFailed",
  {
    ...inner,
    errorTag: Schema.String,
    /** The failure in its declared encoding, bounded like any result (`T-18`). */
    failure: Schema.Json,
  },
) {}

/** What `ToolBroker.invoke` fails with. */
export const ProgrammaticToolError = Schema.Union([
  ProgrammaticToolNotAllowed,
  ProgrammaticToolParametersInvalid,
  ProgrammaticToolAuthorizationDenied,
  ProgrammaticToolBudgetExceeded,
  ProgrammaticToolFailed,
]);
export type ProgrammaticToolError = typeof ProgrammaticToolError.Type;

/**
 * A call that ran again made other inner calls than the records hold. It fails
 * with this, and its program cannot catch it: what the first program did stands,
 * and nothing says what the second one would do to it.
 */
export class ProgrammaticReplayMismatch extends Schema.TaggedError<ProgrammaticReplayMismatch>()(
  "ProgrammaticReplayMismatch",
  { ...inner, toolCallId: Schema.String },
) {}
