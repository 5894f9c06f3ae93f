/**
 * A durable host in memory: a journal of appends that can lose its process at any
 * of them, and the commands people would give. The interpreter under test is the
 * real one; only the store is a list.
 */
import { Cause, Clock, Deferred, Effect, Exit, type Layer, Schema } from "effect";
import type { LanguageModel, Tool } from "effect/unstable/ai";
import type * as Agent from "#lib/agent/Agent.ts";
import { definitionDigestOf } from "#lib/agent/definition-digest.ts";
import type { RunEvent } from "#lib/contract/events.ts";
import { RunId, SubmissionId, TenantId, ThreadId } from "#lib/contract/ids.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { type Actor, type RecordOf, RunRecord, type RunRecordKind } from "#lib/contract/records.ts";
import type { ResolutionKind } from "#lib/contract/status.ts";
import { bodyOf } from "#lib/durable/chain.ts";
import type { DiagnosticToStore } from "#lib/durable/Journal.ts";
import { eventsOf } from "#lib/durable/record-events.ts";
import { foldRecords, withInner } from "#lib/durable/run-state.ts";
import { currentModelCodec } from "#lib/engine/ModelCodec.ts";
import type { RunContext } from "#lib/engine/RunContext.ts";
import { RunDurability } from "#lib/engine/RunDurability.ts";
import { interpret, type RunEnd } from "#lib/engine/RunLoop.ts";

/** Where the process of one attempt is lost: at its n-th append (from 1), before or after it landed. */
export interface CrashPoint {
  readonly append: number;
  readonly landed: boolean;
  /** Results that nobody waits for go with the next append, the latest that is promised; else at once. */
  readonly resultsWait?: boolean;
}

/** What outlives every process of one run. */
export interface Store {
  readonly appends: Array<ReadonlyArray<RunRecord>>;
  readonly events: Array<RunEvent>;
  readonly diagnostics: Array<DiagnosticToStore>;
  /** What people decided and no attempt has received yet. */
  readonly undelivered: Array<RunRecord>;
}

export const makeStore = (): Store => ({
  appends: [],
  events: [],
  diagnostics: [],
  undelivered: [],
});

export const recordsOf = (store: Store): ReadonlyArray<RunRecord> => store.appends.flat();

export const kindOf = <Kind extends RunRecordKind>(
  store: Store,
  kind: Kind,
): ReadonlyArray<RecordOf<Kind>> =>
  recordsOf(store).filter((record): record is RecordOf<Kind> => record._tag === kind);

class ProcessLost extends Error {}

const encodeRecord = Schema.encodeSync(RunRecord);

/** The chain writes the records made most often as they stand: a run must make them as their schema says. */
const refuseUnreadable = (record: RunRecord): void => {
  const expected = canonicalJson(encodeRecord(record));
  if (bodyOf(record) !== expected) throw new Error(`${bodyOf(record)} is not ${expected}`);
};

/** One process that can be lost; nothing it does afterwards reaches the store. */
export interface Process {
  readonly lose: Effect.Effect<never>;
  readonly durability: RunDurability["Service"];
  readonly lost: Effect.Effect<void>;
}

export const makeProcess = Effect.fnUntraced(function* (
  store: Store,
  crash: CrashPoint | undefined,
) {
  const lost = yield* Deferred.make<void>();
  let gone = false;
  let appends = 0;
  const die = Effect.andThen(Deferred.succeed(lost, undefined), Effect.die(new ProcessLost()));
  const soon: Array<Parameters<RunDurability["Service"]["record"]>> = [];
  const durability: RunDurability["Service"] = RunDurability.of({
    recordSoon: (...entry) =>
      Effect.suspend(() => {
        if (gone) return die;
        soon.push(entry);
        return crash?.resultsWait === true ? Effect.void : durability.record([]);
      }),
    record: (added, addedDiagnostics = []) =>
      Effect.suspend(() => {
        if (gone) return die;
        const taken = soon.splice(0);
        const records = [...taken.flatMap(([records]) => records), ...added];
        const diagnostics = [
          ...taken.flatMap(([, diagnostics]) => diagnostics ?? []),
          ...addedDiagnostics,
        ];
        if (records.length === 0) return Effect.void;
        appends += 1;
        const isLast = appends === crash?.append;
        if (isLast) gone = true;
        if (!isLast || crash.landed) {
          records.forEach(refuseUnreadable);
          store.appends.push(records);
          store.diagnostics.push(...diagnostics);
          store.events.push(...records.flatMap(eventsOf));
        }
        return isLast ? die : Effect.void;
      }),
    emit: (event) => Effect.sync(() => void (gone || store.events.push(event))),
    answers: () => Effect.succeed([]),
    noteToolExposure: () => Effect.void,
    postponesPassing: true,
    now: Clock.currentTimeMillis,
  });
  return {
    durability,
    lost: Deferred.await(lost),
    /** For a handler: the process is lost while it runs. */
    lose: Effect.suspend(() => {
      gone = true;
      return Effect.andThen(Deferred.succeed(lost, undefined), Effect.never);
    }),
  } satisfies Process;
});

export const requester: Actor = { kind: "operator", id: "op-1", name: "Requester" };
export const decider: Actor = { kind: "operator", id: "op-2", name: "Dana" };

