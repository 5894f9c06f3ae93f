/**
 * Where the running call keeps what its steps gave. A port: the engine provides
 * it around every handler, `effect-agent/durable-step` uses it.
 */
import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type { Json } from "../contract/json/json.ts";

/** Why a step cannot be taken, in the words of `DurableStepError`. */
export interface RefusedStep {
  readonly reason: "invalid-name" | "duplicate-name" | "too-many-steps" | "call-ended";
  readonly message: string;
}

export interface CallSteps {
  /** Reserves the name for this execution of the call, and says what is recorded under it. */
  readonly claim: (
    name: string,
  ) =>
    | { readonly _tag: "fresh" }
    | { readonly _tag: "recorded"; readonly result: Json }
    | ({ readonly _tag: "refused" } & RefusedStep);
  /** Gives a name back whose body did not succeed, so that it may be tried again. */
  readonly release: (name: string) => void;
  /** Keeps the result before it returns. Never fails: where facts cannot be kept, the call ends. */
  readonly keep: (name: string, result: Json) => Effect.Effect<void>;
}

/** The steps of the call that the current handler serves; undefined outside of one. */
export const CurrentCallSteps = Context.Reference<CallSteps | undefined>(
  "effect-agent/durable/CurrentCallSteps",
  { defaultValue: () => undefined },
);
