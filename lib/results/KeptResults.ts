import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";

/** What the run can say of one kept result. */
export type FoundResult =
  | { readonly _tag: "none" }
  | { readonly _tag: "damaged" }
  | {
      readonly _tag: "kept";
      readonly source: string;
      readonly bytes: number;
      readonly originalBytes: number;
    };

/** The kept results of the running call's own run, and how large an answer may be. */
export interface KeptResultsShape {
  /** UTF-8 bytes of a result that the model sees whole (T-18). */
  readonly maxBytes: number;
  readonly find: (resultId: string) => Effect.Effect<FoundResult>;
}

/**
 * What the handler of `read_tool_result` reads from. The engine provides it around
 * that handler; outside an agent there is none, and nothing is found.
 */
export const KeptResults = Context.Reference<KeptResultsShape | undefined>(
  "effect-agent/tool-results/KeptResults",
  { defaultValue: () => undefined },
);
