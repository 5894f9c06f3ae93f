/** Everything that can happen next in a world of the model check. */
import { Exit, Option } from "effect";
import * as Cause from "effect/Cause";
import { RunId } from "#lib/contract/ids.ts";
import type { RunRecord } from "#lib/contract/records.ts";
import { foldRecords } from "#lib/durable/run-state.ts";
import type { AppendRequest } from "#lib/durable/Journal.ts";
import { FenceRejected } from "#lib/durable/StoreError.ts";
import { people, type Step } from "./ledger-people.ts";
import { type Faults, place, type Scenario, wanted } from "./ledger-worker.ts";
import {
  ports,
  runOf,
  tenantId,
  threadOf,
  type Worker,
  workerId,
  type World,
} from "./ledger-world.ts";

const withWorker = (world: World, index: number, worker: Worker | undefined): World => ({
  ...world,
  workers: world.workers.map((other, at) => (at === index ? worker : other)),
});

const claim = (world: World, index: number): ReadonlyArray<Step> => {
  if (world.budget.claims === 0) return [];
  const { threadId } = threadOf(world);
  const { tables, exit } = ports.on(
    world.tables,
    ports.ledger.claim({ tenantId, threadId, workerId: workerId(index) }),
  );
  if (Exit.isFailure(exit) || Option.isNone(exit.value)) return [];
  const taken = exit.value.value;
  const records = taken.records.map((stored) => stored.record);
  const worker: Worker = {
    epoch: taken.epoch,
    attempt: foldRecords(records).attempts + 1,
    runId: taken.runId,
    tail: taken.tail,
    records,
    deliver: taken.undelivered,
    isStarted: false,
    pending: undefined,
    handler: undefined,
  };
  const budget = { ...world.budget, claims: world.budget.claims - 1 };
  return [
    { name: `claim ${index}`, world: withWorker({ ...world, tables, budget }, index, worker) },
  ];
};

/** The worker after its records are written. */
const afterAppend = (
  worker: Worker,
  request: AppendRequest,
  tail: Worker["tail"],
): Worker | undefined => {
  const ends = request.records.some(
    (record) => record._tag === "RunSuspended" || record._tag === "RunSettled",
  );
  if (ends) return undefined;
  const started = request.records.find((record) => record._tag === "ToolCallPrepared");
  const settled = request.records.some((record) => record._tag === "ToolCallSettled");
  return {
    ...worker,
    tail,
    records: [...worker.records, ...request.records],
    deliver: [],
    isStarted: true,
    pending: undefined,
    handler:
      started !== undefined
        ? { callId: started.callId, phase: "prepared" }
        : settled
          ? undefined
          : worker.handler,
  };
};

