/**
 * A tool of your own as the target of the crash drill (`npm run drill -- --tool
 * MODULE#export`): the drill kills a real host around its call, and asks your
 * destination, not the runtime, how often the effect happened.
 */
import type * as Effect from "effect/Effect";
import type * as Layer from "effect/Layer";
import type * as Tool from "effect/unstable/ai/Tool";
import type * as Toolkit from "effect/unstable/ai/Toolkit";
import type { Json } from "#lib/contract/json/json.ts";

/** What the drill has to know of the tool and of the destination it acts on. */
export interface DrillTarget<Tools extends Record<string, Tool.Any>> {
  /** Holds the tool; its other tools are never called. */
  readonly toolkit: Toolkit.Toolkit<Tools>;
  /** Built in each host process; it must not rest on anything that dies with one. */
  readonly handlers: Layer.Layer<Tool.HandlersFor<Tools>, unknown>;
  readonly toolName: keyof Tools & string;
  /** Arguments in the tool's own encoding, good for a call that succeeds. */
  readonly parameters: Json;
  /** What an operator gives as the call's result where the effect is found; encoded as the tool's success is. */
  readonly result: Json;
  /** How often the destination did what it was asked to do under this key. */
  readonly timesDone: (idempotencyKey: string) => Effect.Effect<number, unknown>;
}

/** Keeps the types of the tool and its handlers together. */
export const drillTarget = <Tools extends Record<string, Tool.Any>>(
  target: DrillTarget<Tools>,
): DrillTarget<Tools> => target;
