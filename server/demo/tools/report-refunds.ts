import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { reportAmount } from "../shop/report-amount.ts";

const State = Schema.Literals(["requested", "completed", "declined", "not sent"]);
const Row = Schema.Struct({
  state: State,
  refunds: Schema.Int,
  amount: reportAmount,
});
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row));

export const ReportRefunds = Tool.make("report_refunds", {
  description:
    "Report: refunds asked of the payment provider by state. 'requested' are those without an answer.",
  parameters: Schema.Struct({
    state: Schema.optionalKey(State.annotate({ description: "Only refunds in this state." })),
  }),
  success: Schema.Array(Row),
})
  .annotate(ToolNamespace, "reports")
  .annotate(ToolExecutionClass, "readonly");

export const reportRefunds = Effect.fn("report_refunds")(function* ({
  state,
}: Tool.Parameters<typeof ReportRefunds>) {
  const sql = yield* SqlClient.SqlClient;
  return yield* decodeRows(
    yield* sql`SELECT state, count(*)::integer AS refunds, to_char(sum(amount_cents) / 100.0, 'FM999999990.00') AS amount
      FROM retail.provider_requests WHERE kind = 'refund' AND (${state ?? null}::text IS NULL OR state = ${state ?? null}::text) GROUP BY state ORDER BY state`,
  );
});
