/**
 * The world of the ledger's model check: the product's own ledger, journal and
 * people's ports over tables that are copied for every step, a provider that
 * counts, and two or three workers that may stop anywhere and come back.
 */
import { Context, Effect, Exit, Layer, PubSub } from "effect";
import { AgentId, TenantId, WorkerId } from "#lib/contract/ids.ts";
import type { RunRecord } from "#lib/contract/records.ts";
import { Approvals } from "#lib/durable/Approvals.ts";
import { type AppendRequest, Journal, type JournalTail } from "#lib/durable/Journal.ts";
import { layer as journalLayer } from "#lib/durable/memory/journal.ts";
import { layer as ledgerLayer } from "#lib/durable/memory/ledger.ts";
import { MemoryStore, type MemoryTables } from "#lib/durable/memory/MemoryStore.ts";
import { approvalsLayer, unknownsLayer } from "#lib/durable/memory/people.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { Unknowns } from "#lib/durable/Unknowns.ts";
import { ada } from "#lib/testing/conformance/run-records.ts";

export const tenantId = TenantId.make("acme");

/** An append that was decided and is not answered yet. */
export interface PendingAppend {
  readonly request: AppendRequest;
  /** Its reply was lost: the records may be written, and the worker asks again. */
  readonly replyLost: boolean;
}

/** What one process knows; lost when it dies. */
export interface Worker {
  readonly epoch: number;
  readonly attempt: number;
  readonly runId: string;
  readonly tail: JournalTail;
  readonly records: ReadonlyArray<RunRecord>;
  /** What people said, to be delivered with the attempt's start. */
  readonly deliver: ReadonlyArray<RunRecord>;
  readonly isStarted: boolean;
  readonly pending: PendingAppend | undefined;
  /** A handler that runs: `prepared` until its effect happened. */
  readonly handler: { readonly callId: string; readonly phase: "prepared" | "acted" } | undefined;
}

/** What may still go wrong, so that the world is finite. */
export interface Budget {
  readonly claims: number;
  readonly crashes: number;
  readonly lostReplies: number;
  readonly aborts: number;
}

export interface World {
  readonly tables: MemoryTables;
  readonly workers: ReadonlyArray<Worker | undefined>;
  /** Times that the effect of each call happened. */
  readonly provider: Readonly<Record<string, number>>;
  readonly budget: Budget;
}

const copyMap = <A>(map: Map<string, A>, copy: (value: A) => A): Map<string, A> =>
  new Map([...map].map(([key, value]) => [key, copy(value)]));

/** Rows are copied, what is immutable in them is shared; events are no part of what is checked here. */
const copyTables = (tables: MemoryTables): MemoryTables => ({
  ...tables,
  threads: copyMap(tables.threads, (row) => ({ ...row, records: [...row.records] })),
  runs: copyMap(tables.runs, (row) => ({
    ...row,
    abort: row.abort === undefined ? undefined : { ...row.abort },
  })),
  approvals: copyMap(tables.approvals, (row) => ({ ...row })),
  unknowns: copyMap(tables.unknowns, (row) => ({ ...row })),
  admissions: new Map(tables.admissions),
  declared: new Map(tables.declared),
  events: new Map(),
});

/** The ports, and the tables that they stand on at the moment. */
const makePorts = () => {
  let current: MemoryTables | undefined;
  const store = Layer.effect(
    MemoryStore,
    Effect.map(PubSub.sliding<string>(1), (grown) =>
      MemoryStore.of({
        // One moment for ever: nothing in this model follows from time.
        at: (step) =>
          Effect.suspend(() =>
            current === undefined
              ? Effect.die(new Error("no world"))
              : Effect.succeed(step(current, 1_000)),
          ),
        grown,
      }),
    ),
  );
  const layer = Layer.mergeAll(journalLayer, ledgerLayer, approvalsLayer, unknownsLayer).pipe(
    Layer.provide(store),
  );
  const context = Effect.runSync(Effect.scoped(Layer.build(layer)));
  return {
    journal: Context.get(context, Journal),
    ledger: Context.get(context, SubmissionLedger),
    approvals: Context.get(context, Approvals),
    unknowns: Context.get(context, Unknowns),
    /** Does something on a copy of these tables, and gives both back. */
    on: <A, E>(tables: MemoryTables, effect: Effect.Effect<A, E>) => {
      const copy = copyTables(tables);
      current = copy;
      return { tables: copy, exit: Effect.runSyncExit(effect) };
    },
  };
};
export const ports = makePorts();

const emptyTables: MemoryTables = {
  threads: new Map(),
  runs: new Map(),
  admissions: new Map(),
  approvals: new Map(),
  unknowns: new Map(),
  diagnostics: new Map(),
  results: new Map(),
  audit: new Map(),
  events: new Map(),
  workers: new Map(),
  declared: new Map(),
  nextId: 1,
};

export const workerId = (index: number) => WorkerId.make(`worker-${index}`);

/** One submission admitted, nobody working. */
export const firstWorld = (workers: number, budget: Budget): World => {
  const { tables, exit } = ports.on(
    emptyTables,
    ports.ledger.admit({
      tenantId,
      agentId: AgentId.make("desk"),
      threadId: undefined,
      principal: ada,
      idempotencyKey: "key",
      input: "go",
      title: "go",
    }),
  );
  if (Exit.isFailure(exit)) throw new Error(`nothing was admitted: ${exit.cause}`);
  return {
    tables,
    workers: Array.from({ length: workers }, () => undefined),
    provider: {},
    budget,
  };
};

export const threadOf = (world: World) => {
  const [thread] = world.tables.threads.values();
  if (thread === undefined) throw new Error("the model has one thread");
  return thread;
};
export const runOf = (world: World) => {
  const [run] = world.tables.runs.values();
  if (run === undefined) throw new Error("the model has one run");
  return run;
};
export const recordsIn = (world: World): ReadonlyArray<RunRecord> =>
  threadOf(world).records.map(({ stored }) => stored.record);

const workerKey = (worker: Worker | undefined) =>
  worker === undefined
    ? 0
    : [
        worker.epoch,
        worker.tail.digest.slice(0, 16),
        worker.isStarted,
        worker.deliver.length,
        worker.handler ?? 0,
        worker.pending === undefined
          ? 0
          : [
              worker.pending.request.batchId,
              worker.pending.replyLost,
              worker.pending.request.records.map((record) => record._tag),
            ],
      ];

/** Two worlds with the same key have the same future. Workers are alike, so their order says nothing. */
export const worldKey = (world: World): string => {
  const thread = threadOf(world);
  const run = runOf(world);
  return JSON.stringify([
    thread.epoch,
    thread.tail.digest.slice(0, 16),
    thread.lastBatchId,
    run.state,
    run.lostAttempts,
    run.abort?.delivered ?? 0,
    [...world.tables.approvals.values()].map((row) => [row.state, row.delivered]),
    [...world.tables.unknowns.values()].map((row) => [row.state, row.resolution, row.delivered]),
    world.workers.map((worker) => JSON.stringify(workerKey(worker))).toSorted(),
    world.provider,
    world.budget,
  ]);
};
