/** How every keyset list is asked for. */
import * as Schema from "effect/Schema";

/** The cursor of the page before, as it was given; opaque, at most 500 characters. */
export const PageCursor = Schema.String.check(Schema.isMaxLength(500));

/** 1 to 200 rows. */
export const PageLimit = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 200 }));

/** Query fields that every list has; absent: the first page, of 50 rows. */
export const pagingQuery = {
  cursor: Schema.optionalKey(PageCursor),
  limit: Schema.optionalKey(PageLimit),
};

/** Rows of a page when the request names no limit. */
export const defaultPageLimit = 50;

/** Counts stop here: one row more is asked for, and `capped` says that there are more (C083). */
export const countCap = 10_000;
