/** Money asked for more than once under one key: whatever becomes of a later try, an earlier one may have moved it. */
import { assert, layer } from "@effect/vitest";
import { Cause, Effect, Exit, Option, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";

import { CurrentToolCall } from "#lib/current-tool-call.ts";
import { findUnknownOutcome } from "#lib/unknown-outcome.ts";
import { CentsFromText } from "#server/demo/data/money.ts";
import {
  PaymentProvider,
  ProviderNotAsked,
  ProviderSilent,
} from "#server/demo/payment-provider/PaymentProvider.ts";
import { moveMoney } from "#server/demo/shop/money-requests.ts";
import { findOrder } from "#server/demo/shop/orders.ts";

import { ShopStack } from "./shop-stack.ts";

const cents = Schema.decodeUnknownSync(CentsFromText);
const none = Option.none<never>();

/** A provider that nobody can reach, and one that takes the request and says nothing. */
const away = PaymentProvider.of({
  request: () => Effect.fail(new ProviderNotAsked({ why: "connection refused" })),
  findByKey: () => Effect.succeed(none),
});
const silent = PaymentProvider.of({
  request: (_kind, { idempotencyKey }) =>
    Effect.fail(new ProviderSilent({ idempotencyKey, why: "the connection was lost" })),
  findByKey: () => Effect.succeed(none),
});

/** Books at the real provider, and loses the answer. */
const bookedInSilence = Effect.map(PaymentProvider, (real) =>
  PaymentProvider.of({
    ...real,
    request: (kind, order) =>
      Effect.andThen(real.request(kind, order), silent.request(kind, order)),
  }),
);

const refund = Effect.fn("refund")(function* (
  orderId: string,
  key: string,
  amount: string,
  provider?: PaymentProvider["Service"],
) {
  const [payment] = (yield* findOrder(orderId)).payments;
  const move = moveMoney("refund", {
    order_id: orderId,
    payment_method_id: payment?.payment_method_id ?? "",
    cents: cents(amount),
    reason: "leaks",
  }).pipe(
    Effect.provideService(CurrentToolCall, {
      idempotencyKey: key,
      threadId: "t",
      runId: "r",
      turn: 1,
      callId: "c",
      attempt: 1,
    }),
  );
  return yield* Effect.exit(
    provider === undefined ? move : Effect.provideService(move, PaymentProvider, provider),
  );
});

const isUnknown = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isFailure(exit) && findUnknownOutcome(exit.cause) !== undefined;
const wordsOf = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "";

const stateOf = Effect.fn("stateOf")(function* (key: string) {
  const sql = yield* SqlClient.SqlClient;
  const rows =
    yield* sql`SELECT state FROM retail.provider_requests WHERE idempotency_key = ${key}`;
  return rows[0]?.["state"];
});
const entriesOf = Effect.fn("entriesOf")(function* (orderId: string) {
  const sql = yield* SqlClient.SqlClient;
  return (yield* sql`SELECT entry_id FROM provider.ledger WHERE order_id = ${orderId}`).length;
});
const paid = (orderId: string) =>
  Effect.map(findOrder(orderId), ({ payments }) =>
    ((payments[0]?.amount_cents ?? 0) / 100).toFixed(2),
  );

layer(ShopStack, { timeout: 60_000, excludeTestServices: true })("money asked for again", (it) => {
  it.effect(
    "[DU-04] a refund that was booked in silence stays in doubt when its retry cannot be sent, and frees no money for another",
    () =>
      Effect.gen(function* () {
        const order = "#W1000012";
        const first = yield* refund(order, "booked", "19.00", yield* bookedInSilence);
        assert.isTrue(isUnknown(first));
        const retried = yield* refund(order, "booked", "19.00", away);
        assert.isTrue(isUnknown(retried), wordsOf(retried));
        assert.strictEqual(yield* stateOf("booked"), "requested");
        const another = yield* refund(order, "another", "19.00");
        assert.include(wordsOf(another), "can still be refunded");
        assert.strictEqual(yield* entriesOf(order), 1);
        const answered = yield* refund(order, "booked", "19.00");
        assert.isTrue(Exit.isSuccess(answered), wordsOf(answered));
        assert.strictEqual(yield* entriesOf(order), 1);
        assert.strictEqual(yield* stateOf("booked"), "completed");
        const late = yield* refund(order, "booked", "19.00", away);
        assert.isTrue(isUnknown(late), wordsOf(late));
        assert.strictEqual(yield* stateOf("booked"), "completed");
      }),
  );

  it.effect("[DU-04] a retry is asked and never refused, whatever became of the customer", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient;
      const order = "#W1000010";
      assert.isTrue(isUnknown(yield* refund(order, "moved", "5.00", yield* bookedInSilence)));
      const { user_id } = yield* findOrder(order);
      yield* sql`DELETE FROM retail.payment_methods WHERE user_id = ${user_id}`;
      const retried = yield* refund(order, "moved", "5.00");
      assert.isTrue(Exit.isSuccess(retried), wordsOf(retried));
      assert.strictEqual(yield* entriesOf(order), 1);
      // Somebody new is checked.
      assert.isFalse(Exit.isSuccess(yield* refund(order, "new", "5.00")));
      assert.isUndefined(yield* stateOf("new"));
    }),
  );

  it.effect(
    "a refund that was certainly not sent is a failure, and a first try again when it is repeated",
    () =>
      Effect.gen(function* () {
        const order = "#W1000001";
        const all = yield* paid(order);
        const first = yield* refund(order, "unsent", all, away);
        assert.include(wordsOf(first), "no money moved");
        assert.strictEqual(yield* stateOf("unsent"), "not sent");
        assert.isTrue(isUnknown(yield* refund(order, "unsent", all, silent)));
        assert.strictEqual(yield* stateOf("unsent"), "requested");
        // In flight again, so its amount is taken.
        assert.include(wordsOf(yield* refund(order, "beside", "0.01")), "can still be refunded");
        assert.strictEqual(yield* entriesOf(order), 0);
      }),
  );

  it.effect(
    "[DU-13] a try that wakes up late and cannot be sent says nothing about the try that overtook it",
    () =>
      Effect.gen(function* () {
        const order = "#W1000007";
        const sql = yield* SqlClient.SqlClient;
        const overtaking = refund(order, "late", "1.00", silent).pipe(
          Effect.provideService(SqlClient.SqlClient, sql),
          Effect.provideService(PaymentProvider, silent),
          Effect.orDie,
        );
        const overtaken = PaymentProvider.of({
          ...away,
          request: (kind, asked) => Effect.andThen(overtaking, away.request(kind, asked)),
        });
        const late = yield* refund(order, "late", "1.00", overtaken);
        assert.isTrue(isUnknown(late), wordsOf(late));
        assert.strictEqual(yield* stateOf("late"), "requested");
      }),
  );
});
