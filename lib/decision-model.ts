/** Upstream's `DecisionModel` answered by a language model, for where no evaluator of its own is at hand (DM-01). */
export { layerLanguageModel } from "#lib/decision/layer-language-model.ts";
