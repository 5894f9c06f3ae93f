import { assert, describe, it } from "@effect/vitest";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import * as Tool from "effect/unstable/ai/Tool";
import fc from "fast-check";
import { ToolExecutionClass } from "#lib/durable-step.ts";
import { resolveExposureConfig } from "#lib/exposure/exposure-config.ts";
import { boundResult } from "#lib/contract/json/bounded-result.ts";
import { resolveExposure } from "#lib/exposure/resolve-exposure.ts";
import { readSelection, selectionAfterBatch } from "#lib/exposure/select.ts";
import { DiscoveryTool, Selection } from "#lib/tool-exposure.ts";
import { finder, plain, toolRecord } from "./sample-tools.ts";

const call = { toolCallId: "call_1", toolName: "find" };
const tools = toolRecord(plain("a"), plain("b"), finder("find"));
const refused = (decoded: unknown): string => {
  const result = readSelection(call, decoded, tools);
  return Result.isFailure(result)
    ? `${result.failure.reason}: ${result.failure.message}`
    : "selected";
};

describe("selection", () => {
  it("[D-15] a selection is read from toolNames of the decoded result, each name once", () => {
    assert.deepStrictEqual(
      Result.getOrThrow(readSelection(call, { toolNames: ["b", "a", "b"], more: 1 }, tools)),
      ["b", "a"],
    );
    assert.deepStrictEqual(Result.getOrThrow(readSelection(call, { toolNames: [] }, tools)), []);
  });

  it("[D-15] a result that selects anything but registered names is a typed refusal", () => {
    for (const decoded of [
      undefined,
      null,
      "a",
      {},
      { toolNames: "a" },
      { toolNames: [1] },
      { toolNames: ["gone"] },
      { toolNames: ["__proto__"] },
      { toolNames: ["toString"] },
    ]) {
      assert.match(refused(decoded), /^invalid-selection: The discovery tool "find" /);
    }
    assert.include(
      refused({ toolNames: Array.from({ length: 1_025 }, () => "a") }),
      "selected 1025 tools; at most 1024",
    );
  });

  it("[X-11] the last selection in declaration order wins; [X-10] empty clears, failures and other calls change nothing", () => {
    const previous = { source: "host", toolNames: ["a"] } as const;
    const found = (...toolNames: ReadonlyArray<string>) => ({
      isFailure: false,
      selection: toolNames,
    });
    assert.deepStrictEqual(selectionAfterBatch(previous, [found("b"), found("a", "b")]), {
      source: "discovery",
      toolNames: ["a", "b"],
    });
    assert.deepStrictEqual(selectionAfterBatch(previous, [found("b"), found()]), {
      source: "cleared",
      toolNames: [],
    });
    assert.strictEqual(
      selectionAfterBatch(previous, [{ isFailure: true, selection: ["b"] }, { isFailure: false }]),
      previous,
    );
    assert.deepStrictEqual(selectionAfterBatch(previous, [found("b"), { isFailure: true }]), {
      source: "discovery",
      toolNames: ["b"],
    });
    assert.isUndefined(selectionAfterBatch(undefined, []));
  });

  it("[D-17] [X-12] a discovery result over the result bound is truncated for the model, and its selection stays whole", () => {
    const many = toolRecord(
      finder("find"),
      ...Array.from({ length: 60 }, (_, index) => plain(`tool_${index}`)),
    );
    const toolNames = Object.keys(many).filter((name) => name !== "find");
    const result = {
      toolNames,
      matches: toolNames.map((id) => ({ id, description: "x".repeat(3_000) })),
    };
    const selection = Result.getOrThrow(readSelection(call, result, many));
    const shown = JSON.stringify(boundResult(result));
    assert.isAtMost(Buffer.byteLength(shown), 51_200);
    assert.include(shown, '"truncated":true');
    assert.deepStrictEqual(selection, toolNames);
    const after = selectionAfterBatch(undefined, [{ isFailure: false, selection }]);
    assert.strictEqual(
      Result.getOrThrow(resolveExposure({ tools: many, selection: after })).exposed.length,
      61,
    );
  });

  it("[X-11] no order of completion can change the outcome, because none is an input", () => {
    const settled = fc.array(
      fc.record({
        isFailure: fc.boolean(),
        selection: fc.option(fc.array(fc.constantFrom("a", "b")), { nil: undefined }),
      }),
    );
    fc.assert(
      fc.property(settled, (batch) => {
        const after = selectionAfterBatch(undefined, batch);
        const winners = batch.filter((item) => !item.isFailure && item.selection !== undefined);
        assert.deepStrictEqual(after?.toolNames, winners.at(-1)?.selection);
      }),
    );
  });

  it("[X-15] a host selection is a schema value of at most 1,024 names", () => {
    assert.deepStrictEqual(Selection.make({ toolNames: ["search_records"] }).toolNames, [
      "search_records",
    ]);
    assert.throws(() => Selection.make({ toolNames: Array.from({ length: 1_025 }, String) }));
  });
});

describe("exposure configuration", () => {
  const message = (
    options: Parameters<typeof resolveExposureConfig>[2],
    registered = tools,
  ): string => {
    const result = resolveExposureConfig("agent", registered, options);
    return Result.isFailure(result) ? result.failure.message : "accepted";
  };

  it("[X-02] defaults are 64 tools and 262,144 bytes; ceilings are 1,024 and 4 MiB", () => {
    assert.deepStrictEqual(Result.getOrThrow(resolveExposureConfig("agent", tools, {})), {
      initialToolNames: [],
      maxTools: 64,
      maxSchemaBytes: 262_144,
    });
    assert.strictEqual(message({ maxTools: 1_024, maxSchemaBytes: 4_194_304 }), "accepted");
    for (const options of [
      { maxTools: 1_025 },
      { maxTools: 0 },
      { maxTools: 1.5 },
      { maxSchemaBytes: 4_194_305 },
      { maxSchemaBytes: Number.NaN },
    ]) {
      assert.include(message(options), "toolExposure is invalid");
    }
  });

  it("[X-02] an unregistered initial name is refused when the agent is defined, toString and __proto__ included", () => {
    for (const name of ["gone", "toString", "__proto__"]) {
      assert.include(
        message({ initialToolNames: [name] }),
        `names ${JSON.stringify(name)}, which is not registered`,
      );
    }
  });

  it("[X-01] limits without a selection keep every tool, unless there is a discovery tool", () => {
    const config = Result.getOrThrow(
      resolveExposureConfig("agent", toolRecord(plain("a"), plain("b")), { maxTools: 3 }),
    );
    assert.deepStrictEqual(config?.initialToolNames, ["a", "b"]);
    assert.isUndefined(Result.getOrThrow(resolveExposureConfig("agent", tools, undefined)));
  });

  it("[D-15] a discovery tool must be readonly and run here", () => {
    const uncertain = Tool.make("search").annotate(DiscoveryTool, true);
    assert.include(
      message(undefined, toolRecord(uncertain)),
      'has the execution class "uncertain"',
    );
    assert.include(
      message(undefined, toolRecord(uncertain.annotate(ToolExecutionClass, "idempotent"))),
      '"idempotent"',
    );
    assert.strictEqual(
      message(undefined, toolRecord(uncertain.annotate(ToolExecutionClass, "readonly"))),
      "accepted",
    );
    const hosted = Tool.providerDefined({
      id: "provider.search",
      customName: "search",
      providerName: "search",
      success: Schema.Unknown,
    })()
      .annotate(DiscoveryTool, true)
      .annotate(ToolExecutionClass, "readonly");
    assert.include(message(undefined, toolRecord(hosted)), "executed by the provider");
  });
});