/** What an attempt of this agent is interpreted with, as a durable host would build it. */
export const contextOf = Effect.fnUntraced(function* <Tools extends Record<string, Tool.Any>>(
  agent: Agent.Definition<Agent.DataSchema, Agent.DataSchema, Tools>,
  handlers: Layer.Layer<Tool.HandlersFor<Tools>>,
  store: Store,
  overrides: Partial<RunContext> = {},
) {
  const services = yield* Effect.provide(Effect.context<Tool.HandlersFor<Tools>>(), handlers);
  const context: RunContext = {
    definition: agent,
    definitionDigest: definitionDigestOf(agent),
    tenantId: TenantId.make("tenant"),
    threadId: ThreadId.make("thread-1"),
    runId: RunId.make("run-1"),
    submissionId: SubmissionId.make("sub-1"),
    attempt: foldRecords(recordsOf(store)).attempts + 1,
    epoch: 1,
    modelId: "scripted",
    input: "go",
    requester,
    history: [],
    codec: yield* currentModelCodec,
    concurrency: agent.policy.toolConcurrency,
    scheduling: { toolRequiresSequential: () => false },
    authorization: undefined,
    visibility: undefined,
    hostSelection: undefined,
    resultBytes: agent.policy.toolResultBounds.maxBytes,
    services: services as RunContext["services"],
    reconcile: () => Effect.succeed({ _tag: "uncertain" }),
    ...overrides,
  };
  return context;
});

export type AttemptEnd =
  | RunEnd
  | { readonly _tag: "lost" }
  | { readonly _tag: "died"; readonly cause: Cause.Cause<unknown> };

/** One attempt over what the store holds, until it ends or its process is lost. */
export const attemptIn = (
  store: Store,
  context: RunContext,
  process: Process,
): Effect.Effect<AttemptEnd, never, LanguageModel.LanguageModel> =>
  Effect.gen(function* () {
    const deliver = store.undelivered.splice(0);
    const exit = yield* Effect.raceFirst(
      Effect.exit(
        interpret(context, recordsOf(store), deliver).pipe(
          Effect.provideService(RunDurability, process.durability),
          Effect.map((end): AttemptEnd => end),
        ),
      ),
      Effect.as(process.lost, Exit.succeed<AttemptEnd>({ _tag: "lost" })),
    );
    // A command that no append carried is still waiting for the next claim.
    const delivered = new Set(recordsOf(store));
    store.undelivered.unshift(...deliver.filter((record) => !delivered.has(record)));
    if (Exit.isSuccess(exit)) return exit.value;
    const wasLost = exit.cause.reasons.some(
      (reason) => Cause.isDieReason(reason) && reason.defect instanceof ProcessLost,
    );
    return wasLost ? { _tag: "lost" } : { _tag: "died", cause: exit.cause };
  });

/** A whole attempt from parts: what most tests need. */
export const attempt = Effect.fnUntraced(function* <Tools extends Record<string, Tool.Any>>(
  store: Store,
  agent: Agent.Definition<Agent.DataSchema, Agent.DataSchema, Tools>,
  handlers: (process: Process) => Layer.Layer<Tool.HandlersFor<Tools>>,
  options: { readonly crash?: CrashPoint; readonly context?: Partial<RunContext> } = {},
) {
  const process = yield* makeProcess(store, options.crash);
  const context = yield* contextOf(agent, handlers(process), store, options.context);
  return yield* attemptIn(store, context, process);
});

/** Open approval requests of the last turn, in declaration order. */
export const openRequests = (store: Store): ReadonlyArray<RecordOf<"ApprovalRequested">> =>
  (foldRecords(recordsOf(store)).turns.at(-1)?.calls ?? []).flatMap((call) =>
    call.requested !== undefined && call.decided === undefined && call.settled === undefined
      ? [call.requested]
      : [],
  );

/** The row that an operator's decision becomes. */
export const decide = (
  { request, ...requested }: RecordOf<"ApprovalRequested">,
  decision: "approved" | "denied" | "expired",
  reason = "because",
): RecordOf<"ApprovalDecided"> => ({
  ...requested,
  _tag: "ApprovalDecided",
  decision,
  actor: decision === "expired" ? { kind: "system", id: "expiry", name: "Expiry" } : decider,
  reason,
  parametersDigest: request.parametersDigest,
  decidedAt: 0,
});

/** Effects in doubt that nobody has resolved. */
export const openUnknowns = (store: Store): ReadonlyArray<RecordOf<"ToolCallUnknown">> =>
  foldRecords(recordsOf(store)).turns.flatMap((turn) =>
    withInner(turn.calls).flatMap((call) =>
      call.unknown !== undefined && call.resolved === undefined ? [call.unknown] : [],
    ),
  );

/** The row that an operator's resolution becomes. */
export const resolve = (
  unknown: RecordOf<"ToolCallUnknown">,
  resolution: ResolutionKind,
  result?: Json,
): RecordOf<"UnknownResolved"> => ({
  _tag: "UnknownResolved",
  runId: unknown.runId,
  turn: unknown.turn,
  callId: unknown.callId,
  toolName: unknown.toolName,
  unknownId: unknown.unknownId,
  resolution,
  ...(result === undefined ? {} : { result, isFailure: false }),
  actor: decider,
  reason: "looked it up",
  evidence: "",
  resolvedAt: 0,
});

export const abort: RecordOf<"AbortRequested"> = {
  _tag: "AbortRequested",
  runId: RunId.make("run-1"),
  actor: decider,
  reason: "stop",
  requestedAt: 0,
};
