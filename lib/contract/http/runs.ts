import * as Schema from "effect/Schema";
import { HttpApiEndpoint, HttpApiGroup } from "effect/unstable/httpapi";
import { AbortRun, RetryRun, WakeRun } from "../commands.ts";
import {
  IdempotencyConflict,
  InvalidInput,
  RetryRefused,
  RunAlreadySettled,
  WakeRefused,
} from "../errors.ts";
import { AgentId, EpochMillis, RunId, ThreadId } from "../ids.ts";
import { RunOutcome, RunState } from "../status.ts";
import {
  ExposureExplanation,
  ExposureView,
  page,
  RecordView,
  RetryReceipt,
  RunDetail,
  RunExplanation,
} from "../views.ts";
import { Authentication, DecodedInput } from "./authentication.ts";
import { pagingQuery } from "./paging.ts";
import { RunListPage } from "./run-list-page.ts";
import { listRefusals, readRefusals } from "./refusals.ts";

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
      error: readRefusals,
    }),
    HttpApiEndpoint.get("records", "/runs/:runId/records", {
      params: runId,
      query: pagingQuery,
      success: page(RecordView),
      error: [...readRefusals, InvalidInput],
    }),
    HttpApiEndpoint.get("exposure", "/runs/:runId/turns/:turn/exposure", {
      params: { ...runId, turn },
      success: ExposureView,
      error: readRefusals,
    }),
    HttpApiEndpoint.get("explainExposure", "/runs/:runId/exposure-explanation", {
      params: runId,
      query: { tool: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200)), turn },
      success: ExposureExplanation,
      error: readRefusals,
    }),
    HttpApiEndpoint.get("explain", "/runs/:runId/explanation", {
      params: runId,
      success: RunExplanation,
      error: readRefusals,
    }),
    HttpApiEndpoint.post("wake", "/runs/:runId/wake", {
      params: runId,
      payload: WakeRun,
      success: RunExplanation,
      error: [...readRefusals, IdempotencyConflict, RunAlreadySettled, WakeRefused],
    }),
    HttpApiEndpoint.post("retry", "/runs/:runId/retry", {
      params: runId,
      payload: RetryRun,
      success: RetryReceipt,
      error: [...readRefusals, IdempotencyConflict, RetryRefused],
    }),
    HttpApiEndpoint.post("abort", "/runs/:runId/abort", {
      params: runId,
      payload: AbortRun,
      success: RunDetail,
      error: [...readRefusals, IdempotencyConflict, RunAlreadySettled],
    }),
  )
  .middleware(DecodedInput)
  .middleware(Authentication);
