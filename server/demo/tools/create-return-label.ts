import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { applyOnce } from "../shop/apply-once.ts";
import { lockOrder } from "../shop/orders.ts";
import { refuse, RefusalText } from "../shop/Refusal.ts";
import { orderId } from "./parameters.ts";

const Label = Schema.Struct({
  label_id: Schema.String,
  order_id: Schema.String,
  carrier: Schema.String,
});
const decodeLabels = Schema.decodeUnknownEffect(Schema.Array(Label));

export const CreateReturnLabel = Tool.make("create_return_label", {
  description:
    "Make a prepaid label for an order whose return or exchange was requested. One label per carrier; asking again gives the same one.",
  parameters: Schema.Struct({
    order_id: orderId,
    carrier: Schema.Literals(["UPS", "FedEx", "USPS"]).annotate({
      description: "Who carries the parcel.",
    }),
  }),
  success: Label,
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "shipping")
  .annotate(ToolExecutionClass, "idempotent");

export const createReturnLabel = Effect.fn("create_return_label")(function* ({
  order_id,
  carrier,
}: Tool.Parameters<typeof CreateReturnLabel>) {
  const sql = yield* SqlClient.SqlClient;
  const make = Effect.gen(function* () {
    const { status } = yield* lockOrder(order_id);
    if (status !== "return requested" && status !== "exchange requested") {
      return yield* refuse("no return or exchange was requested for this order");
    }
    yield* sql`INSERT INTO retail.return_labels (order_id, carrier) VALUES (${order_id}, ${carrier}) ON CONFLICT DO NOTHING`;
    const [label] = yield* decodeLabels(
      yield* sql`SELECT label_id, order_id, carrier FROM retail.return_labels WHERE order_id = ${order_id} AND carrier = ${carrier}`,
    );
    return label ?? (yield* refuse("the label could not be made"));
  });
  return yield* applyOnce(CreateReturnLabel, make);
});
