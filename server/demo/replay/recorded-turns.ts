/**
 * A recorded task as a model and a shop would play it: a scripted model declares
 * each recorded call, one a turn, and a named test policy approves what waits.
 */
import { Effect } from "effect";

import type { ApprovalResolverShape } from "#lib/approval/ApprovalResolver.ts";
import { text, toolCalls, type ScriptedTurn } from "#lib/testing/scripted-turn.ts";

import { makeRetailDesk } from "../RetailDesk.ts";
import type { RecordedTask } from "./recorded-tasks.ts";

/** The desk with room for the longest recording; every other rule is the desk's own. */
export const replayDesk = makeRetailDesk("retail-desk-replay", {
  maxTurns: 200,
  maxToolCalls: 200,
  repeatedFailureLimit: 0,
});

export const callIdOf = (index: number): string => `call_${index + 1}`;

export const recordedTurns = (task: RecordedTask): ReadonlyArray<ScriptedTurn> => [
  ...task.actions.map((action, index) =>
    toolCalls([{ id: callIdOf(index), name: action.tool, params: action.arguments }]),
  ),
  text(`Recorded task ${task.index} is replayed.`),
];

/** Who decides approvals of a replay; the name is in every record of a decision. */
export const replayApprover = { kind: "policy", id: "replay", name: "Replay test policy" } as const;

/** Approves everything: the recordings are of confirmed calls. */
export const approveRecordedCalls: ApprovalResolverShape = {
  resolve: (requests) =>
    Effect.succeed(
      requests.map(() => ({ _tag: "approved" as const, approvers: [replayApprover] as const })),
    ),
};
