import * as Result from "effect/Result";
import { AgentDefinitionError } from "#lib/agent-error.ts";

/** What a definition may say about its limits; everything has a default (RT-01). */
export interface RunPolicyOptions {
  /** Model responses per run, the constrained last answer not counted: 1 to 1,000; default 12. */
  readonly maxTurns?: number;
  /** Declared tool calls per run, rejected ones included: 1 to 20,000; default 24. */
  readonly maxToolCalls?: number;
  /** Active milliseconds per run; waits for people do not count (DU-16): 1 to 86,400,000; default 300,000. */
  readonly maxDurationMillis?: number;
  /** Handlers and call streams open at once: 1 to 256; default 4 (B-03, S-03). */
  readonly toolConcurrency?: number;
  /** Consecutive failed calls that end the run: 0 (never) to 1,000; default 3 (F-13). */
  readonly repeatedFailureLimit?: number;
  /** What an exhausted budget does: one last answer without tools (default), or a typed failure (F-14). */
  readonly onExhaustion?: "final-answer" | "fail";
  /** UTF-8 bytes of a result that the model sees: 256 to 1,048,576; default 51,200 (T-18). */
  readonly toolResultBounds?: { readonly maxBytes: number };
  /** Whether an effect in doubt holds back the thread's next submission (DU-15); default `park`. */
  readonly unknownPolicy?: "park" | "block";
  /**
   * A call of a tool that its request did not offer. It fails the run (default), or
   * its whole batch goes back to the model: nothing of it started, each call with a
   * failed result that says so (X-09, F-07).
   */
  readonly unofferedCalls?: "fail" | "return";
}

/** Every limit of an agent, defaults filled in; the bounds are those of {@link RunPolicyOptions} (RT-01). */
export interface RunPolicy {
  readonly maxTurns: number;
  readonly maxToolCalls: number;
  readonly maxDurationMillis: number;
  readonly toolConcurrency: number;
  readonly repeatedFailureLimit: number;
  readonly onExhaustion: "final-answer" | "fail";
  readonly toolResultBounds: { readonly maxBytes: number };
  readonly unknownPolicy: "park" | "block";
  readonly unofferedCalls: "fail" | "return";
}

/** What holds where a definition says nothing (RT-01). */
export const defaultRunPolicy: RunPolicy = {
  maxTurns: 12,
  maxToolCalls: 24,
  maxDurationMillis: 300_000,
  toolConcurrency: 4,
  repeatedFailureLimit: 3,
  onExhaustion: "final-answer",
  toolResultBounds: { maxBytes: 51_200 },
  unknownPolicy: "park",
  unofferedCalls: "fail",
};

const bounds = {
  maxTurns: [1, 1_000],
  maxToolCalls: [1, 20_000],
  maxDurationMillis: [1, 86_400_000],
  toolConcurrency: [1, 256],
  repeatedFailureLimit: [0, 1_000],
} as const;

/** Fills in defaults; a value out of bounds is named with its limit and what was seen. */
export const resolveRunPolicy = (
  agentName: string,
  options: RunPolicyOptions,
): Result.Result<RunPolicy, AgentDefinitionError> => {
  const policy: RunPolicy = { ...defaultRunPolicy, ...options };
  for (const [name, [minimum, maximum]] of Object.entries(bounds)) {
    const seen = policy[name as keyof typeof bounds]; // keys of a literal object
    if (!Number.isInteger(seen) || seen < minimum || seen > maximum) {
      return Result.fail(outOfBounds(agentName, name, minimum, maximum, seen));
    }
  }
  const { maxBytes } = policy.toolResultBounds;
  if (!Number.isInteger(maxBytes) || maxBytes < 256 || maxBytes > 1_048_576) {
    return Result.fail(
      outOfBounds(agentName, "toolResultBounds.maxBytes", 256, 1_048_576, maxBytes),
    );
  }
  return Result.succeed(policy);
};

const outOfBounds = (
  agentName: string,
  name: string,
  minimum: number,
  maximum: number,
  seen: number,
) =>
  new AgentDefinitionError({
    agentName,
    message: `Policy ${name} of agent ${agentName} must be a whole number from ${minimum} to ${maximum}; seen ${seen}.`,
  });
