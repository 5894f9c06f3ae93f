import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { AgentBudgetExceeded, AgentOutputInvalid, ModelProtocolError } from "#lib/agent-error.ts";
import { ToolCallId } from "#lib/contract/ids.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { parseJson } from "#lib/contract/json/secure-parse.ts";
import { toJson } from "#lib/contract/json/to-json.ts";
import type { RunRecord } from "#lib/contract/records.ts";
import type { DiagnosticToStore } from "#lib/durable/Journal.ts";
import type { CallEvidence, RunEvidence, TurnEvidence } from "#lib/durable/run-state.ts";
import { type CallAsText, findCallAsText } from "./call-as-text.ts";
import { diagnose } from "./diagnose.ts";
import { exhaustedBudget, exhaustedTime } from "./turn-plan.ts";
import type { RunContext } from "./RunContext.ts";

/** How a JSON text begins. Words that begin otherwise are not parsed, only to be refused with an error that nobody reads. */
const mayBeJson = /^\s*[[{"\-0-9tfn]/;

/** A final text is JSON of the output's encoded side, or the text itself where that side is a string. */
const readings = (text: string): ReadonlyArray<unknown> => {
  if (!mayBeJson.test(text)) return [text];
  const parsed = parseJson(text.trim());
  return Result.isSuccess(parsed) ? [parsed.success, text] : [text];
};

/**
 * Decodes an answer as the agent's output, by the first reading that fits. The
 * stored output is encoded again, so that equal outputs are equal records.
 */
const decodeAnswer = Effect.fnUntraced(function* (
  context: RunContext,
  candidates: ReadonlyArray<unknown>,
): Effect.fn.Return<Result.Result<Json, string>> {
  let first: string | undefined;
  for (const candidate of candidates) {
    const decoded = yield* Effect.result(
      Schema.decodeUnknownEffect(context.definition.output)(candidate),
    );
    if (Result.isFailure(decoded)) {
      first ??= decoded.failure.message;
      continue;
    }
    const encoded = yield* Effect.result(
      Schema.encodeUnknownEffect(context.definition.output)(decoded.success),
    );
    const json = Result.flatMap(encoded, toJson);
    if (Result.isSuccess(json)) return Result.succeed(json.success);
    first ??= json.failure.message;
  }
  return Result.fail((first ?? "The answer is not the output that was declared.").slice(0, 1_000));
});

/** What the run answers with: the completion call's result, or its final text where no call is required (X-16). */
const answerOf = (
  context: RunContext,
  { completion, turn }: Answer,
): Effect.Effect<Result.Result<Json, string>> => {
  if (completion !== undefined) return decodeAnswer(context, [completion.settled?.result ?? null]);
  const { completion: tool } = context.definition;
  return tool?.required === true
    ? Effect.succeed(Result.fail(`it is text, and only a call of ${tool.toolName} answers.`))
    : decodeAnswer(context, readings(turn.recorded.text));
};

interface Answer {
  readonly turn: TurnEvidence;
  readonly completion: CallEvidence | undefined;
}

/** A text that is a call of an offered tool, unless the agent's output is declared to look like that (R77). */
const callAsTextIn = (
  { completion, turn }: Answer,
  answer: Result.Result<Json, string>,
): CallAsText | undefined =>
  completion !== undefined || (Result.isSuccess(answer) && typeof answer.success !== "string")
    ? undefined
    : findCallAsText(turn.recorded.text, turn.recorded.exposure.exposed);

const wordsOf = ({ toolName }: CallAsText): string =>
  `It is a call of ${toolName} that the endpoint gave as text; nothing of it was started. An endpoint that reads tool calls out of the model's text gives them as calls.`;

/** Tells operators of it, without any of its text; what the run makes of its answer stays the same. */
const reportCallAsText = (context: RunContext, { turn }: Answer, asText: CallAsText) => {
  const { runId, tenantId } = context;
  const number = turn.recorded.turn;
  const evidence = new ModelProtocolError({
    reason: "malformed-response",
    message: `The model's final answer is no answer. ${wordsOf(asText)}`,
  });
  const position = { tenantId, runId, turn: number, callId: ToolCallId.make("run") };
  return Effect.as(
    Effect.logWarning("A final answer is a tool call as text").pipe(
      Effect.annotateLogs({
        runId,
        turn: number,
        toolName: asText.toolName,
        spelling: asText.spelling,
      }),
    ),
    diagnose(position, "call-as-text", asText.toolName, evidence),
  );
};

/** The settlement of a run whose last turn holds its answer. */
export const answerRecords = Effect.fnUntraced(function* (
  context: RunContext,
  evidence: RunEvidence,
  next: Answer,
): Effect.fn.Return<{
  readonly records: ReadonlyArray<RunRecord>;
  readonly diagnostics: ReadonlyArray<DiagnosticToStore>;
  readonly cause: Cause.Cause<unknown> | undefined;
}> {
  const base = {
    _tag: "RunSettled",
    runId: context.runId,
    submissionId: context.submissionId,
  } as const;
  const answer = yield* answerOf(context, next);
  const asText = callAsTextIn(next, answer);
  const report = asText === undefined ? undefined : yield* reportCallAsText(context, next, asText);
  const diagnostics = report === undefined ? [] : [report];
  const told =
    asText === undefined || report === undefined
      ? {}
      : { callAsText: { toolName: asText.toolName, diagnosticId: report.diagnosticId } };
  const exhausted = next.turn.recorded.finalAnswerFor;
  if (Result.isSuccess(answer)) {
    return {
      cause: undefined,
      diagnostics,
      records: [
        {
          ...base,
          outcome: "completed",
          output: answer.success,
          finishReason: exhausted === undefined ? "answered" : "budget-exhausted",
          ...(exhausted === undefined ? {} : { exhausted }),
          ...told,
        },
      ],
    };
  }
  const { id, policy } = context.definition;
  const error: AgentOutputInvalid | AgentBudgetExceeded =
    exhausted === undefined
      ? new AgentOutputInvalid({
          message: `The model's final answer is not the output that agent ${id} declares: ${answer.failure}${asText === undefined ? "" : ` ${wordsOf(asText)}`}`,
        })
      : (exhaustedBudget(evidence, policy, 0) ?? exhaustedTime(policy));
  return {
    cause: Cause.fail(error),
    diagnostics,
    records: [
      {
        ...base,
        outcome: "failed",
        finishReason: exhausted === undefined ? "invalid-output" : "budget-exhausted",
        ...(exhausted === undefined ? {} : { exhausted }),
        failure: { errorTag: error._tag, message: error.message },
        ...told,
      },
    ],
  };
});
