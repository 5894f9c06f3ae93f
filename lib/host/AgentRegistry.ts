/**
 * The agents a durable host can run, each with its handlers built once and the
 * host's choices captured once (S-04, X-07, Z-08): what a worker has in its own
 * context changes nothing.
 */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import type * as Scope from "effect/Scope";
import type * as Tool from "effect/unstable/ai/Tool";
import type { Binding, DataSchema, Definition } from "#lib/agent/Agent.ts";
import { definitionDigestOf } from "#lib/agent/definition-digest.ts";
import { ApprovalPolicy, type ApprovalPolicyShape } from "#lib/approval/ApprovalPolicy.ts";
import type { AgentId, Digest } from "#lib/contract/ids.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { ReconcilerAnswer } from "#lib/engine/RunContext.ts";
import {
  RecoveredFailureObserver,
  type RecoveredFailureObserverShape,
} from "#lib/recovered-failure.ts";
import {
  RunToolAuthorization,
  RunToolScheduling,
  type ToolAuthorizationPolicy,
  type ToolSchedulingPolicy,
} from "#lib/run-options.ts";
import { RunToolVisibility } from "#lib/tool-exposure.ts";
import type { LostCall, ToolProbe } from "#lib/tool-probe.ts";

/** A ready-made input that the console offers to try. */
export interface AgentExample {
  readonly id: string;
  readonly title: string;
  readonly shows: string;
  readonly input: Json;
}

/** Asks a destination what became of a lost call of one tool (DU-06); by default nobody can tell. */
export type Reconciler = (call: LostCall) => Effect.Effect<ReconcilerAnswer>;

export interface RegisteredAgent {
  readonly definition: Definition;
  readonly definitionDigest: Digest;
  /** Its handlers, and what they need. */
  readonly services: Context.Context<never>;
  readonly examples: ReadonlyArray<AgentExample>;
  readonly reconcile: Reconciler;
  readonly probes: Readonly<Record<string, ToolProbe>>;
}

/** What the host installed for every run, absence included. */
export interface HostPolicies {
  readonly authorization: ToolAuthorizationPolicy | undefined;
  readonly visibility: RunToolVisibility["Service"] | undefined;
  readonly scheduling: ToolSchedulingPolicy;
  /** Told of failures that runs survive (F-16). */
  readonly recoveredFailures: RecoveredFailureObserverShape;
  /** Rules that answer approval requests in place of a person; by default every request goes to one. */
  readonly approval: ApprovalPolicyShape;
}

export interface RegisterOptions {
  readonly examples?: ReadonlyArray<AgentExample>;
  readonly reconcilers?: Readonly<Record<string, Reconciler>>;
  /** Read-only questions to destinations, by tool name; asked once when an attempt finds a doubt, and by operators. */
  readonly probes?: Readonly<Record<string, ToolProbe>>;
}

const uncertain: ReconcilerAnswer = { _tag: "uncertain" };

const reconcileBy =
  (reconcilers: Readonly<Record<string, Reconciler>>): Reconciler =>
  (call) => {
    const reconciler = Object.hasOwn(reconcilers, call.toolName)
      ? reconcilers[call.toolName]
      : undefined;
    return reconciler === undefined ? Effect.succeed(uncertain) : reconciler(call);
  };

/**
 * Builds the handlers of one agent in the host's scope. Set-up failures and
 * requirements of the handler layer stay visible here, where the host is made.
 */
export const register = <
  Input extends DataSchema,
  Output extends DataSchema,
  Tools extends Record<string, Tool.Any>,
  E,
  R,
>(
  binding: Binding<Input, Output, Tools, E, R>,
  options: RegisterOptions = {},
): Effect.Effect<RegisteredAgent, E, R | Scope.Scope> =>
  Effect.gen(function* () {
    const ambient = yield* Effect.context<R>();
    const built = yield* Layer.build(binding.handlers);
    const services = Context.merge(ambient, built);
    return {
      definition: binding.definition,
      definitionDigest: definitionDigestOf(binding.definition),
      services,
      examples: options.examples ?? [],
      reconcile: reconcileBy(options.reconcilers ?? {}),
      probes: options.probes ?? {},
    };
  });

export class AgentRegistry extends Context.Service<
  AgentRegistry,
  {
    readonly get: (agentId: AgentId) => Option.Option<RegisteredAgent>;
    readonly all: ReadonlyArray<RegisteredAgent>;
    readonly policies: HostPolicies;
  }
>()("effect-agent/host/AgentRegistry") {
  /** Registers the agents and captures the policies that stand around this layer. */
  static readonly layer = <E, R>(
    agents: Effect.Effect<ReadonlyArray<RegisteredAgent>, E, R>,
  ): Layer.Layer<AgentRegistry, E, Exclude<R, Scope.Scope>> =>
    Layer.effect(
      AgentRegistry,
      Effect.gen(function* () {
        const all = yield* agents;
        const byId = new Map(all.map((agent) => [agent.definition.id, agent]));
        return AgentRegistry.of({
          all,
          get: (agentId) => Option.fromUndefinedOr(byId.get(agentId)),
          policies: {
            authorization: Option.getOrUndefined(yield* Effect.serviceOption(RunToolAuthorization)),
            visibility: Option.getOrUndefined(yield* Effect.serviceOption(RunToolVisibility)),
            scheduling: yield* RunToolScheduling,
            recoveredFailures: yield* RecoveredFailureObserver,
            approval: yield* ApprovalPolicy,
          },
        });
      }),
    );
}
