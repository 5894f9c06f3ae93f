import * as Context from "effect/Context";
import * as Effect from "effect/Effect";

/** Completes when the server starts to close, so that streams end by themselves instead of being cut. */
export const ServerClosing = Context.Reference<Effect.Effect<void>>(
  "effect-agent/http/ServerClosing",
  { defaultValue: () => Effect.never },
);
