/**
 * One scripted model response, and the encoded parts a provider would send for
 * it. Pure: the same turn always gives the same parts.
 */
import type * as Duration from "effect/Duration";
import * as AiError from "effect/unstable/ai/AiError";
import type * as Response from "effect/unstable/ai/Response";
import * as Tool from "effect/unstable/ai/Tool";

/** A piece of a scripted response, in the order in which the model "writes" it. */
export type ScriptedPart =
  | { readonly _tag: "text"; readonly text: string }
  | { readonly _tag: "reasoning"; readonly text: string }
  | {
      readonly _tag: "toolCall";
      readonly id: string;
      readonly name: string;
      /** The arguments as text, so that they can be anything at all, JSON or not. */
      readonly argumentsText: string;
      readonly providerExecuted: boolean;
    }
  | {
      readonly _tag: "providerResult";
      readonly id: string;
      readonly name: string;
      readonly result: unknown;
      readonly isFailure: boolean;
    }
  /** Sent as it is, valid or not. */
  | { readonly _tag: "raw"; readonly part: Response.StreamPartEncoded };

/** One scripted response. */
export interface ScriptedTurn {
  readonly parts: ReadonlyArray<ScriptedPart>;
  /** Default: `"tool-calls"` when an application call is declared, else `"stop"`; `"omitted"` sends no finish. */
  readonly finishReason?: Response.FinishReason | "omitted";
  /** Token counts of the finish part; unknown by default. */
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number };
  /** Wait before the first part. */
  readonly delay?: Duration.Input;
  /** Wait before each further part; streamed responses only. */
  readonly partDelay?: Duration.Input;
  /** Deltas of two or more tool calls alternate instead of coming one call after the other. */
  readonly interleaved?: boolean;
  /** Only this many encoded parts are sent, then the response ends as if it had been cut. */
  readonly cutAfter?: number;
  /** The response fails with this after the parts that are sent. */
  readonly error?: AiError.AiError;
}

/** A tool call as a test writes it. */
export interface ScriptedToolCall {
  readonly id: string;
  readonly name: string;
  /** Arguments as JSON data; `{}` when absent. */
  readonly params?: unknown;
  /** Arguments as the exact text the model wrote; wins over `params`. */
  readonly argumentsText?: string;
}

/** A response that is text and nothing else. */
export const text = (text: string, options: Omit<ScriptedTurn, "parts"> = {}): ScriptedTurn => ({
  ...options,
  parts: [{ _tag: "text", text }],
});

/** A response whose text is a JSON value, as agents with structured output finish. */
export const json = (value: unknown, options: Omit<ScriptedTurn, "parts"> = {}): ScriptedTurn =>
  text(JSON.stringify(value), options);

/** A response that declares application tool calls. */
export const toolCalls = (
  calls: ReadonlyArray<ScriptedToolCall>,
  options: Omit<ScriptedTurn, "parts"> & { readonly text?: string } = {},
): ScriptedTurn => {
  const { text: leading, ...rest } = options;
  return {
    ...rest,
    parts: [
      ...(leading === undefined ? [] : [{ _tag: "text" as const, text: leading }]),
      ...calls.map((call) => callPart(call, false)),
    ],
  };
};

/** A call the provider executes by itself, with its result (`T-14`). */
export const providerCall = (
  call: ScriptedToolCall & { readonly result: unknown; readonly isFailure?: boolean },
): ReadonlyArray<ScriptedPart> => [
  callPart(call, true),
  {
    _tag: "providerResult",
    id: call.id,
    name: call.name,
    result: call.result,
    isFailure: call.isFailure ?? false,
  },
];

const callPart = (call: ScriptedToolCall, providerExecuted: boolean): ScriptedPart => ({
  _tag: "toolCall",
  id: call.id,
  name: call.name,
  argumentsText: call.argumentsText ?? JSON.stringify(call.params ?? {}),
  providerExecuted,
});

/** What a provider emits: parts, then perhaps a failure. */
export interface Emission<Part> {
  readonly parts: ReadonlyArray<Part>;
  readonly error: AiError.AiError | undefined;
}

const finishPart = (turn: ScriptedTurn): ReadonlyArray<Response.FinishPartEncoded> => {
  if (turn.finishReason === "omitted") return [];
  const declaresCalls = turn.parts.some(
    (part) => part._tag === "toolCall" && !part.providerExecuted,
  );
  const { inputTokens, outputTokens } = turn.usage ?? {};
  return [
    {
      type: "finish",
      reason: turn.finishReason ?? (declaresCalls ? "tool-calls" : "stop"),
      usage: {
        inputTokens: inputTokens === undefined ? {} : { total: inputTokens },
        outputTokens: outputTokens === undefined ? {} : { total: outputTokens },
      },
    },
  ];
};

