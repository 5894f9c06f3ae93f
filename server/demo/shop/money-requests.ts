/**
 * Asking the payment provider for money. The request is written down before it is
 * sent and the answer when it comes; without an answer the row stays `requested`,
 * and the handler says that it does not know rather than invent an outcome.
 */
import { Effect, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";

import { CurrentToolCall } from "#lib/current-tool-call.ts";
import { unknownOutcome } from "#lib/unknown-outcome.ts";

import { formatCents, type Cents } from "../data/money.ts";
import { PaymentProvider } from "../payment-provider/PaymentProvider.ts";
import type { LedgerEntry, RequestKind } from "../payment-provider/provider-contract.ts";
import { findCustomer, methodOf } from "./customers.ts";
import { lockOrder, type OrderRow } from "./orders.ts";
import { refuse } from "./Refusal.ts";

export interface MoneyMove {
  readonly order_id: string;
  readonly payment_method_id: string;
  readonly cents: Cents;
  readonly reason: string;
}

const SumRow = Schema.Struct({ cents: Schema.Int });
const decodeSum = Schema.decodeUnknownEffect(Schema.Array(SumRow));
const TriesRow = Schema.Struct({ tries: Schema.Int });
const decodeTries = Schema.decodeUnknownEffect(Schema.Tuple([TriesRow]));
const KeyRow = Schema.Struct({ key: Schema.String });
const decodeKey = Schema.decodeUnknownEffect(Schema.Array(KeyRow));

/** The call's own key; a fresh one outside of a tool call. */
const requestKey = Effect.fn("moneyRequests.key")(function* () {
  const call = yield* CurrentToolCall;
  if (call !== undefined) return call.idempotencyKey;
  const sql = yield* SqlClient.SqlClient;
  const [row] = yield* decodeKey(yield* sql`SELECT gen_random_uuid()::text AS key`);
  return row === undefined ? yield* Effect.die(new Error("no key from the database")) : row.key;
});

/** What can still be refunded: paid, less what went back or may have gone back. */
const refundableCents = Effect.fn("moneyRequests.refundable")(function* (
  orderId: string,
  exceptKey: string,
) {
  const sql = yield* SqlClient.SqlClient;
  const [row] = yield* decodeSum(
    yield* sql`SELECT (
        coalesce((SELECT sum(CASE transaction_type WHEN 'payment' THEN amount_cents ELSE -amount_cents END)
          FROM retail.order_payments WHERE order_id = ${orderId}), 0)
        + coalesce((SELECT sum(CASE kind WHEN 'charge' THEN amount_cents ELSE -amount_cents END)
          FROM retail.provider_requests WHERE order_id = ${orderId} AND idempotency_key <> ${exceptKey}
            AND (state = 'completed' OR (state = 'requested' AND kind = 'refund'))), 0)
      )::integer AS cents`,
  );
  return row?.cents ?? 0;
});

/** Whether the money may move at all: an own method, and no more than is left to refund. */
const check = Effect.fn("moneyRequests.check")(function* (
  kind: RequestKind,
  key: string,
  move: MoneyMove,
  order: OrderRow,
) {
  const method = yield* methodOf(yield* findCustomer(order.user_id), move.payment_method_id);
  if (kind === "charge") return;
  const original = order.payments.some((line) => line.payment_method_id === move.payment_method_id);
  if (!original && method.source !== "gift_card") {
    return yield* refuse(
      "payment method should be either the original payment method or a gift card",
    );
  }
  const refundable = yield* refundableCents(move.order_id, key);
  if (move.cents > refundable) {
    return yield* refuse(
      `only ${formatCents(Math.max(0, refundable))} of order ${move.order_id} can still be refunded`,
    );
  }
});

/**
 * Writes the move down, under the order's lock. Only a first try is checked: once
 * a request may have been sent, a refusal would claim that no money moved. What
 * was certainly not sent is a first try again.
 */
const register = Effect.fn("moneyRequests.register")(function* (
  kind: RequestKind,
  key: string,
  move: MoneyMove,
) {
  const sql = yield* SqlClient.SqlClient;
  const order = yield* lockOrder(move.order_id);
  const [row] = yield* decodeTries(
    yield* sql`INSERT INTO retail.provider_requests AS r
        (idempotency_key, kind, order_id, payment_method_id, amount_cents, reason)
      VALUES (${key}, ${kind}, ${move.order_id}, ${move.payment_method_id}, ${move.cents}, ${move.reason})
      ON CONFLICT (idempotency_key) DO UPDATE SET
        tries = CASE r.state WHEN 'not sent' THEN 1 ELSE r.tries + 1 END,
        state = CASE r.state WHEN 'not sent' THEN 'requested' ELSE r.state END,
        answered_at = CASE r.state WHEN 'not sent' THEN NULL ELSE r.answered_at END
      RETURNING tries`,
  );
  if (row.tries === 1) yield* check(kind, key, move, order);
});

/** Writes down the provider's answer. */
export const settleMoneyRequest = Effect.fn("moneyRequests.settle")(function* (
  key: string,
  entry: LedgerEntry,
) {
  const sql = yield* SqlClient.SqlClient;
  yield* sql`UPDATE retail.provider_requests
    SET state = ${entry.outcome}, provider_id = ${entry.entry_id}, decline_reason = ${entry.decline_reason}, answered_at = now()
    WHERE idempotency_key = ${key}`;
});

/**
 * Frees the amount of a request that was certainly not sent. Only where no other
 * try was made under the key: that one may have been sent, whatever this one was.
 */
const settleNotSent = Effect.fn("moneyRequests.settleNotSent")(function* (key: string) {
  const sql = yield* SqlClient.SqlClient;
  const freed =
    yield* sql`UPDATE retail.provider_requests SET state = 'not sent', answered_at = now()
    WHERE idempotency_key = ${key} AND state = 'requested' AND tries = 1 RETURNING tries`;
  return freed.length > 0;
});

/** The provider was not asked by this try; whether that says anything depends on the tries before it. */
const notAsked = Effect.fn("moneyRequests.notAsked")(function* (key: string, why: string) {
  if (yield* settleNotSent(key)) {
    return yield* refuse(`The payment provider could not be asked (${why}), so no money moved.`);
  }
  return yield* unknownOutcome(
    `The payment provider was asked before under the key ${key} and cannot be asked again (${why}): the money may or may not have moved.`,
  );
});

export const describeDecline = (kind: RequestKind, amount: string, reason: string | null): string =>
  `the payment provider declined the ${kind} of ${amount}: ${reason ?? "no reason given"}`;

/** Moves the money, or refuses, or ends as an unknown outcome when nobody can tell. */
export const moveMoney = Effect.fn("moneyRequests.move")(function* (
  kind: RequestKind,
  move: MoneyMove,
) {
  const sql = yield* SqlClient.SqlClient;
  const provider = yield* PaymentProvider;
  const key = yield* requestKey();
  yield* sql.withTransaction(register(kind, key, move));

  const entry = yield* provider
    .request(kind, {
      idempotencyKey: key,
      orderId: move.order_id,
      paymentMethodId: move.payment_method_id,
      cents: move.cents,
    })
    .pipe(
      Effect.catchTags({
        ProviderNotAsked: ({ why }) => notAsked(key, why),
        ProviderSilent: (error) => unknownOutcome(error.message),
      }),
    );
  yield* settleMoneyRequest(key, entry);
  if (entry.outcome === "declined") {
    return yield* refuse(describeDecline(kind, formatCents(move.cents), entry.decline_reason));
  }
  return entry;
});
