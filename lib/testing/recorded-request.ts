/**
 * What a scripted model was asked, in a form a test can compare.
 */
import * as Schema from "effect/Schema";
import type * as JsonSchema from "effect/JsonSchema";
import type * as LanguageModel from "effect/unstable/ai/LanguageModel";
import * as Prompt from "effect/unstable/ai/Prompt";
import * as Tool from "effect/unstable/ai/Tool";

/** A tool as one request declared it. */
export interface RecordedTool {
  readonly name: string;
  readonly description: string | undefined;
  /** After the model's own schema transformation. */
  readonly jsonSchema: JsonSchema.JsonSchema;
  readonly providerDefined: boolean;
}

/** One request, normalised (`RT-04`). */
export interface RecordedRequest {
  /** 0 for the first request. */
  readonly index: number;
  readonly method: "generateText" | "streamText";
  readonly prompt: Prompt.Prompt;
  /** The prompt as JSON: what would go to a provider, comparable byte by byte. */
  readonly encodedPrompt: typeof Prompt.Prompt.Encoded;
  readonly tools: ReadonlyArray<RecordedTool>;
  readonly toolChoice: LanguageModel.ToolChoice<string>;
  readonly responseFormat: "text" | "json";
}

const encodePrompt = Schema.encodeSync(Prompt.Prompt);

/** Normalises what the core hands to a provider. */
export const recordRequest = (
  index: number,
  method: RecordedRequest["method"],
  options: LanguageModel.ProviderOptions,
  transformer: LanguageModel.CodecTransformer | undefined,
): RecordedRequest => {
  // Prompts are immutable, and most are never looked at: they are encoded when somebody does.
  let encoded: typeof Prompt.Prompt.Encoded | undefined;
  return {
    index,
    method,
    prompt: options.prompt,
    get encodedPrompt() {
      return (encoded ??= encodePrompt(options.prompt));
    },
    tools: options.tools.map((tool) => ({
      name: tool.name,
      description: Tool.getDescription(tool),
      jsonSchema: Tool.getJsonSchema(tool, transformer === undefined ? {} : { transformer }),
      providerDefined: Tool.isProviderDefined(tool),
    })),
    toolChoice: options.toolChoice,
    responseFormat: options.responseFormat.type,
  };
};

/** The tool results of a prompt in the order the model reads them. */
export const toolResultsOf = (prompt: Prompt.Prompt): ReadonlyArray<Prompt.ToolResultPart> =>
  prompt.content.flatMap((message) =>
    message.role === "tool" ? message.content.filter((part) => part.type === "tool-result") : [],
  );
