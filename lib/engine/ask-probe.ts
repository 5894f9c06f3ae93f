/**
 * Asks one tool's probe and says what came of it, whatever the probe does: bounded
 * in time and in size, and never more than evidence. Whether the answer settles
 * the call is the tool's declared rule, and the tool's schema has the last word.
 */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import type * as Tool from "effect/unstable/ai/Tool";
import { checkJsonBounds, defaultJsonLimits } from "#lib/contract/json/json-bounds.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { toJson } from "#lib/contract/json/to-json.ts";
import type { ProbeFinding, ResolutionKind } from "#lib/contract/status.ts";
import { boundedText, failureSummary } from "#lib/failure-diagnostic.ts";
import type { LostCall, ProbeAnswer, ToolProbe } from "#lib/tool-probe.ts";
import { checkResult } from "./check-result.ts";

/** How long a destination may take to answer a probe. */
const probeTimeoutSeconds = 10;
export const maxDetailBytes = 2_000;
const maxResultBytes = 65_536;

/** What was asked and answered, ready to be stored. */
export interface ProbeReport {
  readonly finding: ProbeFinding;
  readonly detail: string;
  readonly result?: Json;
  readonly isFailure?: boolean;
}

/** A resolution that the tool's rule draws from a report. */
export interface ProbeResolution {
  readonly resolution: Exclude<ResolutionKind, "abort-submission">;
  readonly result?: Json;
  readonly isFailure?: boolean;
}

const findings: Record<ProbeAnswer["_tag"], ProbeFinding> = {
  found: "found",
  "not-found": "not-found",
  inconclusive: "inconclusive",
};

const reportOf = (answer: ProbeAnswer): ProbeReport => {
  const said = {
    finding: findings[answer._tag],
    detail: boundedText(answer.detail, maxDetailBytes),
  };
  if (answer._tag !== "found" || answer.result === undefined) return said;
  const result = Result.flatMap(toJson(answer.result), (json) =>
    checkJsonBounds(json, { ...defaultJsonLimits, bytes: maxResultBytes }),
  );
  return Result.isSuccess(result)
    ? { ...said, result: result.success, isFailure: answer.isFailure ?? false }
    : {
        ...said,
        detail: boundedText(
          `${answer.detail} Its result was left out: ${result.failure.message}`,
          maxDetailBytes,
        ),
      };
};

/** Never fails; only the host's own interruption passes through. */
export const askProbe = (probe: ToolProbe, call: LostCall): Effect.Effect<ProbeReport> =>
  Effect.suspend(() => probe.ask(call)).pipe(
    Effect.map(reportOf),
    Effect.timeoutOption(`${probeTimeoutSeconds} seconds`),
    Effect.map(
      Option.getOrElse((): ProbeReport => ({
        finding: "timed-out",
        detail: `The destination did not answer within ${probeTimeoutSeconds} seconds.`,
      })),
    ),
    // Where the host interrupts, nothing below runs; a probe that interrupts itself has failed.
    Effect.catchCause((cause) =>
      Effect.succeed<ProbeReport>({
        finding: "failed",
        // Redacted and bounded like every public failure: a probe's error may quote what it was given.
        detail: boundedText(failureSummary(cause, "ProbeFailure").message, maxDetailBytes),
      }),
    ),
  );

/**
 * What the declared rule makes of a report; none where no rule speaks or the
 * tool's schema refuses the result, which the report's detail then says.
 */
export const settleByRule = (
  tool: Tool.Any,
  probe: ToolProbe,
  report: ProbeReport,
): Effect.Effect<{
  readonly report: ProbeReport;
  readonly settles: ProbeResolution | undefined;
}> => {
  const rule = probe.settles;
  if (report.finding === "not-found" && rule?.notFound !== undefined)
    return Effect.succeed({ report, settles: { resolution: rule.notFound } });
  const { result, isFailure = false } = report;
  if (report.finding !== "found" || rule?.found === undefined || result === undefined)
    return Effect.succeed({ report, settles: undefined });
  return Effect.match(checkResult(tool, result, isFailure), {
    onSuccess: () => ({
      report,
      settles: { resolution: "completed-with-result" as const, result, isFailure },
    }),
    onFailure: (words) => ({
      report: {
        ...report,
        detail: boundedText(`${report.detail} Nothing was settled: ${words}`, maxDetailBytes),
      },
      settles: undefined,
    }),
  });
};
