/** Open to anybody: they say whether the server answers and whether it can work, and nothing more (C043). */
import * as Schema from "effect/Schema";
import { HttpApiEndpoint, HttpApiGroup } from "effect/unstable/httpapi";
import { StoreUnavailable } from "../errors.ts";

export const healthGroup = HttpApiGroup.make("health").add(
  HttpApiEndpoint.get("health", "/health", {
    success: Schema.Struct({ status: Schema.Literal("alive") }),
  }),
  HttpApiEndpoint.get("ready", "/ready", {
    success: Schema.Struct({ status: Schema.Literal("ready") }),
    error: StoreUnavailable,
  }),
);
