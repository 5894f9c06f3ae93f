import * as Schema from "effect/Schema";

/**
 * A page of a kept result cannot be given. The model reads it and may go on.
 *
 * - `unknown-result`: no call of this run has a kept result of this id
 * - `not-kept`: the result was too large to keep, or this part of it was
 * - `beyond-end`: the result ends before this offset
 * - `damaged`: what is kept is not what the call's record says, so nothing of it is shown
 */
export class ToolResultReadError extends Schema.TaggedError<ToolResultReadError>()(
  "ToolResultReadError",
  {
    reason: Schema.Literals(["unknown-result", "not-kept", "beyond-end", "damaged"]),
    message: Schema.String,
  },
) {}
