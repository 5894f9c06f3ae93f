/** Ten seeded plans in CI; `npm run chaos -- --plans 200 --seed N` runs as many as one likes. */
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import { type ChaosPostgres, startChaosPostgres } from "./chaos/chaos-postgres.ts";
import { describePlan, planOf } from "./chaos/plan.ts";
import { runPlan } from "./chaos/run-plan.ts";
import { bundleFleetHost } from "./fleet/hosts.ts";

const seed = Number(process.env["CHAOS_SEED"] ?? "4");
const plans = 10;

let postgres: ChaosPostgres;
beforeAll(async () => {
  postgres = await startChaosPostgres();
  await bundleFleetHost();
}, 120_000);
afterAll(() => postgres?.stop());

describe("chaos", () => {
  for (let number = 1; number <= plans; number++) {
    const plan = planOf(seed, number);
    it(`[PG-01][PG-08][PG-09][DU-10][DU-12][R69] ${describePlan(plan)}: every invariant holds`, async () => {
      const result = await runPlan(postgres, plan);
      assert.deepStrictEqual(result.findings, []);
    }, 120_000);
  }
});
