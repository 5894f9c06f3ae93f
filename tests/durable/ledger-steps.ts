/** Everything that can happen next in a world of the model check. */
import { Exit, Option } from "effect";
import * as Cause from "effect/Cause";
import { RunId } from "#lib/contract/ids.ts";
import type { RecordOf, RunRecord } from "#lib/contract/records.ts";
import { decideNext, type NextAct } from "#lib/durable/decide-next.ts";
import { type CallEvidence, foldRecords } from "#lib/durable/run-state.ts";
import type { AppendRequest } from "#lib/durable/Journal.ts";
import { FenceRejected } from "#lib/durable/StoreError.ts";
import { unknownIdOf } from "#lib/durable/derived-ids.ts";
import { ada, digest, recordsOf } from "#lib/testing/conformance/run-records.ts";
import {
  ports,
  runOf,
  tenantId,
  threadOf,
  type Worker,
  workerId,
  type World,
} from "./ledger-world.ts";

/** What a broken runtime would do; each must be met by an invariant. */
export interface Faults {
  /** The epoch of an append is not compared. */
  readonly fencingOff?: boolean;
  /** A retry of an append is taken for a new one. */
  readonly replayCheckOff?: boolean;
  /** A handler starts before its preparation is written. */
  readonly preparedSkipped?: boolean;
  /** A lost call simply runs again. */
  readonly lostCallsRerun?: boolean;
}

export interface Step {
  readonly name: string;
  readonly world: World;
  /** What this very step did wrong. */
  readonly violation?: string;
}

/** The calls of the one turn; the second is gated. */
export interface Scenario {
  readonly calls: ReadonlyArray<string>;
  readonly gated: ReadonlyArray<string>;
  readonly faults: Faults;
}

const place = (world: World) => {
  const run = runOf(world);
  return recordsOf({
    tenantId,
    threadId: run.threadId,
    runId: run.runId,
    submissionId: run.submissionId,
  });
};

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

const unknownFor = (world: World, call: CallEvidence, after: boolean): RunRecord => ({
  ...place(world).unknown(call.declared.callId, after),
  unknownId: unknownIdOf(
    { tenantId, runId: RunId.make(runOf(world).runId), turn: 1, callId: call.declared.callId },
    call.preparations,
  ),
});

/** The result that an answered call gets without a handler, as the engine gives it. */
const answerOf = (world: World, call: CallEvidence): RecordOf<"ToolCallSettled"> =>
  call.resolved?.resolution === "completed-with-result"
    ? place(world).settled(call.declared.callId, "done", { source: "resolution" })
    : place(world).settled(call.declared.callId, "denied", {
        kind: "denied-by-person",
        isFailure: true,
        source: "approval",
      });

type Wanted =
  | { readonly _tag: "append"; readonly records: ReadonlyArray<RunRecord> }
  | { readonly _tag: "start"; readonly callId: string }
  | { readonly _tag: "leave" };

/** What the worker does next: the product's decision, and the records that an engine would write for it. */
const wanted = (world: World, worker: Worker, scenario: Scenario): Wanted => {
  const records = place(world);
  const evidence = foldRecords(worker.records);
  if (!worker.isStarted) {
    const opens = foldRecords(worker.deliver, evidence).opened === undefined;
    return {
      _tag: "append",
      records: [
        ...(opens ? [records.opened()] : []),
        ...worker.deliver,
        records.attempt(worker.attempt, worker.epoch),
      ],
    };
  }
  const decided = decideNext(evidence, worker.attempt);
  const next: NextAct =
    decided._tag === "ClassifyLost" && scenario.faults.lostCallsRerun === true
      ? { _tag: "Execute", turn: decided.turn, calls: decided.calls }
      : decided;
  switch (next._tag) {
    case "AskModel":
      return {
        _tag: "append",
        records:
          next.turn === 1
            ? [
                records.turn(scenario.calls),
                ...scenario.gated.map((id) => records.approvalRequested(id)),
              ]
            : [records.turn([], { turn: next.turn })],
      };
    case "SettleAnswered":
      return { _tag: "append", records: next.calls.map((call) => answerOf(world, call)) };
    case "ClassifyLost":
      return { _tag: "append", records: next.calls.map((call) => unknownFor(world, call, false)) };
    case "Execute": {
      const [call] = next.calls;
      if (call === undefined) throw new Error("an execution without calls");
      return scenario.faults.preparedSkipped === true
        ? { _tag: "start", callId: call.declared.callId }
        : { _tag: "append", records: [records.prepared(call.declared.callId, worker.attempt)] };
    }
    case "Suspend":
      return { _tag: "append", records: [records.suspended(next.waitingFor, worker.attempt)] };
    case "Answer":
      return { _tag: "append", records: [records.runSettled("completed")] };
    case "Settle":
      return {
        _tag: "append",
        records: [
          ...next.inDoubt.map((call) => unknownFor(world, call, true)),
          records.runSettled(next.settlement.outcome),
        ],
      };
    case "Done":
      return { _tag: "leave" };
    case "Open":
      throw new Error("an attempt opens its run before it acts");
  }
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

const changed = (
  name: string,
  world: World,
  done: ReturnType<typeof ports.on>,
): ReadonlyArray<Step> =>
  Exit.isSuccess(done.exit) ? [{ name, world: { ...world, tables: done.tables } }] : [];

/** People: they approve or deny, resolve by the provider's book once nothing is on the wire, and abort. */
const people = (world: World): ReadonlyArray<Step> => {
  const steps: Array<Step> = [];
  for (const row of world.tables.approvals.values()) {
    if (row.state !== "pending") continue;
    for (const decision of ["approved", "denied"] as const)
      steps.push(
        ...changed(
          `${decision} ${row.callId}`,
          world,
          ports.on(
            world.tables,
            ports.approvals.decide({
              tenantId,
              requestId: row.requestId,
              actor: ada,
              decision,
              parametersDigest: digest("a"),
              reason: "model",
              commandId: null,
            }),
          ),
        ),
      );
  }
  for (const row of world.tables.unknowns.values()) {
    const isOnTheWire = world.workers.some(
      (worker) => worker?.handler?.callId === row.callId && worker.handler.phase === "prepared",
    );
    if (row.state !== "open" || row.afterSettlement || isOnTheWire) continue;
    const happened = (world.provider[row.callId] ?? 0) > 0;
    steps.push(
      ...changed(
        `resolved ${row.callId}`,
        world,
        ports.on(
          world.tables,
          ports.unknowns.resolve({
            tenantId,
            unknownId: row.unknownId,
            actor: ada,
            ...(happened
              ? { resolution: "completed-with-result", result: "done", isFailure: false }
              : { resolution: "never-happened" }),
            parametersDigest: digest("a"),
            reason: "model",
            evidence: "the provider's book",
            commandId: null,
          }),
        ),
      ),
    );
  }
  if (world.budget.aborts > 0)
    steps.push(
      ...changed(
        "abort",
        { ...world, budget: { ...world.budget, aborts: world.budget.aborts - 1 } },
        ports.on(
          world.tables,
          ports.ledger.abort({
            tenantId,
            runId: runOf(world).runId,
            actor: ada,
            reason: "model",
            commandId: null,
          }),
        ),
      ),
    );
  return steps;
};

/** Every step that may follow; a worker that takes none is one that stands still. */
export const stepsFrom = (world: World, scenario: Scenario): ReadonlyArray<Step> => [
  ...world.workers.flatMap((worker, index) =>
    worker === undefined
      ? claim(world, index)
      : [...act(world, index, worker, scenario), ...crash(world, index)],
  ),
  ...people(world),
];
