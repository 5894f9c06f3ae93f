/**
 * What became of a refund or charge whose process was lost: the provider is asked
 * under the call's own key. It books one entry per key, so when it has none the
 * call may run again. When it does not say, a person has to.
 */
import { Effect, Option, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";

import type { ReconcilerAnswer } from "#lib/engine/RunContext.ts";
import type { LostCall, ProbeAnswer, ToolProbe } from "#lib/tool-probe.ts";

import { formatCents } from "./data/money.ts";
import { PaymentProvider } from "./payment-provider/PaymentProvider.ts";
import type { LedgerEntry, RequestKind } from "./payment-provider/provider-contract.ts";
import { describeDecline, settleMoneyRequest } from "./shop/money-requests.ts";
import { MoneyReceipt } from "./tools/issue-refund.ts";

const kinds: ReadonlyMap<string, RequestKind> = new Map([
  ["issue_refund", "refund"],
  ["charge_payment_method", "charge"],
]);

const uncertain: ReconcilerAnswer = { _tag: "uncertain" };

/** What the tool's handler would have answered for this entry of the provider's ledger. */
const resultOf = Effect.fnUntraced(function* (kind: RequestKind, entry: LedgerEntry) {
  if (entry.outcome === "declined") {
    const result = `Error: ${describeDecline(kind, formatCents(entry.amount), entry.decline_reason)}`;
    return { result, isFailure: true };
  }
  const { order_id, payment_method_id, amount } = entry;
  const receipt = {
    provider_id: entry.entry_id,
    order_id,
    payment_method_id,
    amount,
    outcome: "completed" as const,
  };
  return { result: yield* Schema.encodeEffect(MoneyReceipt)(receipt), isFailure: false };
});

const answerFrom = Effect.fn("reconcileMoney.answer")(function* (
  kind: RequestKind,
  entry: LedgerEntry,
) {
  yield* settleMoneyRequest(entry.idempotency_key, entry);
  return { _tag: "completed", ...(yield* resultOf(kind, entry)) } as const;
});

/** A reconciler that fails answers that it cannot tell; it never guesses (DU-06). */
export const reconcileMoney = Effect.fn("reconcileMoney")(
  function* (call: LostCall) {
    const kind = kinds.get(call.toolName);
    if (kind === undefined) return uncertain;
    const found = yield* (yield* PaymentProvider).findByKey(kind, call.idempotencyKey);
    return Option.isNone(found)
      ? ({ _tag: "safe-to-retry" } as const)
      : yield* answerFrom(kind, found.value);
  },
  Effect.catch(() => Effect.succeed(uncertain)),
);

/** For `register(..., { reconcilers })`: one per tool that asks the provider for money. */
export const moneyReconcilers = Effect.map(
  Effect.context<PaymentProvider | SqlClient.SqlClient>(),
  (services) => {
    const reconcile = (call: LostCall) => Effect.provideContext(reconcileMoney(call), services);
    return Object.fromEntries([...kinds.keys()].map((toolName) => [toolName, reconcile]));
  },
);

/** Only reads: unlike the reconciler it writes nothing into the shop, and it settles nothing. */
const probeMoney = Effect.fn("probeMoney")(function* (call: LostCall) {
  const kind = kinds.get(call.toolName);
  if (kind === undefined)
    return { _tag: "inconclusive", detail: `${call.toolName} moves no money.` } as const;
  const found = yield* (yield* PaymentProvider).findByKey(kind, call.idempotencyKey);
  if (Option.isNone(found))
    return {
      _tag: "not-found",
      detail: `The payment provider has booked no ${kind} under this key so far.`,
    } as const;
  const { amount, created_at, entry_id, outcome } = found.value;
  return {
    _tag: "found",
    detail: `The payment provider's entry ${entry_id} of ${created_at}: ${kind} of ${formatCents(amount)}, ${outcome}.`,
    ...(yield* resultOf(kind, found.value)),
  } satisfies ProbeAnswer;
});

/** For `register(..., { probes })`: the same tools, for the person who has to settle a call in doubt. */
export const moneyProbes = Effect.map(Effect.context<PaymentProvider>(), (services) => {
  const probe: ToolProbe = { ask: (call) => Effect.provideContext(probeMoney(call), services) };
  return Object.fromEntries([...kinds.keys()].map((toolName) => [toolName, probe]));
});
