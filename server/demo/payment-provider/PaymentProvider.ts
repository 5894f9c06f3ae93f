/**
 * The shop's side of the payment provider. A request ends in one of three ways,
 * and they are kept apart: the provider answered (booked or declined), it was
 * certainly never asked, or nobody can tell.
 */
import { Context, Effect, Layer, Option, Predicate, Schema } from "effect";
import {
  FetchHttpClient,
  HttpClient,
  HttpClientRequest,
  HttpClientResponse,
  type HttpClientError,
} from "effect/unstable/http";

import type { Cents } from "../data/money.ts";
import {
  LedgerEntry,
  MoneyRequest,
  ProviderRefusal,
  type RequestKind,
} from "./provider-contract.ts";

/** This request certainly reached nobody who could book it. An earlier one under its key may have. */
export class ProviderNotAsked extends Schema.TaggedError<ProviderNotAsked>()("ProviderNotAsked", {
  why: Schema.String,
}) {
  override get message(): string {
    return `The payment provider was not asked (${this.why}), so this request moved no money.`;
  }
}

/** No answer says what became of the key: money may have moved. */
export class ProviderSilent extends Schema.TaggedError<ProviderSilent>()("ProviderSilent", {
  idempotencyKey: Schema.String,
  why: Schema.String,
}) {
  override get message(): string {
    return `The payment provider was asked under the key ${this.idempotencyKey} and did not say what became of it (${this.why}): the money may or may not have moved.`;
  }
}

export interface MoneyOrder {
  readonly idempotencyKey: string;
  readonly orderId: string;
  readonly paymentMethodId: string;
  readonly cents: Cents;
}

const answerTimeout = "30 seconds";
const encodeRequest = Schema.encodeEffect(MoneyRequest);
const decodeEntry = HttpClientResponse.schemaBodyJson(LedgerEntry);
const decodeRefusal = HttpClientResponse.schemaBodyJson(ProviderRefusal);

/** Only a refused connection proves that nothing was sent. */
const neverConnected = (error: HttpClientError.HttpClientError): boolean => {
  let cause: unknown = error;
  for (let depth = 0; depth < 8 && Predicate.isObject(cause); depth += 1) {
    if ("code" in cause && (cause.code === "ECONNREFUSED" || cause.code === "ENOTFOUND"))
      return true;
    cause = "cause" in cause ? cause.cause : undefined;
  }
  return false;
};

const makeClient = (baseUrl: string) =>
  Effect.gen(function* () {
    const client = (yield* HttpClient.HttpClient).pipe(
      HttpClient.mapRequest(HttpClientRequest.prependUrl(baseUrl)),
    );

    const request = Effect.fn("PaymentProvider.request")(function* (
      kind: RequestKind,
      order: MoneyOrder,
    ) {
      const silent = (why: string) =>
        new ProviderSilent({ idempotencyKey: order.idempotencyKey, why });
      const body = yield* Effect.orDie(
        encodeRequest({
          order_id: order.orderId,
          payment_method_id: order.paymentMethodId,
          amount: order.cents,
        }),
      );
      const response = yield* client
        .execute(
          HttpClientRequest.post(kind === "refund" ? "/refunds" : "/charges").pipe(
            HttpClientRequest.setHeader("idempotency-key", order.idempotencyKey),
            HttpClientRequest.bodyJsonUnsafe(body),
          ),
        )
        .pipe(
          Effect.timeout(answerTimeout),
          Effect.catchTags({
            HttpClientError: (error) =>
              Effect.fail(
                neverConnected(error)
                  ? new ProviderNotAsked({ why: "connection refused" })
                  : silent("the connection was lost"),
              ),
            TimeoutError: () => Effect.fail(silent(`no answer within ${answerTimeout}`)),
          }),
        );
      if (response.status === 201 || response.status === 402) {
        return yield* decodeEntry(response).pipe(
          Effect.mapError(() => silent("its answer cannot be read")),
        );
      }
      if (response.status === 400 || response.status === 409) {
        const refusal = yield* decodeRefusal(response).pipe(
          Effect.orElseSucceed(() => ({ error: `status ${response.status}` })),
        );
        const why = `it refused the request: ${refusal.error}`;
        // 409: something was booked under the key before, so this is no proof of nothing.
        return yield* response.status === 409 ? silent(why) : new ProviderNotAsked({ why });
      }
      return yield* silent(`it answered with status ${response.status}`);
    });

    const findByKey = Effect.fn("PaymentProvider.findByKey")(function* (
      kind: RequestKind,
      key: string,
    ) {
      const silent = (why: string) => new ProviderSilent({ idempotencyKey: key, why });
      const response = yield* client
        .execute(HttpClientRequest.get(`/${kind}s/by-key/${encodeURIComponent(key)}`))
        .pipe(
          Effect.timeout("10 seconds"),
          Effect.mapError(() => silent("its status query does not answer")),
        );
      if (response.status === 404) return Option.none<LedgerEntry>();
      if (response.status !== 200)
        return yield* silent(`its status query answered ${response.status}`);
      return Option.some(
        yield* decodeEntry(response).pipe(
          Effect.mapError(() => silent("its status cannot be read")),
        ),
      );
    });

    return PaymentProvider.of({ request, findByKey });
  });

export class PaymentProvider extends Context.Service<
  PaymentProvider,
  {
    /** Asks for the money once per key; a repetition with the same key gets the first answer. */
    readonly request: (
      kind: RequestKind,
      order: MoneyOrder,
    ) => Effect.Effect<LedgerEntry, ProviderNotAsked | ProviderSilent>;
    /** What became of the request made under this key; none when the provider never booked one. */
    readonly findByKey: (
      kind: RequestKind,
      key: string,
    ) => Effect.Effect<Option.Option<LedgerEntry>, ProviderSilent>;
  }
>()("effect-agent/server/demo/payment-provider/PaymentProvider") {
  /** @param baseUrl such as `http://127.0.0.1:4711`, without a trailing slash. */
  static readonly layer = (baseUrl: string) =>
    Layer.effect(PaymentProvider, makeClient(baseUrl)).pipe(Layer.provide(FetchHttpClient.layer));
}
