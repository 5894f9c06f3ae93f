/** What every list answers with. */
import * as Schema from "effect/Schema";
import { Sequence } from "./ids.ts";

/** A page of a keyset list: `next` is an opaque cursor, absent on the last page. */
export const page = <Item extends Schema.Top>(item: Item) =>
  Schema.Struct({
    items: Schema.Array(item),
    next: Schema.optionalKey(Schema.String),
    /** Rows that match the filter, counted to at most 10,000; `capped` says the count stopped there. */
    count: Schema.Struct({ value: Schema.Int, capped: Schema.Boolean }),
    /** The event sequence that this answer reflects. */
    asOf: Sequence,
  });
