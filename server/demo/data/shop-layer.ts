/**
 * Fills the shop when the host starts. Without a folder a shop that holds
 * something keeps it, whatever set that is; an empty one gets the bundled set.
 */
import { Effect, Layer } from "effect";

import { bundledShop } from "./bundled-shop.ts";
import { loadedDataSet, loadShop } from "./load-shop.ts";
import { readDataSet } from "./read-data-set.ts";

const fillIfEmpty = Effect.gen(function* () {
  if ((yield* loadedDataSet()) !== undefined) return;
  yield* loadShop(bundledShop()).pipe(
    // Another process filled it meanwhile, with a set of its own choice.
    Effect.catchTag("DataSetConflict", () => Effect.void),
  );
});

/** @param folder a data set folder (`--dataset FOLDER`); `undefined` when none was named */
export const shopLayer = (folder: string | undefined) =>
  Layer.effectDiscard(
    folder === undefined ? fillIfEmpty : Effect.flatMap(readDataSet(folder), loadShop),
  );
