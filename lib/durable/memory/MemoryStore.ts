/**
 * What the memory adapters share: rows in maps, gone with the process. **Not
 * durable**, and no part of a host that promises anything: it is for tests of
 * agents and for tests of adapters. Every change is made in one synchronous step,
 * which is this store's transaction.
 */
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as PubSub from "effect/PubSub";
import type { LoggedEvent, RunEvent } from "#lib/contract/events.ts";
import type { AgentId, RunId, SubmissionId, TenantId, ThreadId } from "#lib/contract/ids.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { Actor, RecordOf, StoredRecord } from "#lib/contract/records.ts";
import type { RunState } from "#lib/contract/status.ts";
import type { DiagnosticView } from "#lib/contract/denial-views.ts";
import type { StoredApproval } from "../Approvals.ts";
import type { StoredAuditEntry } from "../audit-chain.ts";
import type { JournalTail } from "../Journal.ts";
import type { StoredUnknown } from "../Unknowns.ts";

/** Mutable inside the store only; nothing of it is handed out. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface MemoryRecord {
  readonly stored: StoredRecord;
  readonly runId: RunId;
  readonly batchId: string;
  readonly body: string;
}

export interface MemoryThread {
  readonly tenantId: TenantId;
  readonly threadId: ThreadId;
  epoch: number;
  workerId: string | undefined;
  tail: JournalTail;
  lastBatchId: string | undefined;
  lastQueueSequence: number;
  readonly records: Array<MemoryRecord>;
}

/** A submission and the run that it owes; the two tables of a database in one row. */
export interface MemoryRun {
  readonly tenantId: TenantId;
  readonly threadId: ThreadId;
  readonly agentId: AgentId;
  readonly submissionId: SubmissionId;
  readonly runId: RunId;
  readonly queueSequence: number;
  readonly unknownPolicy: "park" | "block";
  readonly title: string;
  readonly input: Json;
  readonly requester: Actor;
  state: "ready" | "running" | "waiting" | "unknown" | "settled";
  runState: RunState;
  dueAt: number;
  stateSince: number;
  lostAttempts: number;
  postponedReason: string | undefined;
  abort: MemoryAbort | undefined;
}

export interface MemoryAbort {
  readonly actor: Actor;
  readonly reason: string;
  readonly requestedAt: number;
  delivered: boolean;
}

export interface MemoryApproval extends Mutable<Omit<StoredApproval, "now">> {
  readonly tenantId: TenantId;
  decider: Actor | undefined;
  reason: string;
  suggestion: Json | undefined;
  voters: Array<Actor>;
  delivered: boolean;
}

export interface MemoryUnknown extends Mutable<Omit<StoredUnknown, "runState">> {
  readonly tenantId: TenantId;
  resolver: Actor | undefined;
  reason: string;
  evidence: string;
  delivered: boolean;
}

export interface MemoryWorker {
  readonly address: string;
  heartbeatAt: number;
  stopped: boolean;
}

/** Every table; keys are JSON of tuples, so that no choice of ids can collide. */
export interface MemoryTables {
  readonly threads: Map<string, MemoryThread>;
  readonly runs: Map<string, MemoryRun>;
  readonly admissions: Map<string, { readonly payload: string; readonly run: MemoryRun }>;
  readonly approvals: Map<string, MemoryApproval>;
  readonly unknowns: Map<string, MemoryUnknown>;
  readonly diagnostics: Map<string, DiagnosticView & { readonly tenantId: TenantId }>;
  /** Whole texts of results, by tenant, run and result id. */
  readonly results: Map<string, string>;
  readonly audit: Map<string, Array<StoredAuditEntry>>;
  readonly events: Map<string, Array<LoggedEvent>>;
  readonly workers: Map<string, MemoryWorker>;
  /** Declared calls by run, turn and call id: what a doubt takes its arguments' digest from. */
  readonly declared: Map<string, RecordOf<"TurnRecorded">["calls"][number]>;
  /** Counts ids. */
  nextId: number;
}

export const keyOf = (...parts: ReadonlyArray<string | number>): string => JSON.stringify(parts);

const emptyTables = (): MemoryTables => ({
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
});

/** Puts events at the end of their tenant's log; the order of calls is the order of the log. */
export const logEvents = (
  tables: MemoryTables,
  run: Pick<MemoryRun, "tenantId" | "agentId" | "threadId" | "runId">,
  events: ReadonlyArray<{ readonly event: RunEvent; readonly at: number }>,
): void => {
  const log = tables.events.get(run.tenantId) ?? [];
  tables.events.set(run.tenantId, log);
  for (const { event, at } of events) {
    log.push({
      version: 1,
      sequence: log.length + 1,
      tenantId: run.tenantId,
      at,
      agentId: run.agentId,
      threadId: run.threadId,
      runId: run.runId,
      event,
    });
  }
};

export class MemoryStore extends Context.Service<
  MemoryStore,
  {
    /** One transaction: reads and changes at one moment of the runtime's clock, uninterrupted. */
    readonly at: <A>(step: (tables: MemoryTables, now: number) => A) => Effect.Effect<A>;
    /** Told of each tenant whose log may have grown. */
    readonly grown: PubSub.PubSub<string>;
  }
>()("effect-agent/durable/memory/MemoryStore") {
  static readonly layer: Layer.Layer<MemoryStore> = Layer.effect(
    MemoryStore,
    Effect.gen(function* () {
      const tables = emptyTables();
      const grown = yield* PubSub.sliding<string>(64);
      return MemoryStore.of({
        at: (step) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) =>
            Effect.suspend(() => {
              const lengths = new Map(
                [...tables.events].map(([tenant, log]) => [tenant, log.length]),
              );
              const result = step(tables, now);
              const tenants = [...tables.events].flatMap(([tenant, log]) =>
                log.length === lengths.get(tenant) ? [] : [tenant],
              );
              return Effect.as(PubSub.publishAll(grown, tenants), result);
            }),
          ),
        grown,
      });
    }),
  );
}
