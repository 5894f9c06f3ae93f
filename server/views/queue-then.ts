/**
 * Which rows of a queue were open after an event, and what each showed. Where the log has the events that
 * opened and closed a row, its own order decides; where it has not (they are not kept any more), the row's
 * times do. Pure.
 */
import type { RunEvent } from "#lib/contract/events.ts";
import type { ApprovalListItem } from "#lib/contract/approval-views.ts";
import type { ApprovalThen, MomentPlace, UnknownThen } from "#lib/contract/http/moments.ts";
import { OperatorId } from "#lib/contract/ids.ts";
import type { UnknownListItem } from "#lib/contract/unknown-views.ts";
import type { PersonEvent } from "./moment-place.ts";

/** A request's row as it is today. Its expiry stands where no event says what it was. */
export type ApprovalToday = ApprovalListItem & { readonly approversRequired: number };

/** Whether it had happened by then: by its event where the log has it, else by the time of the row. */
const hadHappened = (
  place: MomentPlace,
  event: PersonEvent | undefined,
  time: number | null,
): boolean =>
  event === undefined ? time !== null && time <= place.at : event.sequence <= place.sequence;

type Kind = RunEvent["_tag"];

const byTarget = (
  events: ReadonlyArray<PersonEvent>,
): ReadonlyMap<string, ReadonlyArray<PersonEvent>> => {
  const found = new Map<string, Array<PersonEvent>>();
  for (const one of events) {
    const { event } = one;
    const target =
      "requestId" in event ? event.requestId : "unknownId" in event ? event.unknownId : undefined;
    if (target === undefined) continue;
    const known = found.get(target);
    if (known === undefined) found.set(target, [one]);
    else known.push(one);
  }
  return found;
};

const ofKind = (events: ReadonlyArray<PersonEvent>, kind: Kind): PersonEvent | undefined =>
  events.find(({ event }) => event._tag === kind);

const neverLast = (millis: number | null): number => millis ?? Number.POSITIVE_INFINITY;

/** What an open request showed, from its events up to then. */
const approvalThen = (
  today: ApprovalToday,
  before: ReadonlyArray<PersonEvent>,
  place: MomentPlace,
): ApprovalThen => {
  let { expiresAt } = today;
  const approvers: Array<ApprovalThen["approvers"][number]> = [];
  const lookers = new Map<string, ApprovalThen["lookers"][number]>();
  for (const { at, event } of before) {
    if (event._tag === "ApprovalRequested" || event._tag === "ApprovalExtended")
      expiresAt = event.expiresAt;
    if (event._tag === "ApprovalCounted")
      approvers.push({ operatorId: OperatorId.make(event.actor.id), name: event.actor.name, at });
    if (event._tag === "ApprovalLookedAt")
      lookers.set(event.actor.id, {
        operatorId: OperatorId.make(event.actor.id),
        name: event.actor.name,
        until: event.until,
      });
  }
  return {
    ...today,
    state: "pending",
    decidedAt: null,
    decidedBy: null,
    batchPending: 0,
    expiresAt,
    approvers,
    approversMissing: Math.max(0, today.approversRequired - approvers.length),
    lookers: [...lookers.values()]
      .filter(({ until }) => until > place.at)
      .toSorted((one, two) => (one.operatorId < two.operatorId ? -1 : 1)),
  };
};

/** The approval queue after the event. `candidates` holds every request that may have been open then. */
export const approvalsThen = (
  candidates: ReadonlyArray<ApprovalToday>,
  events: ReadonlyArray<PersonEvent>,
  place: MomentPlace,
): ReadonlyArray<ApprovalThen> => {
  const targets = byTarget(events);
  const open = candidates.flatMap((today): ReadonlyArray<ApprovalThen> => {
    const own = targets.get(today.requestId) ?? [];
    const isOpen =
      hadHappened(place, ofKind(own, "ApprovalRequested"), today.requestedAt) &&
      !hadHappened(place, ofKind(own, "ApprovalDecided"), today.decidedAt);
    const before = own.filter(({ sequence }) => sequence <= place.sequence);
    return isOpen ? [approvalThen(today, before, place)] : [];
  });
  const batchOf = ({ runId, turn }: ApprovalThen): string => `${runId} ${turn}`;
  const inBatch = new Map<string, number>();
  for (const one of open) inBatch.set(batchOf(one), (inBatch.get(batchOf(one)) ?? 0) + 1);
  return open
    .map((one) => ({ ...one, batchPending: inBatch.get(batchOf(one)) ?? 1 }))
    .toSorted(
      (one, two) =>
        neverLast(one.expiresAt) - neverLast(two.expiresAt) ||
        (one.requestId < two.requestId ? -1 : 1),
    );
};

/** The effects in doubt after the event. */
export const unknownsThen = (
  candidates: ReadonlyArray<UnknownListItem>,
  events: ReadonlyArray<PersonEvent>,
  place: MomentPlace,
): ReadonlyArray<UnknownThen> => {
  const targets = byTarget(events);
  return candidates
    .flatMap((today): ReadonlyArray<UnknownThen> => {
      const own = targets.get(today.unknownId) ?? [];
      const isOpen =
        hadHappened(place, ofKind(own, "ToolCallUnknown"), today.unknownAt) &&
        !hadHappened(place, ofKind(own, "UnknownResolved"), today.resolvedAt);
      if (!isOpen) return [];
      const probes = own.filter(
        ({ event, sequence }) => event._tag === "UnknownProbed" && sequence <= place.sequence,
      ).length;
      return [{ ...today, state: "open", resolvedAt: null, resolvedBy: null, probes }];
    })
    .toSorted(
      (one, two) => one.unknownAt - two.unknownAt || (one.unknownId < two.unknownId ? -1 : 1),
    );
};
