import * as Effect from "effect/Effect";
import type { RunId, TenantId } from "#lib/contract/ids.ts";
import { AgentCatalogue } from "./AgentCatalogue.ts";
import { assembleRun } from "./assemble-run.ts";
import { readAbort, readCalls, readRun, readShownRecords } from "./run-rows.ts";
import { turnsBetween } from "./run-turns.ts";
import { readWindow } from "./run-window.ts";
import { inSnapshot, newest } from "./snapshot.ts";

/**
 * The run as a whole, without its turns: what of a run's page no event tells. In the caller's snapshot;
 * `NotFound` for a missing or foreign run.
 */
export const readRunFrame = Effect.fnUntraced(function* (tenantId: TenantId, runId: RunId) {
  const run = yield* readRun(tenantId, runId);
  const records = yield* readShownRecords(tenantId, runId, Number.MAX_SAFE_INTEGER);
  const { last, now } = yield* newest(tenantId);
  return assembleRun({
    run,
    records,
    abort: null,
    calls: [],
    earlier: { turns: 0, calls: 0 },
    opening: [],
    policy: yield* (yield* AgentCatalogue).policyOf(run.agentId),
    asOf: last,
    serverTime: now,
  });
});

/**
 * What a run's page opens with, of one moment: the run and its newest turns (`run-window.ts`).
 * `NotFound` for a missing or foreign run.
 */
export const readRunDetail = Effect.fn("views.readRunDetail")(function* (
  tenantId: TenantId,
  runId: RunId,
) {
  const catalogue = yield* AgentCatalogue;
  const read = yield* inSnapshot(
    tenantId,
    Effect.gen(function* () {
      const run = yield* readRun(tenantId, runId);
      const window = yield* readWindow(tenantId, runId);
      return {
        run,
        earlier: window.earlier,
        opening:
          window.openingTurn === undefined
            ? []
            : yield* turnsBetween(tenantId, runId, window.openingTurn, window.openingTurn),
        abort: yield* readAbort(tenantId, runId),
        calls: yield* readCalls(tenantId, runId, window.firstTurn),
        records: yield* readShownRecords(tenantId, runId, window.firstSequence),
        newest: yield* newest(tenantId),
      };
    }),
  );
  const policy = yield* catalogue.policyOf(read.run.agentId);
  return assembleRun({ ...read, policy, asOf: read.newest.last, serverTime: read.newest.now });
});
