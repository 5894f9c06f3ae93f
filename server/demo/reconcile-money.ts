/**
 * What became of a refund or charge whose process was lost: the provider is asked
 * under the call's own key. It books one entry per key, so when it has none the
 * call may run again. When it does not say, a person has to.
 */
import { Effect, Option, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";

import type { ReconcilerAnswer } from "#lib/engine/RunContext.ts";
import type { LostCall } from "#lib/tool-probe.ts";

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

const answerFrom = Effect.fn("reconcileMoney.answer")(function* (
  kind: RequestKind,
  entry: LedgerEntry,
) {
  yield* settleMoneyRequest(entry.idempotency_key, entry);
  if (entry.outcome === "declined") {
    const result = `Error: ${describeDecline(kind, formatCents(entry.amount), entry.decline_reason)}`;
    return { _tag: "completed", result, isFailure: true } as const;
  }
  const { order_id, payment_method_id, amount } = entry;
  const receipt = {
    provider_id: entry.entry_id,
    order_id,
    payment_method_id,
    amount,
    outcome: "completed" as const,
  };
  return {
    _tag: "completed",
    result: yield* Schema.encodeEffect(MoneyReceipt)(receipt),
    isFailure: false,
  } as const;
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
