/** What every route of a kind may answer besides its success, so that no route forgets one. */
import { Forbidden, NotFound, StoreUnavailable } from "../errors.ts";

/** A list: the role may not look (Z-12), or the store cannot answer. */
export const listRefusals = [Forbidden, StoreUnavailable] as const;

/** One noun by id: the same, or no such id in this tenant (a foreign id looks like a missing one, C042). */
export const readRefusals = [Forbidden, NotFound, StoreUnavailable] as const;
