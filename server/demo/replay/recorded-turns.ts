/**
 * A recorded task as a model and a shop would play it: a scripted model declares
 * each recorded call, one a turn, and a named test policy approves what waits.
 */
import { toolResultsOf, type RecordedRequest } from "#lib/testing/recorded-request.ts";
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

/** A task as a run's input; the number tells the scripted model which recording to play. */
export const taskInput = (task: RecordedTask): string =>
  `[recorded task ${task.index}] ${task.instruction}`;

const turnOf = (task: RecordedTask, index: number): ScriptedTurn => {
  const action = task.actions[index];
  return action === undefined
    ? text(`Recorded task ${task.index} is replayed.`)
    : toolCalls([{ id: callIdOf(index), name: action.tool, params: action.arguments }]);
};

/** The next turn by what the prompt shows: the task in its input, and how many results it already has. */
export const recordedTurn = (tasks: ReadonlyArray<RecordedTask>) => {
  const byIndex = new Map(tasks.map((task) => [String(task.index), task]));
  return (request: RecordedRequest): ScriptedTurn => {
    const number = /\[recorded task (\d+)\]/.exec(JSON.stringify(request.encodedPrompt))?.[1];
    const task = byIndex.get(number ?? "");
    if (task === undefined) throw new Error(`no recorded task ${number ?? "in the prompt"}`);
    return turnOf(task, toolResultsOf(request.prompt).length);
  };
};

/** The test policy that decides approvals of a replay; its name is in every record of a decision. */
export const replayApprovalRule = "replay-approves-recorded-calls";
