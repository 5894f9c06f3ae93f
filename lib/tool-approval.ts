/**
 * How a tool presents itself to the people who approve its calls.
 *
 * `needsApproval` on the upstream tool says *whether* a person is asked. The
 * annotation here says *what they are shown* and what their answer means.
 */
import * as Context from "effect/Context";
import type * as Duration from "effect/Duration";
import type * as Schema from "effect/Schema";
import type * as Tool from "effect/unstable/ai/Tool";
import type * as Contract from "#lib/contract/approval.ts";
import type * as Status from "#lib/contract/status.ts";

export {
  type ApprovalDecision,
  ApprovalResolver,
  type ApprovalResolverShape,
} from "#lib/approval/ApprovalResolver.ts";
export {
  ApprovalPolicy,
  type ApprovalPolicyShape,
  type PolicyAnswer,
} from "#lib/approval/ApprovalPolicy.ts";
export type { ApprovalRequestContent } from "#lib/contract/approval.ts";

/** What is at stake, as declared by the tool's author (`A-02`). */
export type ApprovalRisk = Status.Risk;

/**
 * `recoverable`: a denied call becomes a failed result and the run goes on.
 * `terminal`: a denial fails the run before any handler of the batch (`A-06`).
 */
export type DenialRule = Contract.DenialRule;

/** One normalised resource a call would act on, e.g. `{ kind: "order", id: "W123" }` (`A-03`). */
export type ApprovalTarget = Contract.ApprovalTarget;

/**
 * What a tool's author may say about its approvals. `Params` is the decoded
 * parameter type: the host computes everything from it, never the model (`A-03`).
 * The functions are bounded and guarded by the caller: one that fails makes the
 * request impossible to grant rather than unredacted (`A-04`).
 */
export interface ApprovalRuleOptions<in Params = never> {
  /** The action in words, at most 2 KiB of UTF-8; default: the tool's title or name. */
  readonly summary?: (params: Params) => string;
  /** At most 32 targets of 2 KiB each, 64 KiB together; default: none. */
  readonly targets?: (params: Params) => ReadonlyArray<ApprovalTarget>;
  /**
   * The reviewed, redacted view of the parameters, at most 8 KiB of UTF-8;
   * default: their structure without any scalar value (`A-04`).
   */
  readonly preview?: (params: Params) => Schema.Json;
  /** Default `"medium"`. */
  readonly risk?: ApprovalRisk;
  /** How long a request stays open; default 24 hours; `"never"` is explicit (`A-07`). */
  readonly expiresAfter?: Duration.Input | "never";
  /** Default `"recoverable"` (`A-06`). */
  readonly denial?: DenialRule;
  /** How many different people must approve; whole number of at least 1; default 1. */
  readonly approversRequired?: number;
  /** Whether the person who started the run may approve its calls; default `true`. */
  readonly selfApproval?: boolean;
}

/**
 * Tool annotation with the approval rule.
 *
 * A tool's `annotate` does not pass its parameter type on to the value, so the
 * functions of a rule written in place take an annotated parameter; use
 * {@link approvalRule} to have it inferred.
 *
 * ```ts
 * Refund.annotate(ApprovalRule, { risk: "high", summary: (p: RefundParams) => `Refund ${p.amount}` })
 * ```
 */
export const ApprovalRule = Context.Reference<ApprovalRuleOptions>(
  "effect-agent/tool-approval/ApprovalRule",
  {
    defaultValue: () => ({}),
  },
);

/**
 * Annotates `tool` with a rule whose functions receive the tool's own decoded
 * parameters (`A-03`).
 *
 * ```ts
 * const Refund = approvalRule(RefundTool, {
 *   risk: "high",
 *   summary: ({ orderId, amount }) => `Refund ${amount} for order ${orderId}`,
 *   targets: ({ orderId }) => [{ kind: "order", id: orderId }],
 * })
 * ```
 */
export const approvalRule = <T extends Tool.Any>(
  tool: T,
  rule: ApprovalRuleOptions<Tool.Parameters<T>>,
): T =>
  // The upstream `annotate` returns the same tool type it was called on, but `Tool.Any` hides that.
  tool.annotate(ApprovalRule, rule) as unknown as T;

/** The rule a tool declares, `{}` when it declares none. */
export const approvalRuleOf = (tool: Tool.Any): ApprovalRuleOptions =>
  Context.get(tool.annotations, ApprovalRule);
