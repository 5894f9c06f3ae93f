/** Which model answers, as the engine and the console need to know it. */
import { Context } from "effect";

import type { ModelCodec } from "#lib/engine/ModelCodec.ts";

export class ModelBinding extends Context.Service<
  ModelBinding,
  {
    readonly provider: "openai" | "openai-compat" | "anthropic" | "rehearsal";
    /** The name that the endpoint is asked for. */
    readonly modelId: string;
    /** True: rules answer, not a model; the console says so. */
    readonly isRehearsal: boolean;
    /** How this provider writes tool schemas and arguments. */
    readonly codec: ModelCodec["Service"];
  }
>()("effect-agent/server/model/ModelBinding") {}
