/**
 * Effects in doubt (DU-04). One is opened by a journal record and closed by a
 * person, once, or by a reconciler's proof; the run hears of a person's word
 * through `SubmissionLedger.claim`, when every doubt of its batch has one (DU-07).
 */
import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type * as Option from "effect/Option";
import type { NotFound } from "#lib/contract/errors.ts";
import type {
  AgentId,
  Digest,
  RunId,
  TenantId,
  ThreadId,
  ToolCallId,
  UnknownId,
} from "#lib/contract/ids.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { Actor } from "#lib/contract/records.ts";
import type { ResolutionKind } from "#lib/contract/status.ts";
import type { ResolutionRefusal, ResolutionVerdict, UnknownToJudge } from "./judge-resolution.ts";
import type { StoreError } from "./StoreError.ts";

export interface StoredUnknown extends UnknownToJudge {
  readonly unknownId: UnknownId;
  readonly runId: RunId;
  readonly threadId: ThreadId;
  readonly agentId: AgentId;
  readonly turn: number;
  readonly callId: ToolCallId;
  readonly toolName: string;
  readonly parametersDigest: Digest;
}

export interface UnknownResolution {
  readonly tenantId: TenantId;
  readonly unknownId: UnknownId;
  readonly actor: Actor;
  readonly resolution: ResolutionKind;
  /** Only of `completed-with-result`; whether it fits the tool is the caller's to check. */
  readonly result?: Json;
  readonly isFailure?: boolean;
  /** Of what the person saw; another one is refused. */
  readonly parametersDigest: Digest;
  readonly reason: string;
  readonly evidence: string;
  readonly commandId: string | null;
}

export class Unknowns extends Context.Service<
  Unknowns,
  {
    readonly find: (request: {
      readonly tenantId: TenantId;
      readonly unknownId: UnknownId;
    }) => Effect.Effect<Option.Option<StoredUnknown>, StoreError>;
    /** Every doubt of a run in the order of its turns and calls, at most 1,000. */
    readonly ofRun: (request: {
      readonly tenantId: TenantId;
      readonly runId: RunId;
    }) => Effect.Effect<ReadonlyArray<StoredUnknown>, StoreError>;
    /**
     * Judges the resolution by `judgeResolution` and stores it with its event, in the
     * caller's transaction where there is one. The same person saying the same again
     * changes nothing (`same`); anybody saying something else is refused.
     */
    readonly resolve: (
      request: UnknownResolution,
    ) => Effect.Effect<
      { readonly before: StoredUnknown; readonly verdict: ResolutionVerdict },
      ResolutionRefusal | NotFound | StoreError
    >;
  }
>()("effect-agent/durable/Unknowns") {}
