/** What each recovery decision means, whatever the run: the words beside the recorded explanation (OP-12). */
import type { RecoveryDecision } from "#lib/contract/status.ts";

export const decisionMeaning: Record<RecoveryDecision, string> = {
  "first-attempt": "Nothing of the run had happened before.",
  "ask-model-again":
    "A request to the model was lost on its way. Asking again repeats no effect, but the lost request may have been paid for.",
  "continue-declared-batch":
    "The model's answer was stored, so it is not asked again. Calls with a result keep it; only calls that never started run.",
  "restore-approval-wait": "The run waits for the same people as before. Nobody is asked twice.",
  "apply-decisions":
    "People have decided. Approved calls run after authorization by today's policy; denied and expired ones never run.",
  "rerun-idempotent":
    "A call that may safely run twice had started. It runs again with the same idempotency key.",
  "record-unknown":
    "A call had started and nothing says whether it happened. It is never repeated by itself: its reconciler, its probe's rule or a person says what is true.",
  "restore-unknown-wait": "The run waits until somebody says what became of an effect in doubt.",
  "apply-resolutions":
    "Somebody said what became of an effect in doubt, and the run goes on with that.",
  "next-turn": "Every call had its result, so the model is asked for the next turn.",
  "settle-recorded-outcome": "The outcome was recorded already; only the end was written.",
  "apply-abort": "A person asked the run to end, which wins over everything else.",
};
