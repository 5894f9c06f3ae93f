/** Which event of the log an act of the audit led to, so that a person can look at what was there before it. Pure. */
import type { RunEvent } from "#lib/contract/events.ts";
import type { Sequence } from "#lib/contract/ids.ts";
import type { PersonEvent } from "./moment-place.ts";

export interface ActOfAudit {
  readonly verb: string;
  readonly target: string;
  readonly accepted: boolean;
  readonly actor: { readonly id: string };
  readonly at: number;
}

/** What each verb announces; a verb that is not here announces nothing that is kept by itself. */
const announced: Readonly<Record<string, ReadonlyArray<RunEvent["_tag"]>>> = {
  "decide-approval": ["ApprovalDecided", "ApprovalCounted"],
  "extend-approval": ["ApprovalExtended"],
  "resolve-unknown": ["UnknownResolved"],
  "probe-unknown": ["UnknownProbed"],
  "acknowledge-denial": ["DenialAcknowledged"],
  "abort-run": ["AbortRequested"],
};

/** The kinds of events that an act of this verb announces. */
export const eventKindsOf = (verb: string): ReadonlyArray<RunEvent["_tag"]> =>
  announced[verb] ?? [];

/** Whether an act may have an event at all, so that the log is read for those alone. */
export const mayHaveMoment = ({ accepted, verb }: ActOfAudit): boolean =>
  accepted && announced[verb] !== undefined;

const targetOf = ({ event, runId }: PersonEvent): string => {
  if ("requestId" in event) return event.requestId;
  if ("unknownId" in event) return event.unknownId;
  return "denialId" in event && event.denialId !== undefined ? event.denialId : runId;
};

/**
 * The act's own event: an act is written down behind what it announced, and two acts on one target never at
 * once, so it is the last one before the act's own time.
 */
export const momentOfAct = (
  act: ActOfAudit,
  events: ReadonlyArray<PersonEvent>,
): Sequence | undefined => {
  if (!mayHaveMoment(act)) return undefined;
  const kinds = eventKindsOf(act.verb);
  return events
    .filter(
      (one) =>
        kinds.includes(one.event._tag) &&
        "actor" in one.event &&
        one.event.actor.id === act.actor.id &&
        targetOf(one) === act.target &&
        one.at <= act.at,
    )
    .toSorted((one, two) => two.at - one.at || two.sequence - one.sequence)
    .at(0)?.sequence;
};
