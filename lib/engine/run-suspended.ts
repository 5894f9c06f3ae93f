import * as Schema from "effect/Schema";
import { Value as PrivateCause } from "#lib/failure-diagnostic.ts";

/**
 * An ephemeral run let go because a person must decide: an approval nobody
 * answered, or an effect in doubt (A-06, DU-17). A durable host waits instead.
 */
export class AgentRunSuspended extends Schema.TaggedError<AgentRunSuspended>()(
  "AgentRunSuspended",
  {
    runId: Schema.String,
    waitingFor: Schema.Literals(["approval", "unknown"]),
    /** Why the approval resolver could not answer, where it failed. */
    cause: Schema.optionalKey(PrivateCause),
  },
) {
  override get message() {
    return this.waitingFor === "approval"
      ? `Run ${this.runId} waits for an approval that nobody here can give; use a durable host to wait for one.`
      : `Run ${this.runId} has an effect in doubt that only a person can settle.`;
  }
}
