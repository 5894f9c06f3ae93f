import type { FailureSummary } from "#lib/contract/records.ts";
import type { DiagnosticNode } from "#lib/contract/diagnostic.ts";
import { boundedText } from "#lib/diagnostics/bounded-text.ts";
import { capture } from "#lib/diagnostics/capture.ts";

/** Most UTF-8 bytes of the tag and the sentence of a public failure (`DX-07`). */
export const maxErrorTagBytes = 256;

/**
 * What the public side of a failure says: a tag of at most 256 bytes and a
 * redacted message of at most 16 KiB (`DX-07`). Of an Effect cause, the first
 * failure or defect counts; an interruption only when there is nothing else.
 *
 * @param fallbackTag used when the value has neither tag nor class name
 */
export const failureSummary = (value: unknown, fallbackTag: string): FailureSummary => {
  const { root } = capture(value);
  const { errorTag, message } = summaryOf(root, fallbackTag);
  return { errorTag: boundedText(errorTag, maxErrorTagBytes), message };
};

const noMessage = "No message.";

const summaryOf = (
  node: DiagnosticNode,
  fallbackTag: string,
): { readonly errorTag: string; readonly message: string } => {
  switch (node._tag) {
    case "Failure":
      return { errorTag: node.tag ?? node.name ?? fallbackTag, message: node.message ?? noMessage };
    case "Text":
      return { errorTag: fallbackTag, message: node.text };
    case "Scalar":
      return { errorTag: fallbackTag, message: String(node.value) };
    case "Omitted":
      return { errorTag: fallbackTag, message: noMessage };
    case "Cause": {
      for (const reason of node.reasons) {
        if (reason._tag === "Fail") return summaryOf(reason.error, fallbackTag);
        if (reason._tag === "Die") return summaryOf(reason.defect, fallbackTag);
      }
      return node.reasons.length > 0
        ? { errorTag: "Interrupted", message: "The work was interrupted." }
        : { errorTag: fallbackTag, message: noMessage };
    }
  }
};
