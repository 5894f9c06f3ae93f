/** What every route of a kind may answer besides its success, so that no route forgets one. */
import { Forbidden, NotFound, RunArchived, StoreUnavailable } from "../errors.ts";

/** A list: the role may not look (Z-12), or the store cannot answer. */
export const listRefusals = [Forbidden, StoreUnavailable] as const;

/** One noun by id: the same, or no such id in this tenant (a foreign id looks like a missing one, C042). */
export const readRefusals = [Forbidden, NotFound, StoreUnavailable] as const;

/** One run by id, or anything of it, also by an id of its own: the same, or it was put away because of its age. */
export const runRefusals = [...readRefusals, RunArchived] as const;

/** A list that may be asked for one run's rows, which an archive takes with the run. */
export const runListRefusals = [...listRefusals, RunArchived] as const;
