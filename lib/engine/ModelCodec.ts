import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import type * as Schema from "effect/Schema";
import { toCodecAnthropic } from "effect/unstable/ai/AnthropicStructuredOutput";
import { type CodecTransformer, defaultCodecTransformer } from "effect/unstable/ai/LanguageModel";
import * as Model from "effect/unstable/ai/Model";
import { toCodecOpenAI } from "effect/unstable/ai/OpenAiStructuredOutput";

/**
 * How the current model wants its tool schemas and writes its arguments.
 * Upstream's model service does not tell, and both OpenAI packages give the
 * provider name "openai", so a host that talks chat completions provides
 * `ModelCodec.plain` itself.
 */
export class ModelCodec extends Context.Service<
  ModelCodec,
  { readonly transformer: CodecTransformer }
>()("effect-agent/engine/ModelCodec") {
  /** Strict Responses: optional keys nullable, records as arrays of pairs. */
  static readonly responses = ModelCodec.of({ transformer: toCodecOpenAI });
  /** Chat completions: the schema as declared, which local models follow better. */
  static readonly plain = ModelCodec.of({ transformer: defaultCodecTransformer });
  static readonly anthropic = ModelCodec.of({ transformer: toCodecAnthropic });
}

/** The provided codec, else the one that the provider's name stands for, else the plain one. */
export const currentModelCodec: Effect.Effect<ModelCodec["Service"]> = Effect.gen(function* () {
  const provided = yield* Effect.serviceOption(ModelCodec);
  if (Option.isSome(provided)) return provided.value;
  const provider = yield* Effect.serviceOption(Model.ProviderName);
  switch (Option.getOrUndefined(provider)) {
    case "openai":
      return ModelCodec.responses;
    case "anthropic":
      return ModelCodec.anthropic;
    default:
      return ModelCodec.plain;
  }
});

type ArgumentCodec = Schema.ConstraintCodec<unknown, unknown>;

/** Deriving a codec and its parser costs more than using it, and a batch uses the same one for every call of a tool. */
const derived = new WeakMap<
  CodecTransformer,
  WeakMap<ArgumentCodec, ReadonlyArray<ArgumentCodec>>
>();

/** Codecs tried for raw arguments: the model's own first, then the other shapes models are known to write (R41, R42). */
export const argumentCodecs = (
  codec: ModelCodec["Service"],
  schema: ArgumentCodec,
): ReadonlyArray<ArgumentCodec> => {
  const known =
    derived.get(codec.transformer) ?? new WeakMap<ArgumentCodec, ReadonlyArray<ArgumentCodec>>();
  derived.set(codec.transformer, known);
  const codecs = known.get(schema) ?? deriveCodecs(codec, schema);
  known.set(schema, codecs);
  return codecs;
};

const deriveCodecs = (
  codec: ModelCodec["Service"],
  schema: ArgumentCodec,
): ReadonlyArray<ArgumentCodec> => {
  const transformers = [codec.transformer, defaultCodecTransformer, toCodecOpenAI];
  const distinct = transformers.filter((one, index) => transformers.indexOf(one) === index);
  return distinct.flatMap((transformer) => {
    try {
      return [transformer(schema).codec];
    } catch {
      // The OpenAI transformation refuses schemas that strict mode cannot express; the others still read them.
      return [];
    }
  });
};