/** Sends a decided append: it is answered, or written without an answer that arrives. */
const send = (
  world: World,
  index: number,
  worker: Worker,
  request: AppendRequest,
  isRetry: boolean,
  faults: Faults,
): ReadonlyArray<Step> => {
  const { epoch, tail } = threadOf(world);
  const sent: AppendRequest = {
    ...request,
    ...(faults.fencingOff === true ? { epoch } : {}),
    ...(faults.replayCheckOff === true && isRetry
      ? { batchId: `${request.batchId}-again`, expectedTail: tail }
      : {}),
  };
  const { tables, exit } = ports.on(world.tables, ports.journal.append(sent));
  const name = `${isRetry ? "retry" : "append"} ${index} ${request.records.map((record) => record._tag).join("+")}`;
  if (Exit.isSuccess(exit)) {
    // The port's own promise: a superseded worker writes nothing (DU-13).
    const violation =
      worker.epoch === epoch
        ? undefined
        : `epoch ${worker.epoch} wrote while ${epoch} owns the thread`;
    const answered = afterAppend(worker, request, exit.value.tail);
    const broken = violation === undefined ? {} : { violation };
    const steps: Array<Step> = [
      { name, world: withWorker({ ...world, tables }, index, answered), ...broken },
    ];
    if (!isRetry && world.budget.lostReplies > 0)
      steps.push({
        name: `${name}, reply lost`,
        world: withWorker(
          {
            ...world,
            tables,
            budget: { ...world.budget, lostReplies: world.budget.lostReplies - 1 },
          },
          index,
          { ...worker, pending: { request, replyLost: true } },
        ),
        ...broken,
      });
    return steps;
  }
  const failure = exit.cause.reasons.find(Cause.isFailReason)?.error;
  if (failure?._tag === "AbortPending") {
    // The abort was stored a moment before: it is delivered by a second attempt of the same claim.
    const found = ports.on(
      world.tables,
      ports.ledger.undelivered({ tenantId, runId: RunId.make(worker.runId) }),
    );
    const deliver = Exit.isSuccess(found.exit) ? found.exit.value : [];
    const again: Worker = {
      ...worker,
      attempt: foldRecords(worker.records).attempts + 1,
      deliver,
      isStarted: false,
      pending: undefined,
      handler: undefined,
    };
    return [{ name: `${name}, abort first`, world: withWorker(world, index, again) }];
  }
  // Whoever is refused writes nothing more; only one that lost the thread may be.
  const gone = withWorker(world, index, undefined);
  return failure instanceof FenceRejected && worker.epoch !== epoch
    ? [{ name: `${name}, fenced`, world: gone }]
    : [
        {
          name,
          world: gone,
          violation: `the owner of epoch ${worker.epoch} was refused: ${failure?.message ?? "defect"}`,
        },
      ];
};

const requestOf = (
  world: World,
  worker: Worker,
  records: ReadonlyArray<RunRecord>,
): AppendRequest => {
  const run = runOf(world);
  return {
    tenantId,
    threadId: run.threadId,
    runId: run.runId,
    agentId: run.agentId,
    epoch: worker.epoch,
    expectedTail: worker.tail,
    batchId: `${worker.epoch}-${worker.tail.sequence}`,
    records,
    events: [],
    diagnostics: [],
  };
};

const act = (
  world: World,
  index: number,
  worker: Worker,
  scenario: Scenario,
): ReadonlyArray<Step> => {
  const { handler, pending } = worker;
  if (pending !== undefined)
    return send(world, index, worker, pending.request, pending.replyLost, scenario.faults);
  if (handler?.phase === "prepared") {
    const times = (world.provider[handler.callId] ?? 0) + 1;
    return [
      {
        name: `effect ${index} ${handler.callId}`,
        world: withWorker(
          { ...world, provider: { ...world.provider, [handler.callId]: times } },
          index,
          { ...worker, handler: { ...handler, phase: "acted" } },
        ),
      },
    ];
  }
  if (handler?.phase === "acted") {
    const records = [place(world).settled(handler.callId)];
    return send(world, index, worker, requestOf(world, worker, records), false, scenario.faults);
  }
  const next = wanted(world, worker, scenario);
  switch (next._tag) {
    case "leave":
      return [{ name: `leave ${index}`, world: withWorker(world, index, undefined) }];
    case "start":
      return [
        {
          name: `start ${index} ${next.callId}`,
          world: withWorker(world, index, {
            ...worker,
            handler: { callId: next.callId, phase: "prepared" },
          }),
        },
      ];
    case "append":
      return send(
        world,
        index,
        worker,
        requestOf(world, worker, next.records),
        false,
        scenario.faults,
      );
  }
};

const crash = (world: World, index: number): ReadonlyArray<Step> =>
  world.budget.crashes === 0
    ? []
    : [
        {
          name: `crash ${index}`,
          world: withWorker(
            { ...world, budget: { ...world.budget, crashes: world.budget.crashes - 1 } },
            index,
            undefined,
          ),
        },
      ];

/** Every step that may follow; a worker that takes none is one that stands still. */
export const stepsFrom = (world: World, scenario: Scenario): ReadonlyArray<Step> => [
  ...world.workers.flatMap((worker, index) =>
    worker === undefined
      ? claim(world, index)
      : [...act(world, index, worker, scenario), ...crash(world, index)],
  ),
  ...people(world),
];
