import { createServer } from "node:net";

import { assert, layer } from "@effect/vitest";
import { Effect, Option, Schema } from "effect";

import { CentsFromText } from "#server/demo/data/money.ts";
import { PaymentProvider } from "#server/demo/payment-provider/PaymentProvider.ts";

import { providerUrl, ShopStack } from "./shop-stack.ts";

const cents = Schema.decodeUnknownSync(CentsFromText);

/** A request by hand, for what the client never sends. */
const send = Effect.fn("send")(function* (
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
) {
  const url = yield* providerUrl;
  return yield* Effect.tryPromise(async () => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === "" ? undefined : JSON.parse(text) };
  });
});

/** A port that was just free, so that nobody listens on it. */
const closedPort = Effect.promise(
  () =>
    new Promise<number>((resolve) => {
      const server = createServer().listen(0, "127.0.0.1", () => {
        const address = server.address();
        const port = typeof address === "object" && address !== null ? address.port : 0;
        server.close(() => resolve(port));
      });
    }),
);

const order = (idempotencyKey: string, orderId: string, amount = "12.34") => ({
  idempotencyKey,
  orderId,
  paymentMethodId: "credit_card_1",
  cents: cents(amount),
});

layer(ShopStack, { timeout: 60_000, excludeTestServices: true })("the payment provider", (it) => {
  it.effect("gives the first answer again to the same key and content, and books once", () =>
    Effect.gen(function* () {
      const provider = yield* PaymentProvider;
      const answers = yield* Effect.all(
        Array.from({ length: 8 }, () => provider.request("refund", order("same", "#W1"))),
        { concurrency: 8 },
      );
      assert.strictEqual(new Set(answers.map(({ entry_id }) => entry_id)).size, 1);
      assert.strictEqual((yield* send("GET", "/ledger?order_id=%23W1")).body.entries.length, 1);
    }),
  );

  it.effect(
    "refuses a key that comes back with another amount, with 409, books nothing and proves nothing",
    () =>
      Effect.gen(function* () {
        const provider = yield* PaymentProvider;
        yield* provider.request("charge", order("reused", "#W2"));
        const refused = yield* Effect.flip(
          provider.request("charge", order("reused", "#W2", "99.99")),
        );
        assert.strictEqual(refused._tag, "ProviderSilent");
        assert.include(refused.message, "already used");
        const body = { order_id: "#W2", payment_method_id: "credit_card_1", amount: "99.99" };
        assert.strictEqual(
          (yield* send("POST", "/charges", body, { "idempotency-key": "reused" })).status,
          409,
        );
        assert.strictEqual((yield* send("GET", "/ledger?order_id=%23W2")).body.entries.length, 1);
        // A refund under the same key is another request: keys belong to their kind.
        assert.strictEqual(
          (yield* provider.request("refund", order("reused", "#W2"))).kind,
          "refund",
        );
      }),
  );

  it.effect(
    "answers 400 to an amount that is a number, a missing key and text that is no JSON",
    () =>
      Effect.gen(function* () {
        const good = { order_id: "#W3", payment_method_id: "m", amount: "1.00" };
        const key = { "idempotency-key": "bad" };
        assert.strictEqual(
          (yield* send("POST", "/refunds", { ...good, amount: 1.1 }, key)).status,
          400,
        );
        assert.strictEqual((yield* send("POST", "/refunds", good)).status, 400);
        assert.strictEqual((yield* send("POST", "/refunds", "{", key)).status, 400);
        assert.strictEqual((yield* send("GET", "/refunds/by-key/bad")).status, 404);
      }),
  );

  it.effect("a connection dropped before the booking: silence, and nothing in the ledger", () =>
    Effect.gen(function* () {
      const provider = yield* PaymentProvider;
      yield* send("POST", "/faults", {
        request_kind: "refund",
        order_id: "#W4",
        behaviour: "drop-before-commit",
        remaining: 1,
      });
      const lost = yield* Effect.flip(provider.request("refund", order("before", "#W4")));
      assert.strictEqual(lost._tag, "ProviderSilent");
      assert.isTrue(Option.isNone(yield* provider.findByKey("refund", "before")));
      // The fault is used up: the same key books now.
      assert.strictEqual(
        (yield* provider.request("refund", order("before", "#W4"))).outcome,
        "completed",
      );
    }),
  );

  it.effect(
    "a connection dropped after the booking: the same silence, but the money moved, once, whatever is retried",
    () =>
      Effect.gen(function* () {
        const provider = yield* PaymentProvider;
        yield* send("POST", "/faults", {
          request_kind: "refund",
          order_id: "#W5",
          behaviour: "drop-after-commit",
        });
        const lost = yield* Effect.flip(provider.request("refund", order("after", "#W5")));
        assert.strictEqual(lost._tag, "ProviderSilent");
        const booked = Option.getOrThrow(yield* provider.findByKey("refund", "after"));
        assert.strictEqual(booked.outcome, "completed");
        assert.strictEqual(
          (yield* provider.request("refund", order("after", "#W5"))).entry_id,
          booked.entry_id,
        );
        assert.strictEqual((yield* send("GET", "/ledger?order_id=%23W5")).body.entries.length, 1);
      }),
  );

  it.effect("a decline is booked and stays the answer after its cause is gone", () =>
    Effect.gen(function* () {
      const provider = yield* PaymentProvider;
      yield* send("POST", "/faults", {
        request_kind: "charge",
        order_id: "#W6",
        behaviour: "decline",
      });
      assert.strictEqual(
        (yield* provider.request("charge", order("decline", "#W6"))).outcome,
        "declined",
      );
      yield* send("DELETE", "/faults");
      assert.strictEqual((yield* send("GET", "/faults")).body.faults.length, 0);
      assert.strictEqual(
        (yield* provider.request("charge", order("decline", "#W6"))).outcome,
        "declined",
      );
      assert.strictEqual(
        (yield* provider.request("charge", order("another", "#W6"))).outcome,
        "completed",
      );
    }),
  );

  it.effect(
    "a delayed request is answered late, and one that is given up before the delay is over books nothing",
    () =>
      Effect.gen(function* () {
        const provider = yield* PaymentProvider;
        yield* send("POST", "/faults", {
          request_kind: "refund",
          order_id: "#W7",
          behaviour: "delay",
          delay_millis: 400,
        });
        const started = performance.now();
        yield* provider.request("refund", order("late", "#W7"));
        assert.isAtLeast(performance.now() - started, 390);
        const given = yield* provider
          .request("refund", order("given-up", "#W7"))
          .pipe(Effect.timeoutOption(100));
        assert.isTrue(Option.isNone(given));
        yield* Effect.sleep(800);
        assert.isTrue(Option.isNone(yield* provider.findByKey("refund", "given-up")));
      }),
  );

  it.effect("a provider that is not there was certainly not asked", () =>
    Effect.gen(function* () {
      const port = yield* closedPort;
      const provider = yield* PaymentProvider.pipe(
        Effect.provide(PaymentProvider.layer(`http://127.0.0.1:${port}`)),
      );
      const refused = yield* Effect.flip(provider.request("refund", order("nobody", "#W8")));
      assert.strictEqual(refused._tag, "ProviderNotAsked");
    }),
  );
});
