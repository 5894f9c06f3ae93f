/** Breadth first over every world that the steps reach; stops at the first that breaks an invariant. */
import { verifyChain } from "#lib/durable/chain.ts";
import { foldRecords, isInDoubt } from "#lib/durable/run-state.ts";
import { nextOf } from "#lib/durable/memory/queue.ts";
import type { Step } from "./ledger-people.ts";
import { stepsFrom } from "./ledger-steps.ts";
import type { Scenario } from "./ledger-worker.ts";
import { recordsIn, runOf, tenantId, threadOf, type World, worldKey } from "./ledger-world.ts";

/** What is wrong with a world, in a sentence. */
const violationIn = (world: World): string | undefined => {
  const records = recordsIn(world);
  const count = (isOne: (record: (typeof records)[number]) => boolean) =>
    records.filter(isOne).length;
  if (count((record) => record._tag === "RunSettled") > 1) return "the run is settled twice";
  for (const [callId, times] of Object.entries(world.provider))
    if (times > 1) return `the effect of ${callId} happened ${times} times`;
  const evidence = foldRecords(records);
  for (const call of evidence.turns.flatMap((turn) => turn.calls)) {
    const { callId } = call.declared;
    const times = world.provider[callId] ?? 0;
    const settlements = count(
      (record) => record._tag === "ToolCallSettled" && record.callId === callId,
    );
    if (settlements > 1) return `${callId} has two results`;
    if (call.settled?.kind === "succeeded" && times === 0)
      return `${callId} is said to have succeeded and never happened`;
    if (times > 0 && call.prepared === undefined)
      return `the effect of ${callId} happened before anything said that it might`;
    if (call.decided?.decision === "denied" && times > 0)
      return `${callId} was denied and happened`;
    if (call.requested !== undefined && call.decided === undefined && times > 0)
      return `${callId} happened before anybody approved it`;
    if (evidence.settled !== undefined && isInDoubt(call) && call.unknown === undefined)
      return `the run is settled and says nothing of ${callId}, which may have happened`;
  }
  return undefined;
};

/** Nobody works any more: then the run is over, or due, or waits for a person. */
const isStuck = (world: World): boolean => {
  const run = runOf(world);
  if (world.workers.some((worker) => worker !== undefined) || run.state === "settled") return false;
  const waits =
    [...world.tables.approvals.values()].some((row) => row.state === "pending") ||
    [...world.tables.unknowns.values()].some((row) => row.state === "open");
  return !waits && nextOf(world.tables, tenantId, run.threadId, 1_000) === undefined;
};

/** What a person said of a run that went on is in its records. */
const lostDecision = (world: World): string | undefined => {
  if (runOf(world).state !== "settled") return undefined;
  const records = recordsIn(world);
  const wasAborted = records.some((record) => record._tag === "AbortRequested");
  for (const row of world.tables.approvals.values())
    if ((row.state === "approved" || row.state === "denied") && !row.delivered && !wasAborted)
      return `the answer to ${row.callId} was never heard`;
  return runOf(world).abort?.delivered === false ? "the abort was never heard" : undefined;
};

/** The chain of a settled run's thread holds, whoever wrote to it (PG-02). */
const brokenChain = (world: World): string | undefined => {
  if (runOf(world).state !== "settled") return undefined;
  const thread = threadOf(world);
  const found = verifyChain(
    thread.threadId,
    thread.records.map(({ stored, body }) => ({ ...stored, body })),
  );
  return found === undefined ? undefined : `the chain breaks at ${found.sequence}: ${found.reason}`;
};

export interface Exploration {
  readonly states: number;
  readonly steps: number;
  /** Worlds in which the run is settled. */
  readonly settled: number;
  /** Appends that the fence refused on the way. */
  readonly fenced: number;
  readonly replayed: number;
  /** The shortest way to a broken world, and what is broken there. */
  readonly violation: { readonly what: string; readonly trace: ReadonlyArray<string> } | undefined;
}

interface Seen {
  readonly parent: string | undefined;
  readonly name: string;
}

const traceTo = (seen: Map<string, Seen>, key: string): ReadonlyArray<string> => {
  const names: Array<string> = [];
  for (let at: string | undefined = key; at !== undefined;) {
    const step: Seen | undefined = seen.get(at);
    if (step === undefined) break;
    names.unshift(step.name);
    at = step.parent;
  }
  return names;
};

export const explore = (start: World, scenario: Scenario): Exploration => {
  const first = worldKey(start);
  const seen = new Map<string, Seen>([[first, { parent: undefined, name: "start" }]]);
  let level: Array<readonly [string, World]> = [[first, start]];
  const counts = { steps: 0, settled: 0, fenced: 0, replayed: 0 };
  const judge = (step: Step): string | undefined =>
    step.violation ??
    violationIn(step.world) ??
    lostDecision(step.world) ??
    brokenChain(step.world) ??
    (isStuck(step.world) ? "nobody works and nothing is due" : undefined);
  while (level.length > 0) {
    const next: Array<readonly [string, World]> = [];
    for (const [key, world] of level) {
      for (const step of stepsFrom(world, scenario)) {
        counts.steps += 1;
        if (step.name.endsWith("fenced")) counts.fenced += 1;
        if (step.name.startsWith("retry") && !step.name.endsWith("fenced")) counts.replayed += 1;
        const reached = worldKey(step.world);
        const isNew = !seen.has(reached);
        if (isNew) seen.set(reached, { parent: key, name: step.name });
        const what = isNew || step.violation !== undefined ? judge(step) : undefined;
        if (what !== undefined)
          return {
            states: seen.size,
            ...counts,
            violation: { what, trace: [...traceTo(seen, key), step.name] },
          };
        if (!isNew) continue;
        if (runOf(step.world).state === "settled") counts.settled += 1;
        next.push([reached, step.world]);
      }
    }
    level = next;
  }
  return { states: seen.size, ...counts, violation: undefined };
};
