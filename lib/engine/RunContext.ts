import type * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type { Definition } from "#lib/agent/Agent.ts";
import type { Digest, RunId, SubmissionId, TenantId, ThreadId } from "#lib/contract/ids.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { Actor, RunRecord } from "#lib/contract/records.ts";
import type { RecoveredFailureObserverShape } from "#lib/recovered-failure.ts";
import type { ToolAuthorizationPolicy, ToolSchedulingPolicy } from "#lib/run-options.ts";
import type { RunToolVisibility } from "#lib/tool-exposure.ts";
import type { LostCall, ToolProbe } from "#lib/tool-probe.ts";
import type { ResultRoom } from "./keep-results.ts";
import type { ModelCodec } from "./ModelCodec.ts";

/** Everything one attempt of one run is interpreted with; fixed when the attempt starts (S-04, Z-08, X-07). */
export interface RunContext {
  readonly definition: Definition;
  readonly definitionDigest: Digest;
  readonly tenantId: TenantId;
  readonly threadId: ThreadId;
  readonly runId: RunId;
  readonly submissionId: SubmissionId;
  readonly attempt: number;
  readonly epoch: number;
  readonly modelId: string;
  /** Encoded input. */
  readonly input: Json;
  readonly requester: Actor;
  /** Records of earlier runs of the thread, oldest first. */
  readonly history: ReadonlyArray<RunRecord>;
  readonly codec: ModelCodec["Service"];
  /** Whole number of at least 1 (S-01). */
  readonly concurrency: number;
  readonly scheduling: ToolSchedulingPolicy;
  /** Absent: every call is allowed (Z-09). */
  readonly authorization: ToolAuthorizationPolicy<unknown> | undefined;
  /** Absent: no filter. */
  readonly visibility: RunToolVisibility["Service"] | undefined;
  /** Told of failures that the run survives (F-16); absent: nobody is. */
  readonly recoveredFailures?: RecoveredFailureObserverShape;
  readonly hostSelection: ReadonlyArray<string> | undefined;
  readonly resultBytes: number;
  /** Absent: of a result that is too large only the bounded copy is kept. */
  readonly results?: ResultRoom;
  /** The handlers of the definition's tools, and what they and the schemas may need beside their own. */
  readonly services: Context.Context<never>;
  /** Asks each reconciler about a lost call; default says it cannot tell (DU-06). */
  readonly reconcile: (call: LostCall) => Effect.Effect<ReconcilerAnswer>;
  /** Read-only questions to destinations, by tool name; none by default. */
  readonly probes?: Readonly<Record<string, ToolProbe>>;
  /** Ends and awaits runs that are attached to this one, before it settles aborted or denied (SA-05); none by default. */
  readonly joinChildren?: Effect.Effect<void>;
}

/** What a reconciler may say of a lost call (DU-06); `uncertain` is the default. */
export type ReconcilerAnswer =
  | { readonly _tag: "never-started" }
  | { readonly _tag: "completed"; readonly result: Json; readonly isFailure: boolean }
  | { readonly _tag: "safe-to-retry" }
  | { readonly _tag: "uncertain" };
