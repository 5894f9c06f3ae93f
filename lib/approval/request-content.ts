/**
 * Builds what a person is shown about one gated call (`A-02`).
 */
import * as Context from "effect/Context";
import * as Duration from "effect/Duration";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import * as Tool from "effect/unstable/ai/Tool";
import { ApprovalPolicyError } from "#lib/agent-error.ts";
import { normalizeTarget } from "#lib/approval/normalize-target.ts";
import { hiddenCharactersOf } from "#lib/approval/hidden-in-parameters.ts";
import { structurePreview } from "#lib/approval/structure-preview.ts";
import {
  ApprovalRequestContent,
  type ApprovalTarget,
  approvalLimits,
} from "#lib/contract/approval.ts";
import { checkJsonBounds } from "#lib/contract/json/json-bounds.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { utf8ByteLength } from "#lib/contract/json/utf8.ts";
import { visibleText } from "#lib/contract/json/visible-text.ts";
import { boundedText } from "#lib/diagnostics/bounded-text.ts";
import { type ApprovalRuleOptions, approvalRuleOf } from "#lib/tool-approval.ts";

/** How long a request stays open when neither tool nor agent says otherwise (`A-07`). */
export const defaultExpiresAfter: Duration.Input = "24 hours";

/** What a rule asks of people, with what it leaves open filled in (`A-02`, `A-06`). */
export const approvalRuleDefaults = (
  rule: Pick<ApprovalRuleOptions, "risk" | "denial" | "approversRequired" | "selfApproval">,
) => ({
  risk: rule.risk ?? "medium",
  denial: rule.denial ?? "recoverable",
  approversRequired: rule.approversRequired ?? 1,
  selfApproval: rule.selfApproval ?? true,
});

/** The gated call and the run it belongs to. */
export interface GatedCall extends Pick<
  ApprovalRequestContent,
  | "requestId"
  | "agentId"
  | "threadId"
  | "runId"
  | "submissionId"
  | "turnId"
  | "turnNumber"
  | "callId"
  | "parameters"
  | "effectiveParameters"
  | "parametersDigest"
  | "requestedAt"
  | "requester"
> {
  readonly tool: Tool.Any;
  /** What the handler would get; everything shown is computed from it (`A-03`). */
  readonly decodedParameters: unknown;
  /** The agent's own expiry, used where the tool declares none (`A-07`). */
  readonly agentExpiresAfter?: Duration.Input | "never";
}

type Part = ApprovalPolicyError["part"];
type Built<A> = Result.Result<
  A,
  { readonly part: Part; readonly fault: string; readonly cause?: unknown }
>;

const fault = (part: Part, fault: string, cause?: unknown): Built<never> =>
  Result.fail(cause === undefined ? { part, fault } : { part, fault, cause });

/**
 * The request for one gated call.
 *
 * Everything is computed by the tool's own rule from decoded parameters, never by
 * the model (`A-03`). A rule that throws, or whose answer is over a bound, makes a
 * request impossible: no approval can then be granted, and nothing unredacted is
 * shown in its place (`A-02`, `A-04`).
 *
 * @returns the request, or `ApprovalPolicyError` with the part that failed
 */
export const buildRequestContent = (
  gated: GatedCall,
): Result.Result<ApprovalRequestContent, ApprovalPolicyError> => {
  // A rule's functions take this tool's decoded parameters, which only the tool's own type knows.
  const rule = approvalRuleOf(gated.tool) as ApprovalRuleOptions<unknown>;
  const { tool, decodedParameters, agentExpiresAfter, ...identity } = gated;
  const built = Result.gen(function* () {
    const summary = yield* summaryOf(tool, rule, decodedParameters);
    const targets = yield* targetsOf(rule, decodedParameters);
    const { preview, previewSource } = yield* previewOf(
      rule,
      decodedParameters,
      gated.effectiveParameters,
    );
    const expiresAt = yield* expiryOf(
      rule.expiresAfter ?? agentExpiresAfter ?? defaultExpiresAfter,
      gated.requestedAt,
    );
    const hiddenCharacters = hiddenCharactersOf(gated.effectiveParameters);
    return yield* checked({
      ...identity,
      toolName: tool.name,
      summary,
      targets,
      preview,
      previewSource,
      ...approvalRuleDefaults(rule),
      expiresAt,
      ...(hiddenCharacters === undefined ? {} : { hiddenCharacters }),
    });
  });
  return Result.mapError(
    built,
    ({ part, fault, cause }) =>
      new ApprovalPolicyError({
        toolCallId: gated.callId,
        toolName: tool.name,
        part,
        message: `No approval can be asked for tool ${tool.name}: ${fault}.`,
        ...(cause === undefined ? {} : { cause }),
      }),
  );
};

/** Runs one function of a rule; what it throws becomes private evidence. */
const computed = <A>(part: Part, compute: () => A): Built<A> =>
  Result.try({
    try: compute,
    catch: (cause) => ({ part, fault: `the ${part} function of its approval rule threw`, cause }),
  });

