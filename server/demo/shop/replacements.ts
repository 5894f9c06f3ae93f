/**
 * The rules that an exchange of a delivered order and a change of a pending one
 * share: which items go, which come, and what the difference costs.
 */
import { Effect } from "effect";

import { amountOfCents } from "../data/money.ts";
import type { ItemOptions } from "../data/records.ts";
import type { OrderRow } from "./orders.ts";
import { availableVariant } from "./products.ts";
import { refuse } from "./Refusal.ts";

export interface Replacement {
  readonly from: string;
  readonly to: {
    readonly item_id: string;
    readonly price_cents: number;
    readonly options: ItemOptions;
  };
}

export interface ReplacementPlan {
  readonly replacements: ReadonlyArray<Replacement>;
  /** What the customer owes (positive) or gets back (negative), exactly. */
  readonly differenceCents: number;
  /**
   * The difference as the order's history shows it: prices subtracted and added
   * as floating-point dollars in order of the items, tails and all
   * (41.91999999999999). The public data sets record it so; it is never paid.
   */
  readonly recordedDifference: number;
}

const countOf = (ids: ReadonlyArray<string>, id: string) =>
  ids.filter((each) => each === id).length;

/** The first of `ids` that occurs more often there than in the order. */
export const missingItem = (order: OrderRow, ids: ReadonlyArray<string>): string | undefined => {
  const ordered = order.items.map(({ item_id }) => item_id);
  return ids.find((id) => countOf(ids, id) > countOf(ordered, id));
};

/** Checks the exchange and prices it; refuses with the shop's words. */
export const planReplacements = Effect.fn("replacements.plan")(function* (
  order: OrderRow,
  itemIds: ReadonlyArray<string>,
  newItemIds: ReadonlyArray<string>,
) {
  const missing = missingItem(order, itemIds);
  if (missing !== undefined) return yield* refuse(`${missing} not found`);
  if (itemIds.length !== newItemIds.length) {
    return yield* refuse("the number of items to be exchanged should match");
  }
  const replacements: Array<Replacement> = [];
  let differenceCents = 0;
  let recordedDifference = 0;
  for (const [index, from] of itemIds.entries()) {
    const item = order.items.find(({ item_id }) => item_id === from);
    const newItemId = newItemIds[index];
    if (item === undefined || newItemId === undefined) return yield* refuse(`${from} not found`);
    const to = yield* availableVariant(item.product_id, newItemId);
    differenceCents += to.price_cents - item.price_cents;
    recordedDifference += amountOfCents(to.price_cents) - amountOfCents(item.price_cents);
    replacements.push({ from, to });
  }
  const plan: ReplacementPlan = { replacements, differenceCents, recordedDifference };
  return plan;
});
