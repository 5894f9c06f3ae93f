import { assert, describe, it } from "vitest";
import { Context } from "effect";
import { readDiscovery } from "#lib/client/discovery-result.ts";
import type { ToolCallView } from "#lib/contract/run-views.ts";
import { Digest, ToolCallId } from "#lib/contract/ids.ts";
import { DiscoveryBounds, make } from "#lib/tool-discovery.ts";

const call = (more: Partial<ToolCallView>): ToolCallView => ({
  turn: 1,
  index: 0,
  callId: ToolCallId.make("call-1"),
  toolName: "discover_tools",
  state: "succeeded",
  executionClass: "readonly",
  providerExecuted: false,
  parameters: { query: "sales", namespace: "reports" },
  effectiveParameters: null,
  parametersDigest: Digest.make("0".repeat(64)),
  failureMode: "error",
  failureHandling: null,
  failure: null,
  result: {
    toolNames: ["report_sales"],
    matches: [
      { name: "report_sales", namespace: "reports", description: "Sales by product", extra: 1 },
    ],
    notice: "Narrow the search.",
  },
  hasResult: true,
  isFailure: false,
  originalBytes: 1_234,
  selection: ["report_sales"],
  approvalRequestId: null,
  unknownId: null,
  idempotencyKey: null,
  declaredAt: 0,
  requestedAt: null,
  decidedAt: null,
  startedAt: 0,
  endedAt: 1,
  ...more,
});

describe("a discovery call as people read it", () => {
  it("[OP-03] says what was asked, found and activated, with its notice and size", () => {
    assert.deepStrictEqual(readDiscovery(call({})), {
      query: "sales",
      namespace: "reports",
      matches: [{ name: "report_sales", namespace: "reports", description: "Sales by product" }],
      notice: "Narrow the search.",
      activated: ["report_sales"],
      bytes: 1_234,
    });
  });

  it("[OP-03] a result that was cut for the model still shows its whole selection, and says that matches are missing", () => {
    const reading = readDiscovery(
      call({
        result: { truncated: true, format: "json", originalBytes: 90_000, head: "{", tail: "}" },
      }),
    );
    assert.isUndefined(reading?.matches);
    assert.deepStrictEqual(reading?.activated, ["report_sales"]);
  });

  it("a call that selects nothing is no discovery call, and hostile results are read as far as they go", () => {
    assert.isUndefined(readDiscovery(call({ selection: null })));
    assert.deepStrictEqual(
      readDiscovery(call({ result: { matches: [null, 1, { name: 2 }, { name: "a" }] } }))?.matches,
      [{ name: "a", namespace: undefined, description: undefined }],
    );
  });

  it("[OP-03] the budget it is read against is the tool's own", () => {
    const { tool } = make({ maxResults: 5, maxResultBytes: 4_096 });
    assert.deepStrictEqual(Context.get(tool.annotations, DiscoveryBounds), {
      maxResults: 5,
      maxResultBytes: 4_096,
    });
  });
});
