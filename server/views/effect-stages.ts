/** What the evidence says of an effect in doubt: whether its request left, and whether it was answered. Pure. */
import type { EffectStage, ProbeView, UnknownDetail } from "#lib/contract/unknown-views.ts";

export interface EffectEvidence {
  readonly reason: string;
  /** The handler reported progress after it was prepared. */
  readonly progressed: boolean;
  /** Newest first. */
  readonly probes: ReadonlyArray<ProbeView>;
}

/** The newest answer that is the destination's own word. */
const decisive = (probes: ReadonlyArray<ProbeView>): ProbeView | undefined =>
  probes.find(({ finding }) => finding === "found" || finding === "not-found");

/** How far the handler came, where this host saw it: a process that is gone says nothing more. */
const started = ({ progressed, reason }: EffectEvidence): string | undefined => {
  if (reason === "handler-unsure") return "The handler ran, and says itself that it cannot tell.";
  if (progressed) return "The handler ran: it reported progress. Nothing says how far it came.";
  if (reason === "interrupted") return "The handler was running when the run's time was used up.";
  if (reason === "handler-defect")
    return "The handler had been started when its batch broke off; nothing says how far it came.";
  return undefined;
};

const noEntry: EffectStage = {
  known: "no",
  why: "The destination has no trace of this call.",
};

export const effectStages = (evidence: EffectEvidence): UnknownDetail["stages"] => {
  const probe = decisive(evidence.probes);
  if (probe?.finding === "not-found")
    return {
      sent: { ...noEntry, why: `${noEntry.why} ${probe.detail ?? ""}`.trim() },
      answered: noEntry,
    };
  if (probe !== undefined)
    return {
      sent: { known: "yes", why: "The destination knows this call." },
      answered: { known: "yes", why: probe.detail ?? "" },
    };
  return {
    sent: {
      known: "not-known",
      why: started(evidence) ?? "The handler may have started, and the request may have left.",
    },
    answered:
      evidence.reason === "handler-unsure"
        ? { known: "no", why: "The handler had no answer that it could read." }
        : { known: "not-known", why: "An answer may have come and been lost." },
  };
};
