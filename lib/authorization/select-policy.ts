import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import type { AgentToolAuthorizationCheckError } from "#lib/agent-error.ts";
import { RunToolAuthorization, type ToolAuthorizationPolicy } from "#lib/run-options.ts";

/**
 * The policy that is asked, `undefined` for none, and where it comes from, so that
 * a console can say that no tool policy is installed (`Z-09`).
 */
export interface SelectedPolicy<E, R> {
  readonly source: "run" | "host" | "none";
  readonly policy: ToolAuthorizationPolicy<E | AgentToolAuthorizationCheckError, R> | undefined;
}

/** A host's choice of policy, absence included. */
export type CapturedPolicy = Option.Option<ToolAuthorizationPolicy>;

/**
 * Reads the policy around the caller, once. A durable host does so when it is
 * built and keeps the answer, absence included, so that no worker can bring
 * another one (`Z-08`).
 */
export const captureAuthorizationPolicy: Effect.Effect<CapturedPolicy> =
  Effect.serviceOption(RunToolAuthorization);

/** A run's own policy wins over the host's; without either, calls are allowed (`Z-08`, `Z-09`). */
export const selectPolicy = <E = never, R = never>(
  ofRun: ToolAuthorizationPolicy<E, R> | undefined,
  ofHost: CapturedPolicy,
): SelectedPolicy<E, R> => {
  if (ofRun !== undefined) return { source: "run", policy: ofRun };
  return Option.isSome(ofHost)
    ? { source: "host", policy: ofHost.value }
    : { source: "none", policy: undefined };
};
