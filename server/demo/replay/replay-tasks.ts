/**
 * Drives recorded tasks through an executor and compares what came out: every
 * result, and every order and customer that differs from the unmodified shop.
 */
import { Effect } from "effect";

import { findCustomer, toUserRecord } from "../shop/customers.ts";
import { orderRecord } from "../shop/orders.ts";
import { jsonEqual, resultsEqual } from "./json-equal.ts";
import { changedRecords, restorePristine, type ChangedRecords } from "./pristine-shop.ts";
import type { RecordedTask } from "./recorded-tasks.ts";

/** Runs a task's calls in order and gives their results as texts, in the same order. */
export type ExecuteTask<E, R> = (task: RecordedTask) => Effect.Effect<ReadonlyArray<string>, E, R>;

export interface ReplayReport {
  readonly tasks: number;
  readonly equalTasks: number;
  readonly results: number;
  readonly equalResults: number;
  /** One line per difference, in words. */
  readonly differences: ReadonlyArray<string>;
}

const shorten = (text: string) =>
  text.length > 300 ? `${text.slice(0, 300)}... (${text.length} characters)` : text;

const compareResults = (task: RecordedTask, results: ReadonlyArray<string>) =>
  task.actions.flatMap((action, index) => {
    const seen = results[index];
    if (seen !== undefined && resultsEqual(seen, action.result)) return [];
    return [
      `task ${task.index}, call ${index + 1} (${action.tool}): recorded ${shorten(action.result)}, seen ${seen === undefined ? "nothing" : shorten(seen)}`,
    ];
  });

const compareRecords = Effect.fn("replay.compareRecords")(function* (
  task: RecordedTask,
  changed: ChangedRecords,
) {
  const differences: Array<string> = [];
  const compareIds = (
    kind: string,
    expected: ReadonlyArray<string>,
    seen: ReadonlyArray<string>,
  ) => {
    const [wanted, found] = [[...expected].sort(), [...seen].sort()];
    if (!jsonEqual(wanted, found)) {
      differences.push(
        `task ${task.index}: changed ${kind} should be [${wanted.join(", ")}], seen [${found.join(", ")}]`,
      );
    }
  };
  compareIds("orders", Object.keys(task.changed.orders), changed.orders);
  compareIds("users", Object.keys(task.changed.users), changed.users);
  compareIds("items", [], changed.items);
  for (const [id, expected] of Object.entries(task.changed.orders)) {
    const seen = yield* orderRecord(id);
    if (!jsonEqual(seen, expected))
      differences.push(
        `task ${task.index}: order ${id} is ${JSON.stringify(seen)}, recorded ${JSON.stringify(expected)}`,
      );
  }
  for (const [id, expected] of Object.entries(task.changed.users)) {
    const seen = toUserRecord(yield* findCustomer(id));
    if (!jsonEqual(seen, expected))
      differences.push(
        `task ${task.index}: user ${id} is ${JSON.stringify(seen)}, recorded ${JSON.stringify(expected)}`,
      );
  }
  return differences;
});

/** Replays the tasks one after the other, each from the unmodified shop. */
export const replayTasks = Effect.fn("replayTasks")(function* <E, R>(
  tasks: ReadonlyArray<RecordedTask>,
  executeTask: ExecuteTask<E, R>,
) {
  const differences: Array<string> = [];
  let equalTasks = 0;
  let equalResults = 0;
  for (const task of tasks) {
    const results = yield* executeTask(task);
    const wrongResults = compareResults(task, results);
    const changed = yield* changedRecords;
    const wrongRecords = yield* compareRecords(task, changed);
    yield* restorePristine(changed);
    equalResults += task.actions.length - wrongResults.length;
    if (wrongResults.length + wrongRecords.length === 0 && results.length === task.actions.length)
      equalTasks += 1;
    differences.push(...wrongResults, ...wrongRecords);
  }
  const report: ReplayReport = {
    tasks: tasks.length,
    equalTasks,
    results: tasks.reduce((sum, { actions }) => sum + actions.length, 0),
    equalResults,
    differences,
  };
  return report;
});

/** The last line of a replay. */
export const summaryLine = ({ equalTasks, tasks, equalResults, results }: ReplayReport): string =>
  `replay: ${equalTasks}/${tasks} tasks equal, ${equalResults}/${results} results equal`;
