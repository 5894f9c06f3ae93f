/**
 * Stage 1: one request, one whole response. Nothing of the batch is looked at
 * before the stream has ended and the response is known to be complete (B-01).
 */
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import * as Stream from "effect/Stream";
import * as AiError from "effect/unstable/ai/AiError";
import * as LanguageModel from "effect/unstable/ai/LanguageModel";
import * as Prompt from "effect/unstable/ai/Prompt";
import type * as Response from "effect/unstable/ai/Response";
import type * as Tool from "effect/unstable/ai/Tool";
import { type AgentToolCallRejected, ModelProtocolError } from "#lib/agent-error.ts";
import type { ExposureSnapshot } from "#lib/contract/exposure.ts";
import type { Json, JsonObject } from "#lib/contract/json/json.ts";
import { toJson } from "#lib/contract/json/to-json.ts";
import { rejectedCall, unreadable } from "./rejected-call.ts";
import {
  addPart,
  completeResponse,
  makeDraft,
  partialResponse,
  type ResponseDraft,
  type WholeResponse,
} from "./model-response.ts";
import type { ModelCodec } from "./ModelCodec.ts";
import { encodePlainCall, encodeResponse, plainCalls, promptOf } from "./prompt-parts.ts";
import { storableArguments } from "./ToolArguments.ts";
import { makeRequestToolkit } from "./RequestToolkit.ts";

export interface ModelRequest {
  readonly messages: ReadonlyArray<Prompt.MessageEncoded>;
  readonly tools: Readonly<Record<string, Tool.Any>>;
  readonly exposure: ExposureSnapshot;
  readonly codec: ModelCodec["Service"];
  /** Whether tools may, must or must not be called (T-16). */
  readonly toolChoice: LanguageModel.ToolChoice<string>;
  readonly onText: (text: string) => Effect.Effect<void>;
}

/** A whole response and its assistant message in the form that later prompts replay. */
export interface ModelTurnResponse extends WholeResponse {
  readonly response: WrittenResponse;
  /** Present when the response ended at a call that cannot be taken; nothing of its batch may start (B-02, F-07). */
  readonly refusal: AgentToolCallRejected | undefined;
}

/**
 * The parts of a response as they are stored, for the given arguments of its calls: what
 * the engine declares of a call stands in its part too. Without them, or where there are
 * none, a call has the arguments that the provider read, as far as they can be stored (R46, R48, R49).
 */
export type WrittenResponse = (declared?: ReadonlyMap<string, Json>) => ReadonlyArray<Json>;

/** How often a request that failed for a passing reason is sent again; tools are never run again for it (R74). */
const maxRetries = 3;
const longestWait = Duration.seconds(30);

type WrittenPart = (declared: ReadonlyMap<string, Json>) => Json;

/** A part as data. A call's arguments are put in later, when it is known what is declared of it. */
const writtenPart = (part: object): Result.Result<WrittenPart, ModelProtocolError> => {
  const isCall = "type" in part && part.type === "tool-call" && "params" in part && "id" in part;
  const copied = toJson(isCall ? { ...part, params: null } : part);
  if (Result.isFailure(copied))
    return Result.fail(
      new ModelProtocolError({
        reason: "malformed-response",
        message: `A part of the response is no JSON: ${copied.failure.message}`,
      }),
    );
  const json = copied.success;
  if (!isCall) return Result.succeed(() => json);
  const { id, params } = part;
  return Result.succeed((declared) => ({
    ...(json as JsonObject), // a copy of an object
    params: declared.get(String(id)) ?? storableArguments(params),
  }));
};

const noneDeclared: ReadonlyMap<string, Json> = new Map();

/** The assistant message of a response, encoded by upstream's own schema. */
const assistantContent = Effect.fnUntraced(function* (
  whole: WholeResponse,
): Effect.fn.Return<WrittenResponse, ModelProtocolError> {
  const calls = plainCalls(whole.parts);
  if (calls !== undefined) {
    const response: WrittenResponse = (declared = noneDeclared) =>
      calls.map((call) =>
        encodePlainCall(call, declared.get(call.id) ?? storableArguments(call.params)),
      );
    return response;
  }
  const content: Array<WrittenPart> = [];
  for (const part of yield* encodeResponse(whole.parts).pipe(Effect.orDie)) {
    const written = writtenPart(part);
    if (Result.isFailure(written)) return yield* written.failure;
    content.push(written.success);
  }
  const response: WrittenResponse = (declared = noneDeclared) =>
    content.map((write) => write(declared));
  return response;
});

