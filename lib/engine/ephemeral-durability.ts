/**
 * A run that lives as long as its process (DU-17): facts are kept in memory for
 * this run alone and are gone with it. Nothing durable is claimed.
 */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import type { ApprovalPolicyError } from "#lib/agent-error.ts";
import type { RunEvent } from "#lib/contract/events.ts";
import type { RecordOf, RunRecord } from "#lib/contract/records.ts";
import { type ApprovalOutcome, resolveApprovals } from "#lib/approval/resolve-approvals.ts";
import type { ApprovalResolverShape } from "#lib/approval/ApprovalResolver.ts";
import { eventsOf } from "#lib/durable/record-events.ts";
import type { ResultToKeep } from "#lib/results/kept-text.ts";
import { RunDurability } from "./RunDurability.ts";

/** Sends the answers of a batch's requests through the run's resolver. */
const answersBy =
  (resolver: ApprovalResolverShape, onFailure: (failure: ApprovalPolicyError) => void) =>
  (requests: ReadonlyArray<RecordOf<"ApprovalRequested">>) =>
    Effect.gen(function* () {
      if (requests.length === 0) return [];
      const { failures, outcomes } = yield* resolveApprovals(
        requests.map(({ request }) => request),
        // Rules were asked when the batch was gated; what is left is for people.
        { decide: () => Effect.succeed({ _tag: "defer" }) },
        resolver,
      );
      for (const failure of failures) onFailure(failure);
      const decidedAt = yield* Clock.currentTimeMillis;
      return requests.flatMap((requested, index): ReadonlyArray<RecordOf<"ApprovalDecided">> => {
        const outcome = outcomes[index];
        if (outcome === undefined || outcome._tag === "unresolved") return [];
        return [decision(requested, outcome, decidedAt)];
      });
    });

const decision = (
  { request, ...call }: RecordOf<"ApprovalRequested">,
  outcome: Exclude<ApprovalOutcome, { readonly _tag: "unresolved" }>,
  decidedAt: number,
): RecordOf<"ApprovalDecided"> => ({
  ...call,
  _tag: "ApprovalDecided",
  decision: outcome._tag,
  actor: outcome.actor,
  ...(outcome._tag === "approved" && outcome.approvers !== undefined && outcome.approvers.length > 1
    ? { approvers: outcome.approvers }
    : {}),
  reason: outcome._tag === "expired" ? "" : outcome.reason,
  parametersDigest: request.parametersDigest,
  decidedAt,
});

/** The event that a person's transaction would have written in a durable run. */
const decisionEvents = (record: RunRecord): ReadonlyArray<RunEvent> =>
  // What a rule decided is told by its record already.
  record._tag === "ApprovalDecided" && record.actor.kind !== "policy"
    ? [
        {
          _tag: "ApprovalDecided",
          turn: record.turn,
          callId: record.callId,
          toolName: record.toolName,
          requestId: record.requestId,
          decision: record.decision,
          actor: record.actor,
          reason: record.reason,
        },
      ]
    : [];

/** Shows one event of a run. */
export type Observe = (event: RunEvent) => Effect.Effect<void>;

/**
 * @param observe must not wait: a slow reader never holds a run back (B-10); absent, no event is even made
 * @param onResolverFailure hears why the resolver could not answer, in its own type
 */
export const makeEphemeralDurability = (
  observe: Observe | undefined,
  resolver: ApprovalResolverShape,
  onResolverFailure: (failure: ApprovalPolicyError) => void,
): RunDurability["Service"] => {
  // Bounded by what one run may keep; gone with the run.
  const kept = new Map<string, ResultToKeep>();
  const show: RunDurability["Service"]["record"] =
    observe === undefined
      ? () => Effect.void
      : (records) =>
          Effect.forEach(
            records.flatMap((record) => [...decisionEvents(record), ...eventsOf(record)]),
            observe,
            { discard: true },
          );
  const record: RunDurability["Service"]["record"] = (records, diagnostics, results = []) => {
    for (const result of results) kept.set(result.resultId, result);
    return show(records, diagnostics);
  };
  return RunDurability.of({
    record,
    recordSoon: record,
    keptResult: (resultId) => Effect.sync(() => kept.get(resultId)),
    emit: observe ?? (() => Effect.void),
    answers: answersBy(resolver, onResolverFailure),
    noteToolExposure: () => Effect.void,
    postponesPassing: false,
    now: Clock.currentTimeMillis,
  });
};
