/** Where the public retail data set lies, if it does: it is no part of the product. */
import { existsSync } from "node:fs";
import path from "node:path";

const folder = process.env["TAU_RETAIL"] ?? path.resolve("../shared/data/tau-retail");

export const publicDataSet: string | undefined = existsSync(path.join(folder, "tasks.json"))
  ? folder
  : undefined;

if (publicDataSet === undefined) {
  console.warn(
    `Tests of the public retail data set are skipped: there is none in ${folder}. Set TAU_RETAIL to its folder.`,
  );
}
