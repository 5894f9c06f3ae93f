import * as Schema from "effect/Schema";
import { EpochMillis } from "../ids.ts";
import { page } from "../page-views.ts";
import { RunListItem } from "../run-views.ts";

/** A page of runs. The count may stop below 10,000 where a text is searched: `capped` says "at least". */
export const RunListPage = Schema.Struct({
  ...page(RunListItem).fields,
  /**
   * Present when a text was looked for in the newest runs only, because the database has no index for
   * it: how many runs were looked at, and when the oldest of them was created.
   */
  searched: Schema.optionalKey(Schema.Struct({ rows: Schema.Int, since: EpochMillis })),
});
export type RunListPage = typeof RunListPage.Type;
