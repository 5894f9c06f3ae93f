import { assert, describe, it } from "@effect/vitest";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { toCodecOpenAI } from "effect/unstable/ai/OpenAiStructuredOutput";
import * as Tool from "effect/unstable/ai/Tool";
import { ExposureSnapshot } from "#lib/contract/exposure.ts";
import { declarationBytes, declarationOf } from "#lib/exposure/declarations.ts";
import { type ExposureInput, resolveExposure } from "#lib/exposure/resolve-exposure.ts";
import { finder, pinned, plain, toolRecord } from "./sample-tools.ts";

const config = (initialToolNames: ReadonlyArray<string>, limits = {}) => ({
  initialToolNames,
  maxTools: 64,
  maxSchemaBytes: 262_144,
  ...limits,
});

const resolve = (input: ExposureInput): ExposureSnapshot =>
  Result.getOrThrow(resolveExposure(input));

const refusal = (input: ExposureInput) => {
  const result = resolveExposure(input);
  assert.isTrue(Result.isFailure(result), "was exposed");
  return Result.getOrThrow(Result.flip(result));
};
const reason = (input: ExposureInput): string => {
  const error = refusal(input);
  return error._tag === "ModelProtocolError"
    ? `${error.reason} ${error.toolName ?? `${error.seen}>${error.limit}`}`
    : error._tag;
};

const many = (count: number) =>
  toolRecord(...Array.from({ length: count }, (_, index) => plain(`tool_${index}`)));

