/**
 * Reads a streamed response part by part and keeps it only when it is whole: one
 * finish, every part that was opened also closed, complete arguments, bounds
 * kept (B-01, B-10, T-17). Pure: a fold over parts and one verdict at the end.
 */
import * as Result from "effect/Result";
import * as Response from "effect/unstable/ai/Response";
import { ModelProtocolError } from "#lib/agent-error.ts";
import { ToolCallId } from "#lib/contract/ids.ts";
import type { TokenUsage } from "#lib/contract/records.ts";
import { isInnerCallId } from "#lib/durable/derived-ids.ts";
import { parseJson } from "#lib/contract/json/secure-parse.ts";
import { utf8ByteLength } from "#lib/contract/json/utf8.ts";
import * as Schema from "effect/Schema";

/** Bounds of one response (B-10). */
export const responseLimits = { maxParts: 16_384, maxBytes: 8 * 1024 * 1024 } as const;

/** A call as the model wrote it, before anything is decoded. */
export interface RawCall {
  readonly callId: string;
  readonly toolName: string;
  /** The argument text where the provider streamed it: the only exact form (R46). */
  readonly argumentsText: string | undefined;
  readonly params: unknown;
  readonly providerExecuted: boolean;
}

/** What has arrived so far. Owned by the one reader of a stream, who may change it in place. */
export interface ResponseDraft {
  readonly parts: Array<Response.AnyPart>;
  readonly open: Set<string>;
  /** Names of the calls whose arguments began, by call id. */
  readonly begun: Map<string, string>;
  readonly argumentTexts: Map<string, Array<string>>;
  partCount: number;
  bytes: number;
  finishes: number;
  finishReason: string;
  usage: TokenUsage;
}

/** A response that may be acted on. */
export interface WholeResponse {
  readonly parts: ReadonlyArray<Response.AnyPart>;
  readonly calls: ReadonlyArray<RawCall>;
  readonly text: string;
  readonly finishReason: string;
  readonly usage: TokenUsage;
}

export const makeDraft = (): ResponseDraft => ({
  parts: [],
  open: new Set(),
  begun: new Map(),
  argumentTexts: new Map(),
  partCount: 0,
  bytes: 0,
  finishes: 0,
  finishReason: "none",
  usage: { inputTokens: null, outputTokens: null },
});

const refuse = (
  reason: ModelProtocolError["reason"],
  message: string,
  more: { readonly limit?: number; readonly seen?: number; readonly toolCallId?: string } = {},
) => Result.fail(new ModelProtocolError({ reason, message, ...more }));

const openedBy = {
  "text-start": "text-end",
  "reasoning-start": "reasoning-end",
  "tool-params-start": "tool-params-end",
} as const;
const isOpening = (type: string): type is keyof typeof openedBy => Object.hasOwn(openedBy, type);
const closings: ReadonlySet<string> = new Set(Object.values(openedBy));

const deltaBytes = (part: Response.AnyPart): number =>
  "delta" in part ? utf8ByteLength(part.delta) : "text" in part ? utf8ByteLength(part.text) : 0;

/** Adds one part to the draft, or says which bound or order it breaks. */
export const addPart = (
  draft: ResponseDraft,
  part: Response.AnyPart,
): Result.Result<ResponseDraft, ModelProtocolError> => {
  draft.partCount += 1;
  draft.bytes += deltaBytes(part);
  if (draft.partCount > responseLimits.maxParts) {
    return refuse(
      "response-limit",
      `The response has more than ${responseLimits.maxParts} parts.`,
      {
        limit: responseLimits.maxParts,
        seen: draft.partCount,
      },
    );
  }
  if (draft.bytes > responseLimits.maxBytes) {
    return refuse(
      "response-limit",
      `The response is longer than ${responseLimits.maxBytes} bytes.`,
      {
        limit: responseLimits.maxBytes,
        seen: draft.bytes,
      },
    );
  }
  if ("id" in part && isOpening(part.type)) {
    const closing = `${openedBy[part.type]} ${part.id}`;
    if (draft.open.has(closing)) {
      return refuse("part-lifecycle", `The response opens ${part.type} twice before it ends.`);
    }
    draft.open.add(closing);
  } else if (
    "id" in part &&
    closings.has(part.type) &&
    !draft.open.delete(`${part.type} ${part.id}`)
  ) {
    return refuse("part-lifecycle", `The response has ${part.type} without a start.`);
  }
  return take(draft, part);
};

/** Argument deltas become text of their own; the parts would only repeat them. */
const take = (
  draft: ResponseDraft,
  part: Response.AnyPart,
): Result.Result<ResponseDraft, ModelProtocolError> => {
  switch (part.type) {
    case "tool-params-start":
      draft.begun.set(part.id, part.name);
      return Result.succeed(draft);
    case "tool-params-end":
      return Result.succeed(draft);
    case "tool-params-delta": {
      const texts = draft.argumentTexts.get(part.id) ?? [];
      texts.push(part.delta);
      draft.argumentTexts.set(part.id, texts);
      return Result.succeed(draft);
    }
    case "finish":
      draft.finishes += 1;
      draft.finishReason = part.reason;
      draft.usage = {
        inputTokens: part.usage.inputTokens.total ?? null,
        outputTokens: part.usage.outputTokens.total ?? null,
      };
      return Result.succeed(draft);
    case "error":
      return refuse("malformed-response", "The provider reported an error inside its response.");
    default:
      draft.parts.push(part);
      return Result.succeed(draft);
  }
};

