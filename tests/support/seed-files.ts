/** The examples of the product's own description, where they stand beside this repository. */
import { existsSync } from "node:fs";

const folder = new URL("../../../shared/seed-examples/", import.meta.url);

export const isThere = existsSync(folder);
// eslint-disable-next-line no-console -- a skipped suite must say why
if (!isThere)
  console.warn(
    `${folder.pathname} does not exist: the seed examples are not loaded, only what they must do is checked.`,
  );

/** What a file exports is what it says there, which no import by name can know. */
export const load = async <Module = Readonly<Record<string, unknown>>>(
  name: string,
): Promise<Module> => (await import(/* @vite-ignore */ new URL(name, folder).href)) as Module;
