/** Fills the shop when the host starts: the bundled set, or the one that `--dataset FOLDER` names. */
import { Effect, Layer } from "effect";

import { bundledShop } from "./bundled-shop.ts";
import { loadShop } from "./load-shop.ts";
import { readDataSet } from "./read-data-set.ts";

/** @param folder a data set folder; `undefined` for the bundled set */
export const shopLayer = (folder: string | undefined) =>
  Layer.effectDiscard(
    Effect.flatMap(folder === undefined ? Effect.sync(bundledShop) : readDataSet(folder), loadShop),
  );
