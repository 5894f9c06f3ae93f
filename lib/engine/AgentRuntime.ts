/**
 * Runs agents in this process. `run`, `stream` and `start` are one interpreter
 * (RT-03); a durable host runs the very same loop over a journal.
 */
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import * as Option from "effect/Option";
import * as Queue from "effect/Queue";
import * as Schema from "effect/Schema";
import type * as Scope from "effect/Scope";
import * as Stream from "effect/Stream";
import type * as AiError from "effect/unstable/ai/AiError";
import { defaultIdGenerator, IdGenerator } from "effect/unstable/ai/IdGenerator";
import type * as LanguageModel from "effect/unstable/ai/LanguageModel";
import * as Model from "effect/unstable/ai/Model";
import type * as Tool from "effect/unstable/ai/Tool";
import type * as AgentError from "#lib/agent-error.ts";
import type { DataSchema, Definition } from "#lib/agent/Agent.ts";
import { definitionDigestOf } from "#lib/agent/definition-digest.ts";
import { ApprovalResolver } from "#lib/approval/ApprovalResolver.ts";
import { captureAuthorizationPolicy, selectPolicy } from "#lib/authorization/select-policy.ts";
import type { RunEvent } from "#lib/contract/events.ts";
import { RunId, SubmissionId, TenantId, ThreadId } from "#lib/contract/ids.ts";
import { toJson } from "#lib/contract/json/to-json.ts";
import type { RecordOf } from "#lib/contract/records.ts";
import type { EvidenceCorrupt } from "#lib/durable/StoreError.ts";
import { RecoveredFailureObserver } from "#lib/recovered-failure.ts";
import { type RunOptions, RunToolScheduling } from "#lib/run-options.ts";
import { effectiveConcurrency } from "#lib/scheduling/effective-concurrency.ts";
import { failureSummary } from "#lib/failure-diagnostic.ts";
import { RunToolVisibility } from "#lib/tool-exposure.ts";
import * as Result from "effect/Result";
import { makeEphemeralDurability, type Observe } from "./ephemeral-durability.ts";
import { currentModelCodec } from "./ModelCodec.ts";
import { makeResultRoom } from "./keep-results.ts";
import { interpret, type RunEnd } from "./RunLoop.ts";
import type { RunContext } from "./RunContext.ts";
import { RunDurability } from "./RunDurability.ts";
import { AgentRunSuspended } from "./run-suspended.ts";

/** A completed run. */
export interface RunResult<out Output> {
  readonly output: Output;
  readonly runId: RunId;
  readonly finishReason: RecordOf<"RunSettled">["finishReason"];
}

/** What a run can fail with: its tools' own declared errors first, unchanged (F-01). */
export type RunError<Tools extends Record<string, Tool.Any>, E = never> =
  | Tool.HandlerError<Tools[keyof Tools]>
  | AgentError.AgentToolAuthorizationDenied
  | AgentError.AgentToolAuthorizationCheckError
  | AgentError.AgentToolApprovalDenied
  | AgentError.AgentToolApprovalExpired
  | AgentError.AgentToolCallRejected
  | AgentError.AgentToolResultEncodingError
  | AgentError.AgentRepeatedFailureError
  | AgentError.AgentBudgetExceeded
  | AgentError.AgentOutputInvalid
  | AgentError.AgentDefinitionError
  | AgentError.ApprovalPolicyError
  | AgentError.ModelProtocolError
  | AgentError.SchedulingOverrideInvalid
  | AiError.AiError
  | AgentRunSuspended
  | EvidenceCorrupt
  | Schema.SchemaError
  | E;

/** What a run needs from around it: a model, every handler, and what those need. */
export type RunServices<Tools extends Record<string, Tool.Any>, R = never> =
  | LanguageModel.LanguageModel
  | Tool.HandlersFor<Tools>
  | Tool.HandlerServices<Tools[keyof Tools]>
  | R;

/** A run that was started: watch it, wait for it, or interrupt it. */
export interface RunHandle<out Output, out E> {
  readonly runId: RunId;
  /** Events from the start on; ends after the one terminal event (RT-02). */
  readonly events: Stream.Stream<RunEvent>;
  readonly await: Effect.Effect<RunResult<Output>, E>;
  readonly interrupt: Effect.Effect<void>;
}

