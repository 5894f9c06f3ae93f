/**
 * The provider's ledger: one entry per kind and idempotency key, committed before
 * anything is answered. A key that comes back with other content is a conflict.
 */
import { createHash } from "node:crypto";

import { Context, Effect, Layer, Option, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";

import { formatCents } from "../data/money.ts";
import { LedgerEntry, type MoneyRequest, type RequestKind } from "./provider-contract.ts";

export class KeyReused extends Schema.TaggedError<KeyReused>()("KeyReused", {
  key: Schema.String,
}) {
  override get message(): string {
    return `The idempotency key "${this.key}" was already used for a request with other content.`;
  }
}

const EntryRow = Schema.Struct({
  entry_id: Schema.String,
  kind: Schema.String,
  idempotency_key: Schema.String,
  order_id: Schema.String,
  payment_method_id: Schema.String,
  amount_cents: Schema.Int,
  outcome: Schema.String,
  decline_reason: Schema.NullOr(Schema.String),
  created_at: Schema.String,
  request_digest: Schema.String,
});
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(EntryRow));
const decodeEntry = Schema.decodeUnknownEffect(LedgerEntry);

const digestOf = (request: MoneyRequest): string =>
  createHash("sha256")
    .update(
      JSON.stringify([request.order_id, request.payment_method_id, formatCents(request.amount)]),
    )
    .digest("hex");

const toEntry = ({ amount_cents, request_digest: _, ...row }: typeof EntryRow.Type) =>
  decodeEntry({ ...row, amount: formatCents(amount_cents) });

const makeLedger = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const columns = sql.literal(`entry_id, kind, idempotency_key, order_id, payment_method_id,
    amount_cents::integer AS amount_cents, outcome, decline_reason, created_at::text AS created_at, request_digest`);

  const findRow = Effect.fn("Ledger.findRow")(function* (kind: RequestKind, key: string) {
    const rows =
      yield* sql`SELECT ${columns} FROM provider.ledger WHERE kind = ${kind} AND idempotency_key = ${key}`;
    return Option.fromUndefinedOr((yield* decodeRows(rows))[0]);
  });

  /** The entry under this key, or none; a conflict when its request was another one. */
  const findFor = Effect.fn("Ledger.findFor")(function* (
    kind: RequestKind,
    key: string,
    request: MoneyRequest,
  ) {
    const row = yield* findRow(kind, key);
    if (Option.isNone(row)) return Option.none<LedgerEntry>();
    if (row.value.request_digest !== digestOf(request)) return yield* new KeyReused({ key });
    return Option.some(yield* toEntry(row.value));
  });

  const findByKey = Effect.fn("Ledger.findByKey")(function* (kind: RequestKind, key: string) {
    const row = yield* findRow(kind, key);
    return Option.isNone(row) ? Option.none<LedgerEntry>() : Option.some(yield* toEntry(row.value));
  });

  /** Commits the entry, or finds the one that another request with this key committed first. */
  const commit = Effect.fn("Ledger.commit")(function* (
    kind: RequestKind,
    key: string,
    request: MoneyRequest,
    declineReason: string | null,
  ) {
    const inserted = yield* decodeRows(
      yield* sql`INSERT INTO provider.ledger
          (kind, idempotency_key, request_digest, order_id, payment_method_id, amount_cents, outcome, decline_reason)
        VALUES (${kind}, ${key}, ${digestOf(request)}, ${request.order_id}, ${request.payment_method_id},
          ${request.amount}, ${declineReason === null ? "completed" : "declined"}, ${declineReason})
        ON CONFLICT (kind, idempotency_key) DO NOTHING RETURNING ${columns}`,
    );
    const [row] = inserted;
    if (row !== undefined) return { entry: yield* toEntry(row), isNew: true };
    const existing = yield* findFor(kind, key, request);
    if (Option.isNone(existing))
      return yield* Effect.die(new Error(`ledger entry of key ${key} vanished`));
    return { entry: existing.value, isNew: false };
  });

  /** The latest entries, newest first, at most 200. */
  const list = Effect.fn("Ledger.list")(function* (orderId: string | undefined) {
    const rows = yield* decodeRows(
      orderId === undefined
        ? yield* sql`SELECT ${columns} FROM provider.ledger ORDER BY created_at DESC, entry_id LIMIT 200`
        : yield* sql`SELECT ${columns} FROM provider.ledger WHERE order_id = ${orderId} ORDER BY created_at DESC, entry_id LIMIT 200`,
    );
    return yield* Effect.forEach(rows, toEntry);
  });

  return { findFor, findByKey, commit, list };
});

export class Ledger extends Context.Service<Ledger, Effect.Success<typeof makeLedger>>()(
  "effect-agent/server/demo/payment-provider/Ledger",
) {
  static readonly layer = Layer.effect(Ledger, makeLedger);
}
