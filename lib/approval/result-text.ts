/**
 * What the model is told about calls that were gated and did not run. Each has
 * its own tag, so that a denial, an expiry and a call that was not reached are
 * never taken for each other or for a tool's failure (`A-06`, `A-07`, C014).
 *
 * The field `type` is avoided: providers treat some of its values as their own.
 */
import * as Schema from "effect/Schema";
import { approvalLimits } from "#lib/contract/approval.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { boundedText } from "#lib/diagnostics/bounded-text.ts";

/** A person or a rule said no. */
export const ApprovalDeniedResult = Schema.TaggedStruct("ToolApprovalDenied", {
  message: Schema.String,
  /** The reason as it was given; absent when none was. */
  reason: Schema.optionalKey(Schema.String),
  /** Arguments that the person who denied would accept to be asked for; nothing has run with them. */
  suggestedArguments: Schema.optionalKey(Schema.Json),
});

/** Nobody decided in time. */
export const ApprovalExpiredResult = Schema.TaggedStruct("ToolApprovalExpired", {
  message: Schema.String,
});

/** The call was declared and never started. */
export const NotExecutedResult = Schema.TaggedStruct("ToolCallNotExecuted", {
  message: Schema.String,
});

/** The failed result of a gated call that did not run. */
export const UnexecutedResult = Schema.Union([
  ApprovalDeniedResult,
  ApprovalExpiredResult,
  NotExecutedResult,
]);
export type UnexecutedResult = typeof UnexecutedResult.Type;

const named = (toolName: string): string => boundedText(toolName, 256);

/**
 * The failed result of a call that was denied under a `recoverable` rule (`A-06`).
 *
 * @param reason the operator's or the rule's own words; shortened to 8 KiB of UTF-8
 * @param suggestion arguments checked against the tool's schema, at most 8 KiB of JSON; a new call with
 *   them is a new request
 */
export const deniedResult = (
  toolName: string,
  reason: string,
  suggestion?: Json,
): typeof ApprovalDeniedResult.Type => ({
  _tag: "ToolApprovalDenied",
  message: `The call to ${named(toolName)} was denied and did not run. Do not repeat it unchanged.${
    suggestion === undefined
      ? ""
      : " The person who denied it suggests other arguments; nothing has run with them. A new call with them is decided anew."
  }`,
  ...(reason.trim() === "" ? {} : { reason: boundedText(reason, approvalLimits.maxReasonBytes) }),
  ...(suggestion === undefined ? {} : { suggestedArguments: suggestion }),
});

/** The failed result of a call nobody decided about in time, under a `recoverable` rule (`A-07`). */
export const expiredResult = (toolName: string): typeof ApprovalExpiredResult.Type => ({
  _tag: "ToolApprovalExpired",
  message: `The call to ${named(toolName)} did not run: it needed an approval and nobody decided in time. Nobody has refused it.`,
});

/**
 * The failed result of a call that was declared and never started, for example
 * because its tool is no longer available.
 *
 * @param because a safe sentence; shortened to 8 KiB of UTF-8
 */
export const notExecutedResult = (
  toolName: string,
  because: string,
): typeof NotExecutedResult.Type => ({
  _tag: "ToolCallNotExecuted",
  message: `The call to ${named(toolName)} did not run. ${boundedText(because, approvalLimits.maxReasonBytes)}`,
});
