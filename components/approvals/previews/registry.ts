/**
 * Previews that somebody has reviewed, by the tool they were written for. A tool without one is shown by its
 * arguments alone, which always stand beside a preview too. Adding one: its reader in this folder, its row
 * here, its cases in tests/components/previews.test.ts.
 */
import type { ExactJson } from "#lib/client/exact-json.ts";
import { chargePreview, refundPreview } from "./money.ts";
import { cancelOrderPreview, customerAddressPreview, orderAddressPreview } from "./orders.ts";
import type { Preview, ReadPreview } from "./read-preview.ts";

const previews: ReadonlyMap<string, ReadPreview> = new Map([
  ["cancel_pending_order", cancelOrderPreview],
  ["charge_payment_method", chargePreview],
  ["issue_refund", refundPreview],
  ["modify_pending_order_address", orderAddressPreview],
  ["modify_user_address", customerAddressPreview],
]);

/** The tool's preview of these arguments; undefined where it has none. Never throws. */
export const previewOf = (toolName: string, parameters: ExactJson): Preview | undefined => {
  const read = previews.get(toolName);
  if (read === undefined) return undefined;
  try {
    return read(parameters);
  } catch {
    // A fault of a preview must not take the decision away from a person: the arguments stand below it.
    return { kind: "unreadable", why: "it broke on them" };
  }
};
