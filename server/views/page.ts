/** One page of a keyset list with its capped count (C082, C083). */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import type { SqlError } from "effect/unstable/sql/SqlError";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { Fragment } from "effect/unstable/sql/Statement";
import { countCap, defaultPageLimit } from "#lib/contract/http/paging.ts";
import type { TenantId } from "#lib/contract/ids.ts";
import { encodeCursor } from "./cursor.ts";
import { decodeRows, newest } from "./snapshot.ts";

export interface Page<Item> {
  readonly items: ReadonlyArray<Item>;
  readonly next?: string;
  readonly count: { readonly value: number; readonly capped: boolean };
  readonly asOf: number;
}

export interface PageRequest<Row> {
  readonly tenantId: TenantId;
  readonly limit: number | undefined;
  readonly schema: Schema.ConstraintDecoder<Row>;
  /** The rows of the page, one more than `limit` where there are more; sorted, after the cursor. */
  readonly rows: (limit: number) => Effect.Effect<ReadonlyArray<unknown>, SqlError>;
  /** `FROM ... WHERE ...` of the whole filter, without the cursor and without what a row only shows. */
  readonly matching: Fragment;
  /** Whether there are more rows than these; by default, whether they are more than `limit`. */
  readonly isMore?: (rows: ReadonlyArray<Row>) => boolean;
  /** Values of the sort columns, which the next page goes on after. */
  readonly cursorOf: (row: Row) => ReadonlyArray<string>;
}

const Counted = Schema.Struct({ count: Schema.Int });

/** Counts the rows of a query, which is given the most that it needs to find. */
export const countOf = (rows: (most: number) => Fragment) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeRows(Counted)(
      sql`SELECT count(*)::int4 AS count FROM (${rows(countCap + 1)}) AS counted`,
    ),
  ).pipe(
    Effect.map((found) => {
      const count = found[0]?.count ?? 0;
      return { value: Math.min(count, countCap), capped: count > countCap };
    }),
  );

/** Call it inside `inSnapshot`: rows, count and `asOf` are of one moment. */
export const readPage = <Row>(request: PageRequest<Row>) =>
  Effect.gen(function* () {
    const limit = request.limit ?? defaultPageLimit;
    const found = yield* decodeRows(request.schema)(request.rows(limit + 1));
    const sql = yield* SqlClient;
    const count = yield* countOf((most) => sql`SELECT 1 ${request.matching} LIMIT ${most}`);
    const { last } = yield* newest(request.tenantId);
    const items = found.slice(0, limit);
    const end = items.at(-1);
    const isMore = found.length > limit || request.isMore?.(found) === true;
    const page: Page<Row> = {
      items,
      count,
      asOf: last,
      ...(isMore && end !== undefined ? { next: encodeCursor(request.cursorOf(end)) } : {}),
    };
    return page;
  });
