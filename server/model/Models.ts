/**
 * The model that the settings name. A key or an address in the environment picks
 * a provider; without any, the rehearsal model answers over the same protocol.
 */
import { AnthropicClient, AnthropicLanguageModel } from "@effect/ai-anthropic";
import { OpenAiClient, OpenAiLanguageModel } from "@effect/ai-openai";
import {
  OpenAiClient as CompatClient,
  OpenAiLanguageModel as CompatLanguageModel,
} from "@effect/ai-openai-compat";
import { type Duration, Effect, Layer, Option, Redacted } from "effect";
import { FetchHttpClient } from "effect/unstable/http";

import { ModelCodec } from "#lib/engine/ModelCodec.ts";
import { RehearsalModel } from "#server/demo/rehearsal-model/RehearsalModel.ts";

import { mendResponses } from "./mend-responses.ts";
import { ModelBinding } from "./ModelBinding.ts";

/** The model settings of `server/Config.ts`. */
export interface ModelSettings {
  readonly openAiKey: Option.Option<Redacted.Redacted>;
  readonly openAiBaseUrl: Option.Option<string>;
  readonly openAiModel: Option.Option<string>;
  readonly anthropicKey: Option.Option<Redacted.Redacted>;
  readonly anthropicModel: Option.Option<string>;
}

export interface RehearsalSettings {
  /** Pause before each streamed event of the rehearsal model. */
  readonly eventPause?: Duration.Input;
}

/** Named where the settings do not; an endpoint of one's own needs its own name. */
const defaultModels = { openai: "gpt-5.2", compat: "gpt-4o-mini", anthropic: "claude-sonnet-4-5" };
const anthropicMaxTokens = 8_192;

const binding = (service: ModelBinding["Service"]) =>
  Layer.merge(
    Layer.succeed(ModelBinding, ModelBinding.of(service)),
    Layer.succeed(ModelCodec, service.codec),
  );

const responsesModel = (model: string, client: OpenAiClient.Options) =>
  OpenAiLanguageModel.layer({ model, config: { store: false } }).pipe(
    Layer.provide(OpenAiClient.layer({ ...client, transformClient: mendResponses })),
    Layer.provide(FetchHttpClient.layer),
  );

const openAi = (settings: ModelSettings, apiKey: Redacted.Redacted) => {
  const modelId = Option.getOrElse(settings.openAiModel, () => defaultModels.openai);
  return Layer.merge(
    responsesModel(modelId, { apiKey }),
    binding({ provider: "openai", modelId, isRehearsal: false, codec: ModelCodec.responses }),
  );
};

const openAiCompat = (settings: ModelSettings, apiUrl: string) => {
  const modelId = Option.getOrElse(settings.openAiModel, () => defaultModels.compat);
  const apiKey = Option.getOrUndefined(settings.openAiKey);
  const client = CompatClient.layer({ apiUrl, ...(apiKey === undefined ? {} : { apiKey }) });
  return Layer.merge(
    CompatLanguageModel.layer({ model: modelId }).pipe(
      Layer.provide(client),
      Layer.provide(FetchHttpClient.layer),
    ),
    binding({ provider: "openai-compat", modelId, isRehearsal: false, codec: ModelCodec.plain }),
  );
};

const anthropic = (settings: ModelSettings, apiKey: Redacted.Redacted) => {
  const modelId = Option.getOrElse(settings.anthropicModel, () => defaultModels.anthropic);
  return Layer.merge(
    AnthropicLanguageModel.layer({
      model: modelId,
      config: { max_tokens: anthropicMaxTokens },
    }).pipe(Layer.provide(AnthropicClient.layer({ apiKey })), Layer.provide(FetchHttpClient.layer)),
    binding({ provider: "anthropic", modelId, isRehearsal: false, codec: ModelCodec.anthropic }),
  );
};

const rehearsal = (options: RehearsalSettings) =>
  Layer.unwrap(
    Effect.map(RehearsalModel, ({ apiUrl, modelName }) =>
      Layer.merge(
        responsesModel(modelName, { apiUrl, apiKey: Redacted.make("rehearsal") }),
        binding({
          provider: "rehearsal",
          modelId: modelName,
          isRehearsal: true,
          codec: ModelCodec.responses,
        }),
      ),
    ),
  ).pipe(Layer.provide(RehearsalModel.layer(options)));

/**
 * `LanguageModel`, its `ModelCodec` and the `ModelBinding` that names it. An
 * address of one's own comes before a key, a key of OpenAI before Anthropic's.
 */
export const modelLayer = (settings: ModelSettings, options: RehearsalSettings = {}) => {
  if (Option.isSome(settings.openAiBaseUrl))
    return openAiCompat(settings, settings.openAiBaseUrl.value);
  if (Option.isSome(settings.openAiKey)) return openAi(settings, settings.openAiKey.value);
  if (Option.isSome(settings.anthropicKey)) return anthropic(settings, settings.anthropicKey.value);
  return rehearsal(options);
};
