/** `Wakes` in memory: nobody is woken. Whoever drives threads in a test looks for what is due by itself. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { Wakes } from "../Wakes.ts";

export const layer: Layer.Layer<Wakes> = Layer.succeed(Wakes, { wake: () => Effect.void });
