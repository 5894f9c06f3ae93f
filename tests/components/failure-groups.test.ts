import { assert, describe, it } from "vitest";
import { namesTool } from "#components/diagnostics/groups.ts";

describe("a row of the failures", () => {
  const told = [
    "ToolFailed: issue_refund",
    "issue_refund",
    "issue_refund: refused",
    "(issue_refund)",
  ];
  it.each(told)("[OP-04] that says %j does not say its tool again", (title) => {
    assert.isTrue(namesTool(title, "issue_refund"));
  });

  const untold = ["ToolFailed", "reissue_refund failed", "issue_refunds", "issue_refund.all", ""];
  it.each(untold)("[OP-04] that says %j names its tool beside it", (title) => {
    assert.isFalse(namesTool(title, "issue_refund"));
  });

  it("[OP-04] with a tool without a name is not taken for one that is named", () => {
    assert.isFalse(namesTool("anything", ""));
  });
});
