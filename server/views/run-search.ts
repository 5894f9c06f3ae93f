/**
 * The text of the run list's filter: the beginning of an id, or a part of a title. A text that many runs
 * have is met soon on the walk of the other filters; one that few have is found by its own index. Where
 * the database has no index for it (`pg_trgm` is not installed, or the text is too short for one), the
 * newest runs are looked at, and the answer says how many.
 */
import type { SqlClient } from "effect/unstable/sql/SqlClient";
import type { Fragment } from "effect/unstable/sql/Statement";

export interface RunSearch {
  /** Whether a row `r` matches, which has `run_id`, `thread_id` and `title`. */
  readonly matches: Fragment;
  /** `FROM ... WHERE` of the matching rows as `f`, by an index of their own; undefined: there is none. */
  readonly found: Fragment | undefined;
  /** `found` needs the index of trigrams, which a database may lack. */
  readonly needsTrigrams: boolean;
}

/** `%`, `_` and `\` mean themselves in what a person searches for. */
const likePattern = (text: string): string => text.replaceAll(/[\\%_]/g, (found) => `\\${found}`);

/** The start of an id of ours: hexadecimal, so that a range of the index holds it in every collation. */
const idText = /^(?:run|thr)_[0-9a-f]{1,32}$/;

/** Three letters or digits in a row: what an index of trigrams can look up. */
const trigramText = /[\p{L}\p{N}]{3}/u;

const idSearch = (sql: SqlClient, tenantId: string, text: string): RunSearch => {
  const column = text.startsWith("run_") ? "run_id" : "thread_id";
  const range = (row: "r" | "f"): Fragment => {
    const id = sql.literal(`${row}.${column}`);
    return sql`(${id} >= ${text} AND ${id} < ${`${text}z`})`;
  };
  return {
    matches: range("r"),
    found: sql`FROM runs f WHERE f.tenant_id = ${tenantId} AND ${range("f")}`,
    needsTrigrams: false,
  };
};

export const runSearch = (sql: SqlClient, tenantId: string, text: string): RunSearch => {
  if (idText.test(text)) return idSearch(sql, tenantId, text);
  const pattern = `%${likePattern(text)}%`;
  return {
    matches: sql`r.title ILIKE ${pattern}`,
    found: trigramText.test(text)
      ? // Asks for the transaction's tenant itself: below its policy this search would have no index (0029).
        sql`FROM titles_like(${pattern}) f WHERE true`
      : undefined,
    needsTrigrams: true,
  };
};
