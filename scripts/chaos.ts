/**
 * `npm run chaos [-- --plans N] [--seed N] [--plan K] [--from K]`: runs seeded random
 * plans against real host processes and a PostgreSQL of their own, and checks every
 * invariant at the end of each. `--plan K` runs one plan of a seed again.
 */
import { parseArgs } from "node:util";
import { startChaosPostgres } from "#tests/crash/chaos/chaos-postgres.ts";
import { describePlan, planOf } from "#tests/crash/chaos/plan.ts";
import { type PlanResult, runPlan } from "#tests/crash/chaos/run-plan.ts";
import { bundleFleetHost } from "#tests/crash/fleet/hosts.ts";

const { values } = parseArgs({
  options: {
    plans: { type: "string", default: "200" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
    plan: { type: "string" },
    from: { type: "string", default: "1" },
  },
});
const seed = Number(values.seed);
const first = Number(values.plan ?? values.from);
const last = values.plan === undefined ? first + Number(values.plans) - 1 : first;
if (![seed, first, last].every(Number.isInteger)) {
  console.error("--plans, --seed, --plan and --from take whole numbers.");
  process.exit(2);
}

await bundleFleetHost();
const postgres = await startChaosPostgres();
const results: Array<PlanResult> = [];
try {
  console.log(`chaos: seed ${seed}, plans ${first} to ${last}`);
  for (let number = first; number <= last; number++) {
    const plan = planOf(seed, number);
    const result = await runPlan(postgres, plan);
    results.push(result);
    console.log(
      `${result.findings.length === 0 ? "ok    " : "BROKEN"} ${result.seconds.toFixed(1).padStart(5)} s  ${describePlan(plan)}; ${result.settled} settled, ${result.effects} effects, ${result.kills} kills, ${result.refused} refused`,
    );
    for (const finding of result.findings) console.log(`       ${finding}`);
    if (result.findings.length > 0)
      console.log(
        `       again: npm run chaos -- --seed ${seed} --plan ${number}\n${result.output.slice(-8_000)}`,
      );
  }
} finally {
  await postgres.stop();
}
const sum = (pick: (result: PlanResult) => number) =>
  results.reduce((total, result) => total + pick(result), 0);
const broken = results.filter((result) => result.findings.length > 0).length;
console.log(
  `chaos: seed ${seed}, ${results.length} plans, ${sum((one) => one.runs)} runs, ${sum((one) => one.effects)} effects, ${sum((one) => one.kills)} kills, ${sum((one) => one.restarts)} PostgreSQL restarts, ${sum((one) => one.refused)} refused writes, ${broken} broken`,
);
process.exitCode = broken === 0 ? 0 : 1;
