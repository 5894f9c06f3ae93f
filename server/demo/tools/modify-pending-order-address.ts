import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { approvalRule } from "#lib/tool-approval.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { OrderRecord } from "../data/records.ts";
import { applyOnce } from "../shop/apply-once.ts";
import { lockOrder, orderRecord } from "../shop/orders.ts";
import { refuse, RefusalText } from "../shop/Refusal.ts";
import { describeAddress } from "./describe-address.ts";
import { addressFields, orderId } from "./parameters.ts";

export const ModifyPendingOrderAddress = approvalRule(
  Tool.make("modify_pending_order_address", {
    description:
      "Modify the shipping address of a pending order. The agent needs to explain the modification detail and ask for explicit user confirmation (yes/no) to proceed.",
    parameters: Schema.Struct({ order_id: orderId, ...addressFields }),
    success: OrderRecord,
    failure: RefusalText,
    failureMode: "return",
    needsApproval: true,
  })
    .annotate(ToolNamespace, "shipping")
    .annotate(ToolExecutionClass, "idempotent"),
  {
    risk: "medium",
    summary: ({ order_id, ...address }) =>
      `Ship order ${order_id} to ${describeAddress(address)} instead`,
    targets: ({ order_id }) => [{ kind: "order", id: order_id }],
    preview: (parameters) => ({ ...parameters }),
  },
);

export const modifyPendingOrderAddress = Effect.fn("modify_pending_order_address")(function* ({
  order_id,
  ...address
}: Tool.Parameters<typeof ModifyPendingOrderAddress>) {
  const sql = yield* SqlClient.SqlClient;
  const change = Effect.gen(function* () {
    yield* lockOrder(order_id);
    const changed = yield* sql`UPDATE retail.orders SET address = ${JSON.stringify(address)}::jsonb
      WHERE order_id = ${order_id} AND status IN ('pending', 'pending (item modified)') RETURNING order_id`;
    if (changed.length === 0) return yield* refuse("non-pending order cannot be modified");
    return yield* orderRecord(order_id);
  });
  return yield* applyOnce(ModifyPendingOrderAddress, change);
});
