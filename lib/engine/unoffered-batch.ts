/**
 * A batch that calls a tool which its request did not offer, under the policy
 * `unofferedCalls: "return"`: nothing of it starts, and every call has a failed
 * result, so that the model can look for the tool and call again (X-09, F-07).
 */
import type { AgentToolCallRejected } from "#lib/agent-error.ts";
import type { ExposureSnapshot } from "#lib/contract/exposure.ts";
import type { JsonObject } from "#lib/contract/json/json.ts";
import type { DeclaredCall, ParameterRejection, RecordOf } from "#lib/contract/records.ts";
import { type SettlementBase, settledNotExecuted, settledUnoffered } from "./settle-call.ts";

/** Whether the refusal is about a tool that was not offered, and says of which declared call. */
export const isUnoffered = (
  rejected: AgentToolCallRejected,
  calls: ReadonlyArray<{ readonly callId: string }>,
): boolean =>
  (rejected.reason === "unknown-tool" || rejected.reason === "unexposed-tool") &&
  calls.some(({ callId }) => callId === rejected.toolCallId);

/** What the model is told; the same whether the tool is hidden or does not exist, which is not the model's to know. */
const notOffered = (toolName: string, exposure: ExposureSnapshot): JsonObject => {
  const [discovery] = exposure.discoveryTools;
  const advice =
    discovery === undefined
      ? "Call only tools that are offered."
      : `Find tools with ${discovery}, and call what it names in the next turn.`;
  return {
    _tag: "ToolCallNotOffered",
    message: `${toolName} is not offered in this request, and nothing of this batch was started. ${advice}`,
  };
};

const besideUnoffered =
  "Another call of this batch named a tool that is not offered, so nothing of the batch was started. Call again what is still wanted.";

/** Rejections bound to the arguments, and the result of each call that would have run here. */
export const unofferedBatch = (
  declared: ReadonlyArray<DeclaredCall>,
  exposure: ExposureSnapshot,
  baseOf: (call: DeclaredCall) => SettlementBase,
): {
  readonly rejections: ReadonlyArray<ParameterRejection>;
  readonly settled: ReadonlyArray<RecordOf<"ToolCallSettled">>;
} => {
  const offered = new Set(exposure.exposed);
  // What the provider executed has happened, with its result in the response (T-14).
  const calls = declared.filter(({ providerExecuted }) => !providerExecuted);
  const settled = calls.map((call) =>
    offered.has(call.toolName)
      ? settledNotExecuted(baseOf(call), "preflight", besideUnoffered)
      : settledUnoffered(baseOf(call), notOffered(call.toolName, exposure)),
  );
  return {
    settled,
    rejections: calls.map(({ callId, parameters }, index) => ({
      callId,
      parameters,
      encodedError: settled[index]?.result ?? null,
    })),
  };
};
