import { assert, describe, it } from "@effect/vitest";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Schema from "effect/Schema";
import * as Tool from "effect/unstable/ai/Tool";
import { executionClassOf } from "#lib/durable-step.ts";
import * as ToolDiscovery from "#lib/tool-discovery.ts";
import { isDiscoveryTool, isPinned, ToolNamespace } from "#lib/tool-exposure.ts";
import { callDiscovery, catalogueOf, GetRecord, SearchRecords, sized } from "./desk.ts";

const records = ToolDiscovery.make({
  namespaceDescriptions: { records: "Record lookup and title search", secret: "Hidden search" },
});
const desk = catalogueOf(SearchRecords, sized("other_search", 1), GetRecord, records.tool);
const namesFor = (query: string, namespace?: string | null) =>
  Effect.map(
    callDiscovery(records, desk, { query, ...(namespace === undefined ? {} : { namespace }) }),
    ({ result }) => result.toolNames,
  );

describe("discover_tools", () => {
  it("[D-01] it is an ordinary pinned readonly tool with failure mode error", () => {
    assert.strictEqual(records.tool.name, "discover_tools");
    assert.isTrue(isPinned(records.tool) && isDiscoveryTool(records.tool));
    assert.strictEqual(executionClassOf(records.tool), "readonly");
    assert.strictEqual(records.tool.failureMode, "error");
    assert.strictEqual(ToolDiscovery.make({ description: "Find it" }).tool.description, "Find it");
  });

  it.effect(
    "[D-02] a query of 512 characters and a namespace of 128 are the longest; a blank query is refused",
    () =>
      Effect.gen(function* () {
        const accepts = (parameters: { query: string; namespace?: string }) =>
          Effect.map(Effect.exit(callDiscovery(records, desk, parameters)), Exit.isSuccess);
        assert.isTrue(yield* accepts({ query: "x".repeat(512), namespace: "n".repeat(128) }));
        assert.isFalse(yield* accepts({ query: "x".repeat(513) }));
        assert.isFalse(yield* accepts({ query: "x", namespace: "n".repeat(129) }));
        assert.isFalse(yield* accepts({ query: " \n\t" }));
      }),
  );

  it.effect(
    "[D-03] a match carries its metadata and the complete encoded schemas of parameters and success",
    () =>
      Effect.gen(function* () {
        const { encoded } = yield* callDiscovery(records, desk, {
          query: "title",
          namespace: "records",
        });
        assert.deepStrictEqual(encoded, {
          toolNames: ["get_record", "search_records"],
          matches: [GetRecord, SearchRecords].map((tool) => ({
            id: tool.name,
            name: tool.name,
            nativeToolName: tool.name,
            namespace: "records",
            description: tool.description,
            namespaceDescription: "Record lookup and title search",
            parametersSchema: Tool.getJsonSchema(tool),
            successSchema: Tool.getJsonSchemaFromSchema(tool.successSchema),
          })),
        });
      }),
  );

  it.effect(
    "[D-04] the seed's query finds both record tools, through the namespace hint, in id order",
    () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* namesFor("search", "records"), [
          "get_record",
          "search_records",
        ]);
      }),
  );

  it.effect(
    "[D-04] every word must match, ignoring case, and never across two fields; discovery never finds itself",
    () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* namesFor("  SEARCH\trecords title "), [
          "get_record",
          "search_records",
        ]);
        assert.deepStrictEqual(yield* namesFor("BY TITLE."), ["search_records"]);
        assert.deepStrictEqual(yield* namesFor("title absent"), []);
        assert.deepStrictEqual(yield* namesFor("search_recordssearch"), []);
        assert.deepStrictEqual(yield* namesFor("discover_tools"), []);
      }),
  );

  it.effect(
    "[D-05] the namespace is the annotation, exactly; no name is parsed and no hint of another namespace shows",
    () =>
      Effect.gen(function* () {
        const loose = catalogueOf(Tool.make("records_x", { description: "record" }), GetRecord);
        const { result } = yield* callDiscovery(records, loose, {
          query: "record",
          namespace: "records",
        });
        assert.deepStrictEqual(result.toolNames, ["get_record"]);
        assert.deepStrictEqual(yield* namesFor("record", "record"), []);
        assert.deepStrictEqual(yield* namesFor("record", "Records"), []);
        const everywhere = yield* callDiscovery(records, loose, { query: "record" });
        assert.deepStrictEqual(everywhere.result.toolNames, ["get_record", "records_x"]);
        assert.notProperty(everywhere.result.matches[1] ?? {}, "namespaceDescription");
        assert.notInclude(JSON.stringify(everywhere.encoded), "Hidden search");
        const inherited = catalogueOf(GetRecord.annotate(ToolNamespace, "toString"));
        const odd = yield* callDiscovery(records, inherited, {
          query: "record",
          namespace: "toString",
        });
        assert.notProperty(odd.result.matches[0] ?? {}, "namespaceDescription");
      }),
  );

  it.effect("[D-02] a namespace that is null or empty is no filter", () =>
    Effect.gen(function* () {
      const all = ["get_record", "other_search", "search_records"];
      assert.deepStrictEqual(yield* namesFor("search", null), all);
      assert.deepStrictEqual(yield* namesFor("search", ""), all);
    }),
  );

  it.effect("[D-06] at most 8 matches are considered, and 1 to 64 can be configured", () =>
    Effect.gen(function* () {
      const many = catalogueOf(
        ...Array.from({ length: 70 }, (_, index) => sized(`t${String(index).padStart(2, "0")}`, 1)),
      );
      const count = (options: { maxResults?: number }) =>
        Effect.map(
          callDiscovery(ToolDiscovery.make({ maxResultBytes: 262_144, ...options }), many, {
            query: "lookup",
          }),
          ({ result }) => result.matches.map(({ id }) => id),
        );
      assert.deepStrictEqual(yield* count({}), [
        "t00",
        "t01",
        "t02",
        "t03",
        "t04",
        "t05",
        "t06",
        "t07",
      ]);
      assert.strictEqual((yield* count({ maxResults: 64 })).length, 64);
      assert.strictEqual((yield* count({ maxResults: 1 })).length, 1);
      for (const maxResults of [0, 65, 1.5, Number.NaN])
        assert.throws(() => ToolDiscovery.make({ maxResults }), /from 1 to 64/);
    }),
  );

  it.effect("[D-10] without a catalogue, as outside an agent, discovery fails typed", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(callDiscovery(records, undefined, { query: "x" }));
      assert.instanceOf(error, ToolDiscovery.ToolDiscoveryError);
      assert.strictEqual(error.reason, "invalid-catalogue");
    }),
  );

  it.effect(
    "[D-16] a matched provider-defined tool is an invalid schema, and one that does not match is no trouble",
    () =>
      Effect.gen(function* () {
        const hosted = Tool.providerDefined({
          id: "openai.web",
          customName: "web_lookup",
          providerName: "web",
          success: Schema.Unknown,
        })();
        const catalogue = catalogueOf(GetRecord, hosted);
        const error = yield* Effect.flip(
          callDiscovery(records, catalogue, { query: "web_lookup" }),
        );
        assert.instanceOf(error, ToolDiscovery.ToolDiscoveryError);
        assert.deepStrictEqual([error.reason, error.id], ["invalid-schema", "web_lookup"]);
        assert.deepStrictEqual(
          (yield* callDiscovery(records, catalogue, { query: "record" })).result.toolNames,
          ["get_record"],
        );
      }),
  );

  it.effect(
    "[D-11] an alias has its own id and activates the tool that owns it, once; [D-10] bad aliases are refused",
    () =>
      Effect.gen(function* () {
        const alias = (id: string, nativeToolName = "run_code"): ToolDiscovery.DiscoveryAlias => ({
          id,
          name: id,
          nativeToolName,
          namespace: "orders",
          method: `orders.${id}`,
          description: "order lookup",
          parametersSchema: { type: "object" },
          successSchema: { type: "string" },
        });
        const tools = catalogueOf(Tool.make("run_code")).tools;
        const found = yield* callDiscovery(
          records,
          { tools, aliases: [alias("b"), alias("a")] },
          { query: "orders.", namespace: "orders" },
        );
        assert.deepStrictEqual(found.result.toolNames, ["run_code"]);
        assert.deepStrictEqual(
          found.result.matches.map(({ id }) => id),
          ["a", "b"],
        );
        for (const aliases of [
          [alias("a"), alias("a")],
          [alias("run_code")],
          [alias("a", "hidden_tool")],
        ]) {
          const error = yield* Effect.flip(
            callDiscovery(records, { tools, aliases }, { query: "x" }),
          );
          assert.strictEqual(
            error instanceof ToolDiscovery.ToolDiscoveryError ? error.reason : "",
            "invalid-catalogue",
          );
        }
      }),
  );

  it.effect(
    "[D-10] a schema that is no JSON object is refused before packing, so that no byte limit can hide it",
    () =>
      Effect.gen(function* () {
        const broken = Tool.dynamic("broken", {
          description: "lookup",
          parameters: { type: "object", odd: () => 1 },
        });
        const small = ToolDiscovery.make({ maxResultBytes: 256 });
        const error = yield* Effect.flip(
          callDiscovery(small, catalogueOf(sized("big", 5_000), broken), { query: "lookup" }),
        );
        assert.strictEqual(
          error instanceof ToolDiscovery.ToolDiscoveryError ? `${error.reason} ${error.id}` : "",
          "invalid-schema broken",
        );
      }),
  );

  it("[D-18] the digest annotation changes with the search, its version, the bounds and the hints, and with nothing else", () => {
    const digest = (options: Parameters<typeof ToolDiscovery.make>[0]) =>
      Context.get(ToolDiscovery.make(options).tool.annotations, ToolDiscovery.DiscoveryDigest);
    const search = () => Effect.succeed([]);
    const digests = [
      {},
      { maxResults: 9 },
      { maxResultBytes: 999 },
      { namespaceDescriptions: { a: "b" } },
      { search },
      { search, version: "2" },
    ].map(digest);
    assert.strictEqual(new Set(digests).size, digests.length);
    assert.strictEqual(digest({ maxResults: 8, description: "another text" }), digest({}));
  });
});
