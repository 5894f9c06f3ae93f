/** What the model was shown in one turn, how it differs from the turn before, and why a tool was not there (OP-02). */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { ExposureSnapshot } from "#lib/contract/exposure.ts";
import type { RunId, TenantId } from "#lib/contract/ids.ts";
import type { ExposureExplanation, ExposureView } from "#lib/contract/run-views.ts";
import { explainExposure } from "#lib/exposure/explain.ts";
import { AgentCatalogue } from "./AgentCatalogue.ts";
import { notFound, requireRun } from "./require-run.ts";
import { requireWholeLog } from "./records-then.ts";
import { decodeShown, shownColumns } from "./shown-records.ts";
import { decodeRows, inSnapshot } from "./snapshot.ts";

/** The snapshots of the turn and of the one before it, by turn. */
const readSnapshots = (tenantId: TenantId, runId: RunId, turn: number) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeShown(tenantId)(sql`
      SELECT ${sql.literal(shownColumns)} FROM turns t JOIN journal_records j
        ON j.tenant_id = t.tenant_id AND j.thread_id = t.thread_id AND j.sequence = t.record_sequence
      WHERE t.tenant_id = ${tenantId} AND t.run_id = ${runId} AND t.turn IN (${turn}, ${turn - 1})`),
  ).pipe(
    Effect.map(
      (rows) =>
        new Map(
          rows.flatMap(({ record }): Array<[number, ExposureSnapshot]> =>
            record._tag === "TurnRecorded" ? [[record.turn, record.exposure]] : [],
          ),
        ),
    ),
  );

const Turns = Schema.Struct({ turns: Schema.Int });

/** How many turns of the run had been recorded after an event of the log. */
const turnsThrough = Effect.fnUntraced(function* (tenantId: TenantId, runId: RunId, at: number) {
  const sql = yield* SqlClient;
  yield* requireWholeLog(tenantId, runId);
  const rows = yield* decodeRows(Turns)(sql`
    SELECT count(*)::int4 AS turns FROM events WHERE tenant_id = ${tenantId} AND run_id = ${runId}
      AND sequence <= ${at}::float8::bigint AND kind = 'TurnRecorded'`);
  return rows[0]?.turns ?? 0;
});

/** What had not been recorded by then is not found, as it was not there then. */
const readTurn = (tenantId: TenantId, runId: RunId, turn: number, at: number | undefined) =>
  inSnapshot(
    tenantId,
    Effect.gen(function* () {
      const run = yield* requireRun(tenantId, runId);
      const turns = at === undefined ? turn : yield* turnsThrough(tenantId, runId, at);
      if (turn > turns) return yield* notFound("turn of this run by then");
      const snapshots = yield* readSnapshots(tenantId, runId, turn);
      const exposure = snapshots.get(turn);
      if (exposure === undefined) return yield* notFound("turn");
      return { run, exposure, before: snapshots.get(turn - 1) };
    }),
  );

export const readExposure = Effect.fn("views.readExposure")(function* (
  tenantId: TenantId,
  runId: RunId,
  turn: number,
  at?: number,
) {
  const { exposure, before } = yield* readTurn(tenantId, runId, turn, at);
  const shown = new Set(exposure.exposed);
  const shownBefore = new Set(before?.exposed ?? []);
  const view: ExposureView = {
    turn,
    exposure,
    added: [...shown].filter((name) => !shownBefore.has(name)),
    removed: [...shownBefore].filter((name) => !shown.has(name)),
  };
  return view;
});

export const readExposureExplanation = Effect.fn("views.readExposureExplanation")(function* (
  tenantId: TenantId,
  runId: RunId,
  turn: number,
  toolName: string,
  at?: number,
) {
  const { run, exposure } = yield* readTurn(tenantId, runId, turn, at);
  const agents = yield* (yield* AgentCatalogue).list();
  const agent = agents.find(
    (candidate) =>
      candidate.agentId === run.agentId &&
      // The tools of another definition than the run's say nothing about what it could have been shown.
      (at === undefined || candidate.definitionDigest === run.definitionDigest),
  );
  const view: ExposureExplanation = {
    toolName,
    turn,
    ...explainExposure(
      toolName,
      exposure,
      agent === undefined ? {} : { registered: agent.tools.map((tool) => tool.name) },
    ),
  };
  return view;
});
