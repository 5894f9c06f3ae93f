/** The queues as they were after an event of the log: what people saw, and nothing that can be done. */
import * as Schema from "effect/Schema";
import { ApprovalListItem, ApprovalLooker } from "../approval-views.ts";
import { EpochMillis, OperatorId, Sequence } from "../ids.ts";
import { UnknownListItem } from "../unknown-views.ts";

/** The event that the answer is of: the newest that is not after the one asked for; and its neighbours in the log. */
export const MomentPlace = Schema.Struct({
  sequence: Sequence,
  kind: Schema.String,
  at: EpochMillis,
  previous: Schema.NullOr(Sequence),
  next: Schema.NullOr(Sequence),
});
export type MomentPlace = typeof MomentPlace.Type;

/** A request that was open, with what its row and card showed then. */
export const ApprovalThen = Schema.Struct({
  ...ApprovalListItem.fields,
  approversRequired: Schema.Int,
  /** Who had approved, earliest first, and how many people were still missing. */
  approvers: Schema.Array(
    Schema.Struct({ operatorId: OperatorId, name: Schema.String, at: EpochMillis }),
  ),
  approversMissing: Schema.Int,
  /** Who was looking at it. */
  lookers: Schema.Array(ApprovalLooker),
});
export type ApprovalThen = typeof ApprovalThen.Type;

/** Nearest deadline first, as the queue was. */
export const ApprovalsMoment = Schema.Struct({
  ...MomentPlace.fields,
  items: Schema.Array(ApprovalThen),
  /**
   * Not all that was open may be here: more than `momentRows` were, or more than twice as many stood open
   * within an hour of the event, of which the oldest were looked at.
   */
  more: Schema.Boolean,
});
export type ApprovalsMoment = typeof ApprovalsMoment.Type;

/** An effect that was in doubt, and how often its destination had been asked. */
export const UnknownThen = Schema.Struct({ ...UnknownListItem.fields, probes: Schema.Int });
export type UnknownThen = typeof UnknownThen.Type;

/** Oldest first, as the queue was. */
export const UnknownsMoment = Schema.Struct({
  ...MomentPlace.fields,
  items: Schema.Array(UnknownThen),
  more: Schema.Boolean,
});
export type UnknownsMoment = typeof UnknownsMoment.Type;