describe("resolving exposure", () => {
  it("[X-01] without configuration and discovery every eligible tool is exposed, and passing the limits only warns", () => {
    const snapshot = resolve({ tools: many(70) });
    assert.strictEqual(snapshot.exposed.length, 70);
    assert.isTrue(snapshot.eager);
    assert.strictEqual(snapshot.selectionSource, "initial");
    assert.strictEqual(snapshot.warnings.length, 1);
    assert.include(snapshot.warnings[0], "70 tools");
    assert.deepStrictEqual(resolve({ tools: many(64) }).warnings, []);
  });

  it("[X-01] a discovery tool alone makes exposure selective: pins and it, in toolkit order", () => {
    const tools = toolRecord(plain("b"), pinned("z"), finder("find"), plain("a"), pinned("c"));
    const snapshot = resolve({ tools });
    assert.deepStrictEqual(snapshot.exposed, ["z", "find", "c"]);
    assert.deepStrictEqual(snapshot.pins, ["z", "c"]);
    assert.deepStrictEqual(snapshot.discoveryTools, ["find"]);
    assert.deepStrictEqual(snapshot.notSelected, ["b", "a"]);
    assert.isFalse(snapshot.eager);
  });

  it("[X-04][X-07] a question that was asked before has the same answer, and one that changed has its own", () => {
    const tools = toolRecord(plain("a"), plain("b"), pinned("c"));
    const eligible = ["a", "b", "c"];
    const asked = { tools, eligible, selection: { source: "host", toolNames: ["a"] } } as const;
    assert.deepStrictEqual(resolve(asked).exposed, ["a", "c"]);
    assert.strictEqual(resolve({ ...asked }), resolve(asked));
    // The filter's own list, changed in place: what is hidden now is hidden.
    eligible.shift();
    assert.deepStrictEqual(resolve(asked).exposed, ["c"]);
    const others: ReadonlyArray<readonly [Partial<ExposureInput>, ReadonlyArray<string>]> = [
      [{ eligible: ["a", "b", "c"] }, ["a", "c"]],
      [{ selection: { source: "host", toolNames: ["b"] } }, ["b", "c"]],
      [{ mandatory: ["b"], selection: { source: "host", toolNames: [] } }, ["b", "c"]],
      [{ restrictTo: ["b"] }, ["b"]],
      [{ eligible: undefined }, ["a", "c"]],
    ];
    for (const [change, exposed] of others) {
      assert.deepStrictEqual(resolve({ ...asked, ...change }).exposed, exposed);
      assert.deepStrictEqual(resolve({ ...asked, ...change }).exposed, exposed);
    }
    assert.strictEqual(resolve({ ...asked, config: config(["a"]) }).maxTools, 64);
    assert.notStrictEqual(
      resolve({ tools, codecTransformer: toCodecOpenAI }).schemaBytes,
      resolve({ tools }).schemaBytes,
    );
  });

  it("[X-02] initial names that are not registered are refused, toString and __proto__ among them", () => {
    const tools = toolRecord(plain("a"));
    for (const name of ["missing", "toString", "__proto__", "constructor", "hasOwnProperty"]) {
      assert.strictEqual(reason({ tools, config: config([name]) }), `unknown-initial-tool ${name}`);
      assert.strictEqual(
        reason({ tools, selection: { source: "host", toolNames: [name] } }),
        `invalid-selection ${name}`,
      );
    }
  });

  it("[X-03] the size is that of names, descriptions and schemas as UTF-8 JSON, multi-byte text included", () => {
    const tool = Tool.make("größe", {
      description: '漢字 "quoted"',
      parameters: Schema.Struct({ id: Schema.String.annotate({ description: "naïve" }) }),
    });
    const declaration = {
      name: "größe",
      description: '漢字 "quoted"',
      parameters: Tool.getJsonSchema(tool),
    };
    const tools = toolRecord(tool, plain("b"));
    const expected = Buffer.byteLength(
      JSON.stringify([
        declaration,
        { name: "b", description: "Does b", parameters: Tool.getJsonSchema(plain("b")) },
      ]),
    );
    assert.strictEqual(resolve({ tools }).schemaBytes, expected);
    assert.isAbove(expected, JSON.stringify([declaration]).length);
  });

  it("[X-03] a model whose transformation inflates schemas trips the limit that the plain schemas keep", () => {
    const tools = toolRecord(
      Tool.make("search", {
        parameters: Schema.Struct({
          a: Schema.optional(Schema.String),
          map: Schema.Record(Schema.String, Schema.String),
        }),
      }),
    );
    const plainBytes = Result.getOrThrow(declarationBytes(Object.values(tools)));
    const strictBytes = Result.getOrThrow(declarationBytes(Object.values(tools), toCodecOpenAI));
    assert.isAbove(strictBytes, plainBytes);
    const limited = { tools, config: config(["search"], { maxSchemaBytes: plainBytes }) };
    assert.strictEqual(resolve(limited).schemaBytes, plainBytes);
    assert.strictEqual(
      reason({ ...limited, codecTransformer: toCodecOpenAI }),
      `exposure-limit ${strictBytes}>${plainBytes}`,
    );
  });

  it("[X-04] the 65th tool and the first byte over the limit are refused, nothing is evicted", () => {
    const tools = many(65);
    const names = Object.keys(tools);
    assert.strictEqual(resolve({ tools, config: config(names.slice(0, 64)) }).exposed.length, 64);
    assert.strictEqual(reason({ tools, config: config(names) }), "exposure-limit 65>64");
    assert.strictEqual(
      reason({ tools, selection: { source: "discovery", toolNames: names } }),
      "exposure-limit 65>64",
    );
    const { schemaBytes } = resolve({ tools: many(3) });
    assert.strictEqual(
      reason({
        tools: many(3),
        config: config(["tool_0", "tool_1", "tool_2"], { maxSchemaBytes: schemaBytes - 1 }),
      }),
      `exposure-limit ${schemaBytes}>${schemaBytes - 1}`,
    );
  });

  it("[X-04] the limits bind an eager toolkit as soon as visibility filters it", () => {
    const tools = many(65);
    assert.strictEqual(reason({ tools, eligible: Object.keys(tools) }), "exposure-limit 65>64");
  });

  it("[X-05] pins stay across selections, count toward the limits, and a hidden pin is absent without an error", () => {
    const tools = toolRecord(pinned("pin"), plain("a"), plain("b"), finder("find"));
    const selected = resolve({ tools, selection: { source: "discovery", toolNames: ["b"] } });
    assert.deepStrictEqual(selected.exposed, ["pin", "b", "find"]);
    assert.strictEqual(
      reason({ tools, config: config(["a"], { maxTools: 2 }) }),
      "exposure-limit 3>2",
    );
    const hidden = resolve({
      tools,
      eligible: ["a", "b", "find"],
      selection: { source: "host", toolNames: ["a"] },
    });
    assert.deepStrictEqual(hidden.exposed, ["a", "find"]);
    assert.deepStrictEqual(hidden.pins, []);
    assert.deepStrictEqual(hidden.hiddenByVisibility, ["pin"]);
  });

  it("[X-06] a hidden discovery or required tool is refused before any model call", () => {
    const tools = toolRecord(plain("a"), plain("complete"), finder("find"));
    assert.strictEqual(
      reason({ tools, eligible: ["a", "complete"] }),
      "mandatory-tool-hidden find",
    );
    assert.strictEqual(
      reason({ tools, eligible: ["a", "find"], mandatory: ["complete"] }),
      "mandatory-tool-hidden complete",
    );
    assert.strictEqual(
      reason({ tools, mandatory: ["toString"] }),
      "mandatory-tool-hidden toString",
    );
    assert.deepStrictEqual(resolve({ tools, mandatory: ["complete"] }).exposed, [
      "complete",
      "find",
    ]);
  });

  it("[X-07] an empty list of eligible names hides every tool, and names nobody registered are ignored", () => {
    const tools = toolRecord(plain("a"), pinned("pin"));
    assert.deepStrictEqual(resolve({ tools, eligible: [] }).exposed, []);
    assert.deepStrictEqual(resolve({ tools, eligible: ["toString", "a"] }).exposed, ["a"]);
  });

  it("[X-10] a selection replaces the non-pinned set, an empty one clears it, and eligibility still wins", () => {
    const tools = toolRecord(plain("a"), plain("b"), pinned("pin"), finder("find"));
    const base = { tools, config: config(["a"]) };
    assert.deepStrictEqual(resolve(base).exposed, ["a", "pin", "find"]);
    const cleared = resolve({ ...base, selection: { source: "discovery", toolNames: [] } });
    assert.deepStrictEqual(cleared.exposed, ["pin", "find"]);
    assert.strictEqual(cleared.selectionSource, "cleared");
    const host = resolve({ ...base, selection: { source: "host", toolNames: ["b", "b"] } });
    assert.deepStrictEqual([host.exposed, host.selectionSource], [["b", "pin", "find"], "host"]);
    const hidden = resolve({
      ...base,
      eligible: ["a", "pin", "find"],
      selection: { source: "host", toolNames: ["b"] },
    });
    assert.deepStrictEqual(hidden.exposed, ["pin", "find"]);
  });

  it("[X-16] a final-answer turn exposes only the completion tool, and nothing when it is not eligible", () => {
    const tools = toolRecord(plain("a"), pinned("pin"), plain("complete"), finder("find"));
    assert.deepStrictEqual(resolve({ tools, restrictTo: ["complete"] }).exposed, ["complete"]);
    assert.deepStrictEqual(resolve({ tools, restrictTo: [] }).exposed, []);
    assert.deepStrictEqual(
      resolve({ tools, restrictTo: ["complete"], eligible: ["a"] }).exposed,
      [],
    );
    assert.strictEqual(
      reason({ tools, restrictTo: ["complete"], eligible: ["a"], mandatory: ["complete"] }),
      "mandatory-tool-hidden complete",
    );
  });

  it("[X-12] a snapshot is stored and read back as JSON without a change, and its lists stay bounded", () => {
    const tools = toolRecord(finder("find"), ...Object.values(many(3_000)));
    const names = Object.keys(tools);
    const snapshot = resolve({ tools, eligible: names.slice(0, 1_501) });
    assert.deepStrictEqual(
      [snapshot.notSelected.length, snapshot.notSelectedCount],
      [1_024, 1_500],
    );
    assert.deepStrictEqual(
      [snapshot.hiddenByVisibility.length, snapshot.hiddenByVisibilityCount],
      [1_024, 1_500],
    );
    const text = JSON.stringify(Schema.encodeSync(ExposureSnapshot)(snapshot));
    assert.deepStrictEqual(Schema.decodeUnknownSync(ExposureSnapshot)(JSON.parse(text)), snapshot);
  });

  it("[T-07] a declaration carries the tool's and the parameters' descriptions, or the schema's when the tool has none", () => {
    const described = Tool.make("a", {
      description: "Reads one record",
      parameters: Schema.Struct({ id: Schema.String.annotate({ description: "Record id" }) }),
    });
    const fallback = Tool.make("b", {
      parameters: Schema.Struct({}).annotate({ description: "From the schema" }),
    });
    const first = Result.getOrThrow(declarationOf(described)).declaration;
    assert.strictEqual(first.description, "Reads one record");
    assert.include(JSON.stringify(first.parameters), '"description":"Record id"');
    assert.include(
      JSON.stringify(Result.getOrThrow(declarationOf(described, toCodecOpenAI)).declaration),
      "Record id",
    );
    assert.strictEqual(
      Result.getOrThrow(declarationOf(fallback)).declaration.description,
      "From the schema",
    );
  });

  it("a tool that a model's transformation cannot express is a typed refusal that names it", () => {
    const tools = toolRecord(
      Tool.make("odd", {
        parameters: Schema.Union([Schema.Struct({ a: Schema.String }), Schema.String]),
      }),
    );
    const error = refusal({ tools, codecTransformer: toCodecOpenAI });
    assert.strictEqual(error._tag, "AgentDefinitionError");
    assert.strictEqual(error.toolName, "odd");
  });
});