/** Most events kept for a reader that is behind; the oldest go first, the terminal one never (B-10). */
const maxKeptEvents = 65_536;

const ephemeralTenant = TenantId.make("ephemeral");

/** An id from upstream's generator, which tests replace to fix it (RT-04). */
const makeId = (prefix: string): Effect.Effect<string> =>
  Effect.gen(function* () {
    const generator = Option.getOrElse(
      yield* Effect.serviceOption(IdGenerator),
      () => defaultIdGenerator,
    );
    return `${prefix}-${yield* generator.generateId()}`;
  });

const prepare = Effect.fnUntraced(function* <
  Input extends DataSchema,
  Output extends DataSchema,
  Tools extends Record<string, Tool.Any>,
  E = never,
  R = never,
>(
  agent: Definition<Input, Output, Tools>,
  input: Input["Type"],
  options: RunOptions<E, R>,
  runId: RunId,
): Effect.fn.Return<
  RunContext,
  Schema.SchemaError | AgentError.SchedulingOverrideInvalid,
  RunServices<Tools, R>
> {
  const services = yield* Effect.context<RunServices<Tools, R>>();
  const hostScheduling = yield* RunToolScheduling;
  const hostPolicy = yield* captureAuthorizationPolicy;
  const modelName = yield* Effect.serviceOption(Model.ModelName);
  const visibility = yield* Effect.serviceOption(RunToolVisibility);
  const encoded = yield* Schema.encodeUnknownEffect(agent.input)(input);
  const { policy } = selectPolicy(options.toolAuthorization, hostPolicy);
  const context: RunContext = {
    definition: agent,
    definitionDigest: definitionDigestOf(agent),
    tenantId: ephemeralTenant,
    threadId: ThreadId.make(yield* makeId("thread")),
    runId,
    submissionId: SubmissionId.make(yield* makeId("submission")),
    attempt: 1,
    epoch: 1,
    modelId: Option.getOrElse(modelName, () => "unknown"),
    input: Result.getOrThrow(toJson(encoded)),
    requester: { kind: "system", id: "caller", name: "Caller" },
    history: [],
    codec: yield* currentModelCodec,
    concurrency: yield* effectiveConcurrency(
      agent.policy.toolConcurrency,
      options.scheduling?.override,
    ),
    scheduling: options.scheduling ?? hostScheduling,
    authorization:
      policy === undefined
        ? undefined
        : { authorize: (request) => Effect.provideContext(policy.authorize(request), services) },
    visibility: Option.getOrUndefined(visibility),
    recoveredFailures: yield* RecoveredFailureObserver,
    hostSelection: options.toolSelection?.toolNames,
    resultBytes: options.toolResultBounds?.maxBytes ?? agent.policy.toolResultBounds.maxBytes,
    results: makeResultRoom(agent, []),
    services,
    reconcile: () => Effect.succeed({ _tag: "uncertain" }),
  };
  return context;
});

const finish = <Output extends DataSchema, Tools extends Record<string, Tool.Any>, E>(
  agent: Definition<DataSchema, Output, Tools>,
  context: RunContext,
  end: RunEnd,
  resolverFailure: AgentError.ApprovalPolicyError | undefined,
): Effect.Effect<RunResult<Output["Type"]>, RunError<Tools, E>> =>
  Effect.gen(function* () {
    if (end._tag === "suspended") {
      return yield* new AgentRunSuspended({
        runId: context.runId,
        waitingFor: end.waitingFor,
        ...(resolverFailure === undefined ? {} : { cause: resolverFailure }),
      });
    }
    const { settled } = end;
    if (settled.outcome === "completed") {
      const output = yield* Schema.decodeUnknownEffect(agent.output)(settled.output ?? null);
      return { output, runId: context.runId, finishReason: settled.finishReason };
    }
    if (end.cause !== undefined) {
      // The live cause is one of the errors that RunError lists: the loop fails with nothing else.
      return yield* Effect.failCause(end.cause as Cause.Cause<RunError<Tools, E>>);
    }
    return yield* Effect.die(new Error("A failed run always has the failure that ended it."));
  });

/**
 * Runs an agent to its end.
 *
 * Fails with the original typed error of a tool in `"error"` mode (F-01), with a
 * typed `Agent…` error for every refusal and limit, and with `AgentRunSuspended`
 * when an approval or an effect in doubt waits for a person: only a durable host
 * can wait for one.
 */
