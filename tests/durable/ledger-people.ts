/** The people of the model check: they approve or deny, resolve what is in doubt, and abort. */
import { Exit } from "effect";
import { ada, digest } from "#lib/testing/conformance/run-records.ts";
import { ports, runOf, tenantId, type World } from "./ledger-world.ts";

export interface Step {
  readonly name: string;
  readonly world: World;
  /** What this very step did wrong. */
  readonly violation?: string;
}

const changed = (
  name: string,
  world: World,
  done: ReturnType<typeof ports.on>,
): ReadonlyArray<Step> =>
  Exit.isSuccess(done.exit) ? [{ name, world: { ...world, tables: done.tables } }] : [];

/** People: they approve or deny, resolve by the provider's book once nothing is on the wire, and abort. */
export const people = (world: World): ReadonlyArray<Step> => {
  const steps: Array<Step> = [];
  for (const row of world.tables.approvals.values()) {
    if (row.state !== "pending") continue;
    for (const decision of ["approved", "denied"] as const)
      steps.push(
        ...changed(
          `${decision} ${row.callId}`,
          world,
          ports.on(
            world.tables,
            ports.approvals.decide({
              tenantId,
              requestId: row.requestId,
              actor: ada,
              decision,
              parametersDigest: digest("a"),
              reason: "model",
              commandId: null,
            }),
          ),
        ),
      );
  }
  for (const row of world.tables.unknowns.values()) {
    const isOnTheWire = world.workers.some(
      (worker) => worker?.handler?.callId === row.callId && worker.handler.phase === "prepared",
    );
    if (row.state !== "open" || row.afterSettlement || isOnTheWire) continue;
    const happened = (world.provider[row.callId] ?? 0) > 0;
    steps.push(
      ...changed(
        `resolved ${row.callId}`,
        world,
        ports.on(
          world.tables,
          ports.unknowns.resolve({
            tenantId,
            unknownId: row.unknownId,
            actor: ada,
            ...(happened
              ? { resolution: "completed-with-result", result: "done", isFailure: false }
              : { resolution: "never-happened" }),
            parametersDigest: digest("a"),
            reason: "model",
            evidence: "the provider's book",
            commandId: null,
          }),
        ),
      ),
    );
  }
  if (world.budget.aborts > 0)
    steps.push(
      ...changed(
        "abort",
        { ...world, budget: { ...world.budget, aborts: world.budget.aborts - 1 } },
        ports.on(
          world.tables,
          ports.ledger.abort({
            tenantId,
            runId: runOf(world).runId,
            actor: ada,
            reason: "model",
            commandId: null,
          }),
        ),
      ),
    );
  return steps;
};
