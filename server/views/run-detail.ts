import * as Effect from "effect/Effect";
import type { RunId, TenantId } from "#lib/contract/ids.ts";
import { AgentCatalogue } from "./AgentCatalogue.ts";
import { assembleRun } from "./assemble-run.ts";
import { readAbort, readCalls, readRun, readShownRecords } from "./run-rows.ts";
import { inSnapshot, newest } from "./snapshot.ts";

/** Everything a run's page shows, of one moment; `NotFound` for a missing or foreign run. */
export const readRunDetail = Effect.fn("views.readRunDetail")(function* (
  tenantId: TenantId,
  runId: RunId,
) {
  const catalogue = yield* AgentCatalogue;
  const read = yield* inSnapshot(
    tenantId,
    Effect.all({
      run: readRun(tenantId, runId),
      abort: readAbort(tenantId, runId),
      calls: readCalls(tenantId, runId),
      records: readShownRecords(tenantId, runId),
      newest: newest(tenantId),
    }),
  );
  const policy = yield* catalogue.policyOf(read.run.agentId);
  return assembleRun({ ...read, policy, asOf: read.newest.last, serverTime: read.newest.now });
});
