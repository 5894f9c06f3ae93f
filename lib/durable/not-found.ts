import { NotFound } from "#lib/contract/errors.ts";

/** The same sentence for a foreign id and a missing one (C042). */
export const notFound = (what: string): NotFound =>
  new NotFound({ message: `There is no ${what} with this id.`, what });