const parseArguments = (
  part: ScriptedPart & { readonly _tag: "toolCall" },
): { readonly params: unknown } | { readonly error: AiError.AiError } => {
  try {
    return { params: Tool.unsafeSecureJsonParse(part.argumentsText) };
  } catch (cause) {
    // The providers fail the whole response in the same way (`F-07`, `T-15`).
    return {
      error: AiError.make({
        module: "ScriptedModel",
        method: "respond",
        reason: new AiError.ToolParameterValidationError({
          toolName: part.name,
          description: `Failed to securely JSON parse tool parameters: ${String(cause)}`,
        }),
      }),
    };
  }
};

const toolCallPart = (
  part: ScriptedPart & { readonly _tag: "toolCall" },
  params: unknown,
): Response.ToolCallPartEncoded => ({
  type: "tool-call",
  id: part.id,
  name: part.name,
  params,
  providerExecuted: part.providerExecuted,
});

const providerResultPart = (
  part: ScriptedPart & { readonly _tag: "providerResult" },
): Response.ToolResultPartEncoded => ({
  type: "tool-result",
  id: part.id,
  name: part.name,
  result: part.result,
  isFailure: part.isFailure,
  providerExecuted: true,
});

const cut = <Part>(
  turn: ScriptedTurn,
  parts: ReadonlyArray<Part>,
  error?: AiError.AiError,
): Emission<Part> => {
  const isCut = turn.cutAfter !== undefined && turn.cutAfter < parts.length;
  return {
    parts: isCut ? parts.slice(0, turn.cutAfter) : parts,
    error: isCut ? turn.error : (error ?? turn.error),
  };
};

/** The parts of a response that is not streamed. */
export const toResponseParts = (turn: ScriptedTurn): Emission<Response.PartEncoded> => {
  const parts: Array<Response.PartEncoded> = [];
  for (const part of turn.parts) {
    switch (part._tag) {
      case "text":
      case "reasoning":
        parts.push({ type: part._tag, text: part.text });
        break;
      case "toolCall": {
        const parsed = parseArguments(part);
        if ("error" in parsed) return cut(turn, parts, parsed.error);
        parts.push(toolCallPart(part, parsed.params));
        break;
      }
      case "providerResult":
        parts.push(providerResultPart(part));
        break;
      case "raw":
        // A raw part is sent unchecked on purpose; the core decodes what it gets.
        parts.push(part.part as Response.PartEncoded);
        break;
    }
  }
  return cut(turn, [...parts, ...finishPart(turn)]);
};

const slices = (content: string, size: number): ReadonlyArray<string> => {
  const pieces: Array<string> = [];
  for (let at = 0; at < content.length; at += size) pieces.push(content.slice(at, at + size));
  return pieces;
};

/** The stream parts of one scripted part; `error` when the provider could not go on after them. */
const streamPartsOf = (
  part: ScriptedPart,
  index: number,
  chunkSize: number,
): Emission<Response.StreamPartEncoded> => {
  switch (part._tag) {
    case "text":
    case "reasoning": {
      const id = `${part._tag}-${index}`;
      return {
        parts: [
          { type: `${part._tag}-start`, id },
          ...slices(part.text, chunkSize).map((delta): Response.StreamPartEncoded => ({
            type: `${part._tag}-delta`,
            id,
            delta,
          })),
          { type: `${part._tag}-end`, id },
        ],
        error: undefined,
      };
    }
    case "toolCall": {
      const parsed = parseArguments(part);
      const { id, name, providerExecuted } = part;
      const opening: ReadonlyArray<Response.StreamPartEncoded> = [
        { type: "tool-params-start", id, name, providerExecuted },
        ...slices(part.argumentsText, chunkSize).map((delta): Response.StreamPartEncoded => ({
          type: "tool-params-delta",
          id,
          delta,
        })),
      ];
      return "error" in parsed
        ? { parts: opening, error: parsed.error }
        : {
            parts: [...opening, { type: "tool-params-end", id }, toolCallPart(part, parsed.params)],
            error: undefined,
          };
    }
    case "providerResult":
      return { parts: [providerResultPart(part)], error: undefined };
    case "raw":
      return { parts: [part.part], error: undefined };
  }
};

/**
 * The parts of a streamed response, text and arguments in deltas of `chunkSize`
 * UTF-16 units.
 */
export const toStreamParts = (
  turn: ScriptedTurn,
  chunkSize: number,
): Emission<Response.StreamPartEncoded> => {
  const runs = turn.parts.map((part, index) => streamPartsOf(part, index, chunkSize));
  const failed = runs.findIndex((run) => run.error !== undefined);
  const sent = failed === -1 ? runs : runs.slice(0, failed + 1);
  const lists = sent.map((run) => run.parts);
  const parts = turn.interleaved === true ? interleave(lists) : lists.flat();
  const error = failed === -1 ? undefined : runs[failed]?.error;
  return error === undefined ? cut(turn, [...parts, ...finishPart(turn)]) : cut(turn, parts, error);
};

const interleave = <A>(lists: ReadonlyArray<ReadonlyArray<A>>): ReadonlyArray<A> => {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  const result: Array<A> = [];
  for (let at = 0; at < longest; at++) {
    for (const list of lists) {
      const part = list[at];
      if (part !== undefined) result.push(part);
    }
  }
  return result;
};
