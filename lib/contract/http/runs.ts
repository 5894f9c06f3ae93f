import * as Schema from "effect/Schema";
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/unstable/httpapi";
import { AbortRun, RetryRun, WakeRun } from "../commands.ts";
import {
  IdempotencyConflict,
  InvalidInput,
  RetryRefused,
  RunAlreadySettled,
  WakeRefused,
} from "../errors.ts";
import { AgentId, EpochMillis, RunId, Sequence, ThreadId, ToolCallId } from "../ids.ts";
import { RunOutcome, RunState } from "../status.ts";
import { RetryReceipt, RunExplanation } from "../obligation-views.ts";
import { page } from "../page-views.ts";
import { ExposureExplanation, ExposureView, RecordView, RunDetail } from "../run-views.ts";
import { Authentication, DecodedInput } from "./authentication.ts";
import { pagingQuery } from "./paging.ts";
import { RunListPage } from "./run-list-page.ts";
import { CallBody, RunMoment, RunTimes, RunTurns } from "./run-parts.ts";
import { listRefusals, runRefusals } from "./refusals.ts";

/** Every filter of the run list (OP-07); all that are given must hold. */
export const runFilterQuery = {
  /** Any of these states. */
  state: Schema.optionalKey(Schema.Array(RunState)),
  agentId: Schema.optionalKey(AgentId),
  threadId: Schema.optionalKey(ThreadId),
  /** Runs that declared a call of this tool; at most 200 characters. */
  tool: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(200))),
  failureTag: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(200))),
  outcome: Schema.optionalKey(RunOutcome),
  /** Created at or after, milliseconds. */
  from: Schema.optionalKey(EpochMillis),
  /** Created before, milliseconds. */
  to: Schema.optionalKey(EpochMillis),
  /** Start of a run id or thread id, or words of the title; at most 200 characters. */
  text: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(200))),
};

const runId = { runId: RunId };
const turn = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000 }));

export const runsGroup = HttpApiGroup.make("runs")
  .add(
    HttpApiEndpoint.get("list", "/runs", {
      query: { ...runFilterQuery, ...pagingQuery },
      success: RunListPage,
      error: [...listRefusals, InvalidInput],
    }),
    HttpApiEndpoint.get("get", "/runs/:runId", {
      params: runId,
      success: RunDetail,
      error: runRefusals,
    }),
    /** The run as it was after an event of the tenant's log. */
    HttpApiEndpoint.get("moment", "/runs/:runId/moments/:sequence", {
      params: { ...runId, sequence: Sequence },
      success: RunMoment,
      error: [...runRefusals, InvalidInput],
    }),
    HttpApiEndpoint.get("turns", "/runs/:runId/turns", {
      params: runId,
      /** Ten turns from this one on. */
      query: { first: turn },
      success: RunTurns,
      error: runRefusals,
    }),
    HttpApiEndpoint.get("times", "/runs/:runId/times", {
      params: runId,
      /** Of the turns before this one. */
      query: { before: turn },
      success: RunTimes,
      error: runRefusals,
    }),
    /** One value of a call, whole, as a file: the run's page cuts long ones. */
    HttpApiEndpoint.get("callBody", "/runs/:runId/turns/:turn/body", {
      params: { ...runId, turn },
      query: { callId: ToolCallId, body: CallBody },
      success: HttpApiSchema.StreamUint8Array({ contentType: "application/json" }),
      error: runRefusals,
    }),
    HttpApiEndpoint.get("records", "/runs/:runId/records", {
      params: runId,
      /** `at`: only what stood after that event of the log. */
      query: { at: Schema.optionalKey(Sequence), ...pagingQuery },
      success: page(RecordView),
      error: [...runRefusals, InvalidInput],
    }),
    HttpApiEndpoint.get("exposure", "/runs/:runId/turns/:turn/exposure", {
      params: { ...runId, turn },
      query: { at: Schema.optionalKey(Sequence) },
      success: ExposureView,
      error: [...runRefusals, InvalidInput],
    }),
    HttpApiEndpoint.get("explainExposure", "/runs/:runId/exposure-explanation", {
      params: runId,
      /** `at`: as it could be told after that event of the log. */
      query: {
        tool: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200)),
        turn,
        at: Schema.optionalKey(Sequence),
      },
      success: ExposureExplanation,
      error: [...runRefusals, InvalidInput],
    }),
    HttpApiEndpoint.get("explain", "/runs/:runId/explanation", {
      params: runId,
      success: RunExplanation,
      error: runRefusals,
    }),
    HttpApiEndpoint.post("wake", "/runs/:runId/wake", {
      params: runId,
      payload: WakeRun,
      success: RunExplanation,
      error: [...runRefusals, IdempotencyConflict, RunAlreadySettled, WakeRefused],
    }),
    HttpApiEndpoint.post("retry", "/runs/:runId/retry", {
      params: runId,
      payload: RetryRun,
      success: RetryReceipt,
      error: [...runRefusals, IdempotencyConflict, RetryRefused],
    }),
    HttpApiEndpoint.post("abort", "/runs/:runId/abort", {
      params: runId,
      payload: AbortRun,
      success: RunDetail,
      error: [...runRefusals, IdempotencyConflict, RunAlreadySettled],
    }),
  )
  .middleware(DecodedInput)
  .middleware(Authentication);
