import * as Result from "effect/Result";
import type { Json } from "#lib/contract/json/json.ts";
import { toJson } from "#lib/contract/json/to-json.ts";
import type { ToolAuthorizationRequest } from "#lib/run-options.ts";

/** Whose call it is. */
export type AuthorizationIdentity = Pick<
  ToolAuthorizationRequest,
  "threadId" | "runId" | "turnId" | "turnNumber"
>;

/** The encoded data a policy is asked about. */
export interface AuthorizedCallFacts {
  /** The run's input, encoded. */
  readonly input: unknown;
  readonly call: ToolAuthorizationRequest["call"];
  readonly programmatic?: ToolAuthorizationRequest["programmatic"];
}

/**
 * The question a policy is asked about one call (`Z-02`).
 *
 * Input and parameters are fresh copies of their JSON: a policy that changes them
 * changes nothing of the run, and it never holds the object a handler receives.
 * Fields a policy has no business with are not copied.
 */
export const buildAuthorizationRequest = (
  identity: AuthorizationIdentity,
  facts: AuthorizedCallFacts,
): ToolAuthorizationRequest => ({
  threadId: identity.threadId,
  runId: identity.runId,
  turnId: identity.turnId,
  turnNumber: identity.turnNumber,
  input: detached(facts.input),
  call: {
    toolCallId: facts.call.toolCallId,
    toolName: facts.call.toolName,
    parameters: detached(facts.call.parameters),
    executionClass: facts.call.executionClass,
  },
  ...(facts.programmatic === undefined
    ? {}
    : {
        programmatic: {
          parentToolCallId: facts.programmatic.parentToolCallId,
          sequenceIndex: facts.programmatic.sequenceIndex,
        },
      }),
});

/** What is no JSON cannot be shown to a policy and is shown as `null`: encoded data is always JSON. */
const detached = (value: unknown): Json => Result.getOrElse(toJson(value), () => null);
