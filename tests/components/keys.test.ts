import { existsSync } from "node:fs";
import path from "node:path";
import { assert, describe, it } from "@effect/vitest";
import {
  armedMillis,
  guardMillis,
  pressedBy,
  pressOutcome,
} from "#components/approvals/press-guard.ts";
import { keyTable, meaningOf } from "#components/shell/key-table.ts";
import { pageOf, pages } from "#components/shell/pages.ts";

describe("keys", () => {
  it("no key and no pair means two things", () => {
    const written = keyTable.map(
      (row) => `${row.withCommand === true ? "command " : ""}${row.keys.join(" ")}`,
    );
    assert.strictEqual(new Set(written).size, written.length);
    const begins = new Set(
      keyTable.filter((row) => row.keys.length === 2).map((row) => row.keys[0]),
    );
    for (const row of keyTable)
      if (row.keys.length === 1)
        assert.isFalse(begins.has(row.keys[0]) && !row.withCommand, row.does);
  });

  it("every row of the table is what its press means", () => {
    for (const row of keyTable) {
      const [first = "", second] = row.keys;
      const command = row.withCommand === true;
      if (second === undefined)
        assert.deepStrictEqual(meaningOf({ key: first, command, after: undefined }), row.action);
      else {
        assert.strictEqual(meaningOf({ key: first, command, after: undefined }), "begins");
        assert.deepStrictEqual(meaningOf({ key: second, command, after: first }), row.action);
      }
    }
  });

  it("no key decides: the decision keys only move the focus", () => {
    const decide = keyTable.filter((row) => row.group === "Decide").map((row) => row.action);
    assert.sameMembers(decide, ["focus-approve", "focus-deny"]);
  });

  it("every page that is linked has its route with loading and error beside it", () => {
    const routes = path.resolve(import.meta.dirname, "../../app/(console)");
    for (const page of pages) {
      for (const file of ["page.tsx", "loading.tsx", "error.tsx"]) {
        assert.isTrue(existsSync(path.join(routes, page.href, file)), `${page.href}/${file}`);
      }
    }
  });

  it("an address belongs to the longest page that it starts with", () => {
    assert.strictEqual(pageOf("/runs/new")?.name, "New run");
    assert.strictEqual(pageOf("/runs/run-1")?.name, "Runs");
    assert.isUndefined(pageOf("/runsaway"));
  });
});

describe("press guard", () => {
  const calm = { shownAt: 0, armedAt: undefined, keyBeforeAt: Number.NEGATIVE_INFINITY };

  it("[C061] a card that has just appeared takes no press, by key or pointer", () => {
    for (const by of ["keyboard", "pointer"] as const) {
      const now = 1_000 + guardMillis - 1;
      assert.strictEqual(pressOutcome({ ...calm, shownAt: 1_000, now, by }), "ignored");
    }
  });

  it("[C023] a double click arms and does not decide", () => {
    assert.strictEqual(pressOutcome({ ...calm, now: 1_000, by: pressedBy(1) }), "armed");
    const second = { ...calm, armedAt: 1_000, now: 1_050, by: pressedBy(2) };
    assert.strictEqual(pressOutcome(second), "ignored");
  });

  it("[C061] a key in the flow of typing neither arms nor decides", () => {
    const by = pressedBy(0);
    assert.strictEqual(pressOutcome({ ...calm, keyBeforeAt: 900, now: 1_000, by }), "ignored");
    const second = { ...calm, armedAt: 1_000, keyBeforeAt: 1_000, by };
    assert.strictEqual(pressOutcome({ ...second, now: 1_299 }), "ignored");
    assert.strictEqual(pressOutcome({ ...second, now: 1_300 }), "decides");
    assert.strictEqual(pressOutcome({ ...second, keyBeforeAt: 1_250, now: 1_400 }), "ignored");
  });

  it("a second press decides when it follows deliberately, and arms again when it comes too late", () => {
    const second = { ...calm, armedAt: 1_000, by: "pointer" } as const;
    assert.strictEqual(pressOutcome({ ...second, now: 1_200 }), "decides");
    assert.strictEqual(pressOutcome({ ...second, now: 1_001 + armedMillis }), "armed");
  });
});
