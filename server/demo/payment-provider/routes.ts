/** The provider's HTTP surface, on loopback only. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest";
import { Effect, Layer, Option, Schema } from "effect";
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/unstable/http";

import { Faults } from "./Faults.ts";
import { KeyReused, Ledger } from "./Ledger.ts";
import {
  FaultRule,
  IdempotencyKey,
  LedgerEntry,
  MoneyRequest,
  type RequestKind,
} from "./provider-contract.ts";

const encodeEntry = Schema.encodeEffect(LedgerEntry);
const encodeEntries = Schema.encodeEffect(Schema.Array(LedgerEntry));
const decodeKey = Schema.decodeUnknownEffect(IdempotencyKey);
const ByKey = Schema.Struct({ key: IdempotencyKey });
const ByOrder = Schema.Struct({ order_id: Schema.optionalKey(Schema.String) });

const refusal = (status: number, error: string) =>
  HttpServerResponse.jsonUnsafe({ error }, { status });

/** Hangs up without an answer: the caller cannot tell what became of its request. */
const dropConnection = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest;
  NodeHttpServerRequest.toIncomingMessage(request).socket.destroy();
  return yield* Effect.never;
});

const answer = (entry: LedgerEntry) =>
  Effect.map(encodeEntry(entry), (body) =>
    HttpServerResponse.jsonUnsafe(body, { status: entry.outcome === "completed" ? 201 : 402 }),
  );

const handleMoneyRequest = (kind: RequestKind) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger;
    const faults = yield* Faults;
    const request = yield* HttpServerRequest.HttpServerRequest;
    const key = yield* decodeKey(request.headers["idempotency-key"]);
    const body = yield* HttpServerRequest.schemaBodyJson(MoneyRequest);

    const earlier = yield* ledger.findFor(kind, key, body);
    if (Option.isSome(earlier)) return yield* answer(earlier.value);

    const met = yield* faults.meet(kind, body.order_id);
    yield* Effect.sleep(met.delayMillis);
    if (met.dropBeforeCommit) return yield* dropConnection;
    // Once it commits, the entry is there whether or not the caller is still listening.
    const { entry, isNew } = yield* Effect.uninterruptible(
      ledger.commit(kind, key, body, met.decline ? "the card issuer declined it" : null),
    );
    if (met.dropAfterCommit && isNew) return yield* dropConnection;
    return yield* answer(entry);
  }).pipe(
    Effect.catchTags({
      KeyReused: (error: KeyReused) => Effect.succeed(refusal(409, error.message)),
      SchemaError: (error) => Effect.succeed(refusal(400, error.message)),
      HttpServerError: () => Effect.succeed(refusal(400, "The request body is not JSON.")),
    }),
  );

const handleStatusQuery = (kind: RequestKind) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger;
    const faults = yield* Faults;
    const { key } = yield* HttpRouter.schemaPathParams(ByKey);
    const entry = yield* ledger.findByKey(kind, key);
    const met = yield* faults.meet(
      "status",
      Option.match(entry, { onNone: () => "", onSome: (found) => found.order_id }),
    );
    yield* Effect.sleep(met.delayMillis);
    if (met.dropBeforeCommit || met.dropAfterCommit) return yield* dropConnection;
    if (Option.isNone(entry)) return refusal(404, `No ${kind} was made with the key "${key}".`);
    return HttpServerResponse.jsonUnsafe(yield* encodeEntry(entry.value));
  }).pipe(Effect.catchTag("SchemaError", (error) => Effect.succeed(refusal(400, error.message))));

const listLedger = Effect.gen(function* () {
  const { order_id } = yield* HttpServerRequest.schemaSearchParams(ByOrder);
  const entries = yield* (yield* Ledger).list(order_id);
  return HttpServerResponse.jsonUnsafe({ entries: yield* encodeEntries(entries) });
}).pipe(Effect.catchTag("SchemaError", (error) => Effect.succeed(refusal(400, error.message))));

const addFault = Effect.gen(function* () {
  const rule = yield* HttpServerRequest.schemaBodyJson(FaultRule);
  return HttpServerResponse.jsonUnsafe(yield* (yield* Faults).add(rule), { status: 201 });
}).pipe(
  Effect.catchTags({
    SchemaError: (error) => Effect.succeed(refusal(400, error.message)),
    HttpServerError: () => Effect.succeed(refusal(400, "The request body is not JSON.")),
  }),
);

const listFaults = Effect.gen(function* () {
  return HttpServerResponse.jsonUnsafe({ faults: yield* (yield* Faults).list() });
});

const clearFaults = Effect.gen(function* () {
  yield* (yield* Faults).clear();
  return HttpServerResponse.empty({ status: 204 });
});

// Declared apart from `addAll`: in its argument position the routes' errors and requirements infer as `any`.
const routes = [
  HttpRouter.route("GET", "/health", HttpServerResponse.jsonUnsafe({ name: "payment-provider" })),
  HttpRouter.route("POST", "/refunds", handleMoneyRequest("refund")),
  HttpRouter.route("POST", "/charges", handleMoneyRequest("charge")),
  HttpRouter.route("GET", "/refunds/by-key/:key", handleStatusQuery("refund")),
  HttpRouter.route("GET", "/charges/by-key/:key", handleStatusQuery("charge")),
  HttpRouter.route("GET", "/ledger", listLedger),
  HttpRouter.route("POST", "/faults", addFault),
  HttpRouter.route("GET", "/faults", listFaults),
  HttpRouter.route("DELETE", "/faults", clearFaults),
];

/** The whole provider, still in need of an HTTP server and its database. */
export const providerApp = HttpRouter.serve(HttpRouter.addAll(routes), {
  disableLogger: true,
  disableListenLog: true,
}).pipe(Layer.provide([Ledger.layer, Faults.layer]));
