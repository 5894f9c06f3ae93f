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
import type { Json } from "#lib/contract/json/json.ts";
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
import { encodeAssistantParts, promptOf } from "./prompt-parts.ts";
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
  readonly response: ReadonlyArray<Json>;
  /** Present when the response ended at a call that cannot be taken; nothing of its batch may start (B-02, F-07). */
  readonly refusal: AgentToolCallRejected | undefined;
}

/** How often a request that failed for a passing reason is sent again; tools are never run again for it (R74). */
const maxRetries = 3;
const longestWait = Duration.seconds(30);

/** A part as data. Arguments that cannot be stored are left out of it; their call is refused with its reason (R46, R48, R49). */
const storablePart = (part: object): Result.Result<Json, ModelProtocolError> =>
  Result.mapError(
    toJson(
      "type" in part && part.type === "tool-call" && "params" in part
        ? { ...part, params: storableArguments(part.params) }
        : part,
    ),
    (fault) =>
      new ModelProtocolError({
        reason: "malformed-response",
        message: `A part of the response is no JSON: ${fault.message}`,
      }),
  );

/** The assistant message of a response, encoded by upstream's own schema. */
const assistantContent = Effect.fnUntraced(function* (
  whole: WholeResponse,
): Effect.fn.Return<ReadonlyArray<Json>, ModelProtocolError> {
  const message = Prompt.fromResponseParts(whole.parts).content.find(
    (one) => one.role === "assistant",
  );
  if (message === undefined) return [];
  const parts = yield* encodeAssistantParts(message).pipe(Effect.orDie);
  const content: Array<Json> = [];
  for (const part of parts) {
    const stored = storablePart(part);
    if (Result.isFailure(stored)) return yield* stored.failure;
    content.push(stored.success);
  }
  return content;
});

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
        Stream.runForEach((part) => {
          const added = addPart(draft, part);
          if (Result.isFailure(added)) return Effect.fail(added.failure);
          return part.type === "text-delta" ? request.onText(part.delta) : Effect.void;
        }),
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