export const run = <
  Input extends DataSchema,
  Output extends DataSchema,
  Tools extends Record<string, Tool.Any>,
  E = never,
  R = never,
>(
  agent: Definition<Input, Output, Tools>,
  input: Input["Type"],
  options: RunOptions<E, R> = {},
): Effect.Effect<RunResult<Output["Type"]>, RunError<Tools, E>, RunServices<Tools, R>> =>
  Effect.flatMap(makeId("run"), (id) => observed(agent, input, options, RunId.make(id), undefined));

const observed = <
  Input extends DataSchema,
  Output extends DataSchema,
  Tools extends Record<string, Tool.Any>,
  E,
  R,
>(
  agent: Definition<Input, Output, Tools>,
  input: Input["Type"],
  options: RunOptions<E, R>,
  runId: RunId,
  observe: Observe | undefined,
): Effect.Effect<RunResult<Output["Type"]>, RunError<Tools, E>, RunServices<Tools, R>> =>
  Effect.gen(function* () {
    const show = observe ?? (() => Effect.void);
    const context = yield* prepare(agent, input, options, runId).pipe(
      Effect.onError((cause) => show(notStarted(cause))),
    );
    const resolver = options.approval ?? (yield* ApprovalResolver);
    const failures: Array<AgentError.ApprovalPolicyError> = [];
    const end = yield* interpret(context, [], []).pipe(
      Effect.provideService(
        RunDurability,
        makeEphemeralDurability(observe, resolver, (failure) => failures.push(failure)),
      ),
      // Memory refuses no fact: a durability error here is a bug.
      Effect.orDie,
      Effect.onExit((exit) =>
        Exit.isFailure(exit)
          ? show(Cause.hasInterruptsOnly(exit.cause) ? { _tag: "RunInterrupted" } : defectEvent)
          : Effect.void,
      ),
    );
    return yield* finish<Output, Tools, E>(agent, context, end, failures.at(-1));
  });

/** A run whose options or input were refused ends like any other: with one terminal event (RT-02). */
const notStarted = (cause: Cause.Cause<unknown>): RunEvent =>
  Cause.hasInterruptsOnly(cause)
    ? { _tag: "RunInterrupted" }
    : { _tag: "RunFailed", finishReason: "refused", failure: failureSummary(cause, "RunRefused") };

const defectEvent: RunEvent = {
  _tag: "RunFailed",
  finishReason: "defect",
  failure: { errorTag: "Defect", message: "The run failed in a way that nothing declares." },
};

/** The events of a run as they happen; fails as {@link run} does, after the terminal event (RT-02). */
export const stream = <
  Input extends DataSchema,
  Output extends DataSchema,
  Tools extends Record<string, Tool.Any>,
  E = never,
  R = never,
>(
  agent: Definition<Input, Output, Tools>,
  input: Input["Type"],
  options: RunOptions<E, R> = {},
): Stream.Stream<RunEvent, RunError<Tools, E>, RunServices<Tools, R>> =>
  Stream.unwrap(
    Effect.map(start(agent, input, options), (handle) =>
      Stream.concat(handle.events, Stream.drain(Stream.fromEffect(handle.await))),
    ),
  );

/** Starts a run in the caller's scope; closing the scope interrupts it (B-07). */
export const start = <
  Input extends DataSchema,
  Output extends DataSchema,
  Tools extends Record<string, Tool.Any>,
  E = never,
  R = never,
>(
  agent: Definition<Input, Output, Tools>,
  input: Input["Type"],
  options: RunOptions<E, R> = {},
): Effect.Effect<
  RunHandle<Output["Type"], RunError<Tools, E>>,
  never,
  RunServices<Tools, R> | Scope.Scope
> =>
  Effect.gen(function* () {
    const queue = yield* Queue.sliding<RunEvent, Cause.Done>(maxKeptEvents);
    const runId = RunId.make(yield* makeId("run"));
    const fiber = yield* observed(agent, input, options, runId, (event) =>
      Effect.asVoid(Queue.offer(queue, event)),
    ).pipe(
      Effect.onExit(() => Queue.end(queue)),
      Effect.forkScoped,
    );
    return {
      runId,
      events: Stream.fromQueue(queue),
      await: Fiber.join(fiber),
      interrupt: Effect.asVoid(Fiber.interrupt(fiber)),
    };
  });
