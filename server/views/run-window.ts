/**
 * How much of a run one answer carries. Its newest turns come with the run, at most some 80 calls of
 * them, because they are what changes, and its first turn, because the page opens on it; the turns
 * between are read ten at a time as somebody scrolls to them, and the timeline reads only when things
 * happened. Long values are cut in all of
 * them: the whole of one is behind its own route.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { RunId, TenantId } from "#lib/contract/ids.ts";
import { decodeRows } from "./snapshot.ts";

/** Calls that come with a look at a run's past; its newest turn then always comes whole. */
export const windowCalls = 300;
/** Calls that come with the run itself, which is read again after each of its events: about a screen or two. */
export const pageCalls = 80;

const TurnSize = Schema.Struct({ turn: Schema.Int, calls: Schema.Int, sequence: Schema.Int });

export interface RunWindow {
  /** The first turn that comes with the run; 1 when all do. */
  readonly firstTurn: number;
  /** The journal sequence of that turn's record; 0 when every record is read. */
  readonly firstSequence: number;
  readonly earlier: { readonly turns: number; readonly calls: number };
  /** Its first turn, where that does not come with the run and fits a page; the page opens on it. */
  readonly openingTurn: number | undefined;
}

/** Pure: which of the turns, given in order with the number of their calls, still fit. */
export const windowOf = (
  turns: ReadonlyArray<typeof TurnSize.Type>,
  most = windowCalls,
): RunWindow => {
  let calls = 0;
  let first = turns.length;
  while (first > 0) {
    const turn = turns[first - 1];
    if (turn === undefined) break;
    if (first < turns.length && calls + turn.calls > most) break;
    // A turn without calls takes room too.
    calls += Math.max(1, turn.calls);
    first -= 1;
  }
  const earlier = turns.slice(0, first);
  const shown = turns[first];
  return {
    firstTurn: first === 0 ? 1 : (shown?.turn ?? 1),
    firstSequence: first === 0 ? 0 : (shown?.sequence ?? 0),
    earlier: {
      turns: earlier.length,
      calls: earlier.reduce((sum, turn) => sum + turn.calls, 0),
    },
    openingTurn: earlier[0] === undefined || earlier[0].calls > most ? undefined : earlier[0].turn,
  };
};

export const readWindow = (tenantId: TenantId, runId: RunId) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeRows(TurnSize)(sql`
      SELECT turn, call_count AS calls, record_sequence::float8 AS sequence FROM turns
      WHERE tenant_id = ${tenantId} AND run_id = ${runId} ORDER BY turn`),
  ).pipe(Effect.map((turns) => windowOf(turns, pageCalls)));