/**
 * What had arrived of a response when its reader met a call that it could not
 * take: everything is kept to be shown, the calls whose arguments had begun too,
 * and nothing of it may be acted on (B-09, F-07).
 */
export const partialResponse = (
  draft: ResponseDraft,
): Result.Result<WholeResponse, ModelProtocolError> => {
  const whole = wholeCalls(draft);
  const known = new Set(whole.map(({ callId }) => callId));
  const begun = [...draft.begun]
    .filter(([callId]) => !known.has(callId))
    .map(([callId, toolName]): RawCall => {
      const argumentsText = draft.argumentTexts.get(callId)?.join("") ?? "";
      const params = Result.getOrElse(parseJson(argumentsText), () => null);
      return {
        callId,
        // No tool has a longer name; what follows is only the model's.
        toolName: toolName.slice(0, 128).toWellFormed(),
        argumentsText,
        params,
        providerExecuted: false,
      };
    });
  const begunParts = begun.map(({ callId, toolName, params }) =>
    Response.makePart("tool-call", {
      id: callId,
      name: toolName,
      params,
      providerExecuted: false,
    }),
  );
  return responseOf(draft, [...draft.parts, ...begunParts], [...whole, ...begun]);
};

const wholeCalls = (draft: ResponseDraft): ReadonlyArray<RawCall> =>
  draft.parts.flatMap((part): ReadonlyArray<RawCall> =>
    part.type === "tool-call"
      ? [
          {
            callId: part.id,
            toolName: part.name,
            argumentsText: draft.argumentTexts.get(part.id)?.join(""),
            params: part.params,
            providerExecuted: part.providerExecuted === true,
          },
        ]
      : [],
  );

const incompatible: ReadonlySet<string> = new Set(["length", "content-filter", "error"]);

/** The verdict once the stream has ended (B-01, R36, R59). */
export const completeResponse = (
  draft: ResponseDraft,
): Result.Result<WholeResponse, ModelProtocolError> => {
  if (draft.finishes !== 1) {
    return refuse(
      "incomplete-response",
      `The response has ${draft.finishes} finish parts; a whole one has exactly 1.`,
    );
  }
  if (draft.open.size > 0) {
    return refuse(
      "part-lifecycle",
      `The response ended with ${draft.open.size} part(s) still open.`,
    );
  }
  if (incompatible.has(draft.finishReason)) {
    return refuse(
      "finish-reason",
      `The model stopped with "${draft.finishReason}", so its response is not complete. No tool call of it was started.`,
    );
  }
  const calls = wholeCalls(draft);
  const lost = lostCall(draft, calls);
  if (lost !== undefined) return refuse("incomplete-response", lost);
  return responseOf(draft, draft.parts, calls);
};

const isCallId = Schema.is(ToolCallId);

/** Ids are checked before anything is looked up by them (T-17). */
const responseOf = (
  draft: ResponseDraft,
  parts: WholeResponse["parts"],
  calls: WholeResponse["calls"],
): Result.Result<WholeResponse, ModelProtocolError> => {
  const seen = new Set<string>();
  for (const { callId } of calls) {
    if (!isCallId(callId)) {
      return refuse(
        "invalid-call-id",
        "A tool-call id must have 1 to 128 characters from A-Z a-z 0-9 . _ : - and start with a letter or digit.",
        { seen: callId.length, limit: 128 },
      );
    }
    if (isInnerCallId(callId)) {
      return refuse(
        "invalid-call-id",
        `The tool-call id ${callId} has a form that is kept for calls inside calls.`,
        { toolCallId: callId },
      );
    }
    if (seen.has(callId)) {
      return refuse("duplicate-call-id", `The response uses the tool-call id ${callId} twice.`, {
        toolCallId: callId,
      });
    }
    seen.add(callId);
  }
  return Result.succeed({
    parts,
    calls,
    text: textOf(draft.parts),
    finishReason: draft.finishReason,
    usage: draft.usage,
  });
};

/** A call that the response announces and does not contain; it would be dropped without a word (R58, R59, R77). */
const lostCall = (draft: ResponseDraft, calls: ReadonlyArray<RawCall>): string | undefined => {
  const whole = new Set(calls.map(({ callId }) => callId));
  for (const [callId, toolName] of draft.begun) {
    if (!whole.has(callId))
      return `The response began a call of ${JSON.stringify(toolName.slice(0, 128))} and never completed it.`;
  }
  return draft.finishReason === "tool-calls" && calls.length === 0
    ? "The model stopped to call tools, but its response contains no tool call; the provider may have sent the call as text."
    : undefined;
};

const textOf = (parts: ReadonlyArray<Response.AnyPart>): string =>
  parts
    .map((part) =>
      part.type === "text" ? part.text : part.type === "text-delta" ? part.delta : "",
    )
    .join("");