const summaryOf = (
  tool: Tool.Any,
  rule: ApprovalRuleOptions<unknown>,
  parameters: unknown,
): Built<string> => {
  const { summary } = rule;
  if (summary === undefined) {
    const title = Option.getOrElse(
      Context.getOption(tool.annotations, Tool.Title),
      () => tool.name,
    );
    return Result.succeed(
      boundedText(
        `Run ${visibleText(title, { singleLine: true }).text}`,
        approvalLimits.maxSummaryBytes,
      ),
    );
  }
  return Result.flatMap(
    computed<unknown>("summary", () => summary(parameters)),
    (text) => {
      if (typeof text !== "string" || text.trim() === "")
        return fault("summary", "its approval rule gave no summary");
      const bytes = utf8ByteLength(text);
      return bytes > approvalLimits.maxSummaryBytes
        ? fault(
            "summary",
            `its summary has ${bytes} bytes, more than ${approvalLimits.maxSummaryBytes}`,
          )
        : Result.succeed(text);
    },
  );
};

const targetsOf = (
  rule: ApprovalRuleOptions<unknown>,
  parameters: unknown,
): Built<ReadonlyArray<ApprovalTarget>> => {
  const { targets } = rule;
  if (targets === undefined) return Result.succeed([]);
  return Result.flatMap(
    computed<unknown>("targets", () => targets(parameters)),
    (raw) => {
      if (!Array.isArray(raw)) return fault("targets", "its approval rule gave no list of targets");
      const { maxTargets } = approvalLimits;
      return raw.length > maxTargets
        ? fault("targets", `it names ${raw.length} targets, more than ${maxTargets}`)
        : normalizedTargets(raw);
    },
  );
};

const normalizedTargets = (raw: ReadonlyArray<unknown>): Built<ReadonlyArray<ApprovalTarget>> => {
  const targets = new Map<string, ApprovalTarget>();
  let bytes = 0;
  for (const [index, candidate] of raw.entries()) {
    const target = isTarget(candidate) ? normalizeTarget(candidate) : undefined;
    if (target === undefined)
      return fault("targets", `target ${index + 1} has no usable kind and id`);
    const size = utf8ByteLength(target.kind) + utf8ByteLength(target.id);
    const { maxTargetBytes, maxTargetsBytes } = approvalLimits;
    if (size > maxTargetBytes)
      return fault("targets", `target ${index + 1} has ${size} bytes, more than ${maxTargetBytes}`);
    bytes += size;
    if (bytes > maxTargetsBytes)
      return fault("targets", `its targets together have more than ${maxTargetsBytes} bytes`);
    targets.set(JSON.stringify([target.kind, target.id]), target);
  }
  return Result.succeed([...targets.values()]);
};

const isTarget = (value: unknown): value is ApprovalTarget =>
  typeof value === "object" &&
  value !== null &&
  typeof Reflect.get(value, "kind") === "string" &&
  typeof Reflect.get(value, "id") === "string";

const previewOf = (
  rule: ApprovalRuleOptions<unknown>,
  parameters: unknown,
  effectiveParameters: Json,
): Built<Pick<ApprovalRequestContent, "preview" | "previewSource">> => {
  const { preview } = rule;
  if (preview === undefined) {
    return Result.succeed({
      preview: structurePreview(effectiveParameters),
      previewSource: "structure",
    });
  }
  return Result.flatMap(
    computed<unknown>("preview", () => preview(parameters)),
    (value) =>
      Result.match(
        checkJsonBounds(value, {
          depth: approvalLimits.maxPreviewDepth,
          collection: approvalLimits.maxPreviewNodes,
          nodes: approvalLimits.maxPreviewNodes,
          bytes: approvalLimits.maxPreviewBytes,
        }),
        {
          onSuccess: (json): Built<Pick<ApprovalRequestContent, "preview" | "previewSource">> =>
            Result.succeed({ preview: json, previewSource: "tool" }),
          onFailure: (error) =>
            fault("preview", `its preview cannot be used (${error.message})`, error),
        },
      ),
  );
};

const expiryOf = (
  after: Duration.Input | "never",
  requestedAt: number,
): Built<number | "never"> => {
  if (after === "never") return Result.succeed("never");
  const duration = Duration.fromInput(after);
  const millis = Option.isSome(duration) ? Duration.toMillis(duration.value) : Number.NaN;
  return Number.isFinite(millis) && millis > 0
    ? Result.succeed(Math.floor(requestedAt + millis))
    : fault("expiry", 'its expiry is no positive, finite duration and not "never"');
};

const decodeContent = Schema.decodeUnknownResult(ApprovalRequestContent);

/** The last check: whatever was built above, only a request that fits the contract leaves this file. */
const checked = (content: typeof ApprovalRequestContent.Encoded): Built<ApprovalRequestContent> =>
  Result.match(decodeContent(content), {
    onSuccess: (request): Built<ApprovalRequestContent> => Result.succeed(request),
    onFailure: (error) =>
      fault("rule", "what its approval rule declares does not fit the request", error),
  });
