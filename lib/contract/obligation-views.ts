/** What is owed, and what recovery would do about it. */
import * as Schema from "effect/Schema";
import { AgentId, EpochMillis, RunId, SubmissionId, ThreadId } from "./ids.ts";
import { AttemptView } from "./run-views.ts";
import { RunState } from "./status.ts";

export const ObligationView = Schema.Struct({
  submissionId: SubmissionId,
  runId: RunId,
  threadId: ThreadId,
  agentId: AgentId,
  title: Schema.String,
  /** `held`: since the database was restored from a backup; only a person starts it (`after-restore`). */
  blocker: Schema.Literals([
    "approval",
    "unknown",
    "child",
    "held",
    "ready-aged",
    "running-aged",
    "none",
  ]),
  severity: Schema.Literals(["ok", "aging", "overdue"]),
  /** What recovery would do next, in plain words. */
  explanation: Schema.String,
  since: EpochMillis,
  attempts: Schema.Int,
  /** When the next attempt is due; null when it is due already or no clock starts it. */
  dueAt: Schema.NullOr(EpochMillis),
});
export type ObligationView = typeof ObligationView.Type;

/** Why a run is where it is, what happens next and when, and what each attempt decided (OP-12). */
export const RunExplanation = Schema.Struct({
  runId: RunId,
  state: RunState,
  /** What holds it up. */
  now: Schema.String,
  /** What happens next, and what starts it. */
  next: Schema.String,
  /** When the next attempt is due; null when no clock starts it. */
  nextAt: Schema.NullOr(EpochMillis),
  /** Attempts in a row that ended without progress, and how many end the run. */
  lostAttempts: Schema.Int,
  maxLostAttempts: Schema.Int,
  /** Each recovery decision as it was recorded, and what such a decision means; oldest first, at most 200. */
  decisions: Schema.Array(Schema.Struct({ ...AttemptView.fields, meaning: Schema.String })),
  /** Which commands would do something, each with what it would do or why not. */
  wake: Schema.Struct({ possible: Schema.Boolean, effect: Schema.String }),
  retry: Schema.Struct({ possible: Schema.Boolean, effect: Schema.String }),
  serverTime: EpochMillis,
});
export type RunExplanation = typeof RunExplanation.Type;

/** What a retry made: another attempt of the same run, or a new submission of its input. */
export const RetryReceipt = Schema.Struct({
  kind: Schema.Literals(["new-attempt", "new-submission"]),
  runId: RunId,
  threadId: ThreadId,
});
export type RetryReceipt = typeof RetryReceipt.Type;