/** Adds the parts of one chunk and shows their text; nothing else of a part is an effect. */
const addParts = (
  draft: ResponseDraft,
  parts: ReadonlyArray<Response.AnyPart>,
  onText: ModelRequest["onText"],
): Effect.Effect<void, ModelProtocolError> => {
  const texts: Array<string> = [];
  let fault: ModelProtocolError | undefined;
  for (const part of parts) {
    const added = addPart(draft, part);
    if (Result.isFailure(added)) {
      fault = added.failure;
      break;
    }
    if (part.type === "text-delta") texts.push(part.delta);
  }
  const shown = texts.length === 0 ? Effect.void : Effect.forEach(texts, onText, { discard: true });
  return fault === undefined ? shown : Effect.andThen(shown, Effect.fail(fault));
};

const readDraft = Effect.fnUntraced(function* (
  draft: ResponseDraft,
  refusal: AgentToolCallRejected | undefined,
): Effect.fn.Return<ModelTurnResponse, ModelProtocolError> {
  const read = refusal === undefined ? completeResponse(draft) : partialResponse(draft);
  if (Result.isFailure(read)) return yield* read.failure;
  return { ...read.success, response: yield* assistantContent(read.success), refusal };
});

/** Passing reasons only: a response that was wrong is wrong again, and asking twice costs twice. */
export const isTransient = (error: AiError.AiError): boolean => {
  switch (error.reason._tag) {
    case "RateLimitError":
    case "NetworkError":
    case "InternalProviderError":
      return error.isRetryable;
    default:
      return false;
  }
};

const waitBefore = (error: AiError.AiError, attempt: number): Duration.Duration => {
  const asked = error.reason._tag === "RateLimitError" ? error.reason.retryAfter : undefined;
  return Duration.min(asked ?? Duration.millis(500 * 2 ** attempt), longestWait);
};

export const askModel = (
  request: ModelRequest,
): Effect.Effect<
  ModelTurnResponse,
  AiError.AiError | ModelProtocolError,
  LanguageModel.LanguageModel
> =>
  Effect.gen(function* () {
    const exposed = request.exposure.exposed.flatMap((name) => {
      const tool = Object.hasOwn(request.tools, name) ? request.tools[name] : undefined;
      return tool === undefined ? [] : [tool];
    });
    const toolkit = makeRequestToolkit(exposed, request.codec);
    const offered = new Set(exposed.map((tool) => tool.name));
    const prompt = promptOf(request.messages);
    const once = Effect.gen(function* () {
      const draft = makeDraft();
      // Stand-ins need no services; `Tool.Any` hides that.
      const parts = LanguageModel.streamText({
        prompt,
        toolkit,
        toolChoice: request.toolChoice,
        disableToolCallResolution: true,
      }) as Stream.Stream<Response.AnyPart, AiError.AiError, LanguageModel.LanguageModel>;
      return yield* parts.pipe(
        // A provider's reader that throws has met a response it does not know; that is no defect of this run.
        Stream.catchDefect((defect) => Stream.fail(unreadable(defect))),
        Stream.runForEachArray((some) => addParts(draft, some, request.onText)),
        Effect.as(undefined),
        // Upstream stops reading at such a call; what had arrived by then is still what the model declared.
        Effect.catch((error) => {
          const refusal = rejectedCall(request.tools, offered, draft, error);
          return refusal === undefined ? Effect.fail(error) : Effect.succeed(refusal);
        }),
        Effect.flatMap((refusal) => readDraft(draft, refusal)),
      );
    });
    return yield* retryTransient(once, 0);
  });

const retryTransient = <A, E, R>(
  once: Effect.Effect<A, E | AiError.AiError, R>,
  attempt: number,
): Effect.Effect<A, E | AiError.AiError, R> =>
  Effect.catch(once, (error) =>
    AiError.isAiError(error) && isTransient(error) && attempt < maxRetries
      ? Effect.andThen(Effect.sleep(waitBefore(error, attempt)), retryTransient(once, attempt + 1))
      : Effect.fail(error),
  );
