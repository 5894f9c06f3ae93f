import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import { type Failpoint, failpoints } from "#lib/testing/failpoints.ts";
import { makeTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import {
  bundleHost,
  bundleTarget,
  drillAt,
  drillSummary,
  type DrillRow,
  prepareDrill,
} from "./drill.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await makeTestDatabase();
  await bundleHost();
  await prepareDrill(database.url);
}, 120_000);
afterAll(() => database.drop());

const expectSound = (row: DrillRow) => {
  assert.isTrue(row.killed, `nothing was killed at ${row.failpoint}`);
  assert.strictEqual(row.duplicated, 0, `${row.failpoint} duplicated an effect`);
  assert.strictEqual(row.lost, 0, `${row.failpoint} lost an effect`);
  assert.strictEqual(row.settlements, 1, `${row.failpoint} has ${row.settlements} settlements`);
  assert.isFalse(row.stuck, `${row.failpoint} left work stuck`);
  // A step's body runs again only where its success was not recorded (DU-18).
  if (row.outcome === "completed")
    assert.strictEqual(row.bodies, row.failpoint === "before:append:StepRecorded" ? 2 : 1);
};

describe("kill -9 at every failpoint", () => {
  it("[PG-09][DU-04][DU-10][DU-14][DU-18][CM-01][R62][C101] no effect is duplicated or lost, every run is settled once, nothing is stuck", async () => {
    const rows: Array<DrillRow> = [];
    for (const [number, failpoint] of failpoints.entries()) {
      const row = await drillAt(database.url, failpoint, number);
      rows.push(row);
      expectSound(row);
    }
    assert.match(drillSummary(rows), /, 0 duplicated, 0 lost, 0 stuck$/);
  }, 900_000);
});

describe("a tool of one's own as the target", () => {
  it("[PG-09][DU-04] is killed before, in the middle of and after its effect; its own ledger has each effect at most once", async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), "effect-agent-drill-target-"));
    process.env["SAMPLE_LEDGER"] = path.join(folder, "ledger.txt");
    try {
      const target = await bundleTarget("tests/crash/sample-target.ts#wire");
      const places: ReadonlyArray<Failpoint> = [
        "handler:before-effect",
        "handler:during-effect",
        "handler:after-effect",
        "before:append:ToolCallSettled",
      ];
      const rows: Array<DrillRow> = [];
      for (const [number, failpoint] of places.entries())
        rows.push(await drillAt(database.url, failpoint, 1_000 + number, target));
      for (const row of rows) {
        assert.strictEqual(row.outcome, "completed");
        assert.strictEqual(row.effects, 2, row.failpoint);
      }
      assert.strictEqual(drillSummary(rows), "drill: 4 failpoints, 0 duplicated, 0 lost, 0 stuck");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }, 180_000);
});
