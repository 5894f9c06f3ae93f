/**
 * The examples of the product's own description, unchanged: they load against this
 * package through its public exports, and do what the text around them says.
 */
import { assert, describe, it } from "@effect/vitest";
import { Effect, Exit, Layer, Schema } from "effect";
import { Decision, DecisionModel, Tool, Toolkit } from "effect/unstable/ai";
import { Agent, ToolDiscovery } from "effect-agent";
import { RunToolAuthorization } from "effect-agent/run-options";
import { RunToolVisibility } from "effect-agent/tool-exposure";
import { text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { GetRecord, SearchRecords } from "#tests/support/record-tools.ts";
import { isThere, load } from "#tests/support/seed-files.ts";
import { errorTagOf, eventsOfKind, resultsIn, watch } from "#tests/engine/run-agent.ts";

describe.runIf(isThere)("the files", () => {
  const files = [
    ["01-decision.ts", []],
    ["02-progressive-discovery.ts", ["agent", "Handlers"]],
    ["03-application-search.ts", ["discovery"]],
    ["04-select-without-search.ts", ["options", "VisibilityLive"]],
    ["05-typed-failures.ts", []],
    ["06-authorization.ts", ["searchOnly", "SearchOnlyLive"]],
  ] as const;
  for (const [name, exports] of files) {
    it(`[T-01] ${name} loads unchanged`, async () => {
      const module = await load(name);
      for (const expected of exports) assert.isDefined(module[expected], expected);
    });
  }
});

describe("what the examples must do", () => {
  it.effect(
    "[DM-01] 01: a ticket about a duplicate charge is classified, and only its message is sent",
    () =>
      Effect.gen(function* () {
        const Assessment = Decision.make({
          input: Schema.Struct({ message: Schema.String }),
          decisions: {
            department: Decision.classify({
              instructions: "Which team?",
              criteria: { billing: "Payments and refunds", technical: "Bugs and outages" },
            }),
          },
        });
        const sent: Array<unknown> = [];
        const model = yield* DecisionModel.make({
          decide: ({ state }) =>
            Effect.sync(() => {
              sent.push(state);
              return {
                answers: {
                  department: {
                    _tag: "Classify",
                    label: "billing",
                    probabilities: { billing: 0.9, technical: 0.1 },
                  },
                },
                usage: { inputTokens: undefined, outputTokens: undefined },
              };
            }),
        });
        const { answers } = yield* DecisionModel.decide(Assessment, {
          input: { message: "Please refund my duplicate charge." },
        }).pipe(Effect.provideService(DecisionModel.DecisionModel, model));
        assert.strictEqual(answers.department.label, "billing");
        assert.deepStrictEqual(sent, [{ message: "Please refund my duplicate charge." }]);
      }),
  );

  it.effect(
    "[D-01][D-03][D-11] 02: the first request has the pin and discovery, the search documents both tools, the found one is callable next",
    () =>
      Effect.gen(function* () {
        const discovery = ToolDiscovery.make({
          maxResults: 8,
          maxResultBytes: 32_768,
          namespaceDescriptions: { records: "Record lookup and title search" },
        });
        const agent = Agent.make("record-assistant", {
          input: Schema.String,
          output: Schema.String,
          instructions:
            "Use discover_tools to find missing tools. Return the answer as a JSON string.",
          toolkit: Toolkit.make(GetRecord, SearchRecords, discovery.tool),
          toolExposure: { initialToolNames: [], maxTools: 16, maxSchemaBytes: 65_536 },
        });
        const handlers = Layer.merge(
          Toolkit.make(GetRecord, SearchRecords).toLayer({
            get_record: ({ id }) => Effect.succeed(`Record ${id}`),
            search_records: ({ title }) => Effect.succeed([`Matching record: ${title}`]),
          }),
          discovery.handlers,
        );
        const run = yield* watch(agent, handlers, [
          toolCalls([
            { id: "d", name: "discover_tools", params: { query: "search", namespace: "records" } },
          ]),
          toolCalls([{ id: "s", name: "search_records", params: { title: "Shoes" } }]),
          text('"found"'),
        ]);
        assert.deepStrictEqual(
          run.requests.map(({ tools }) => tools.map(({ name }) => name).toSorted()),
          [
            ["discover_tools", "get_record"],
            ["discover_tools", "get_record", "search_records"],
            ["discover_tools", "get_record", "search_records"],
          ],
        );
        assert.deepStrictEqual(eventsOfKind(run.events, "ToolCallSucceeded")[0]?.toolSelection, [
          "get_record",
          "search_records",
        ]);
        assert.deepStrictEqual(resultsIn(run.requests[2]).at(-1), [
          "s",
          ["Matching record: Shoes"],
          false,
        ]);
        assert.strictEqual(Exit.isSuccess(run.exit) ? run.exit.value.output : undefined, "found");
      }),
  );

  it.effect(
    "[D-12][D-13] 03: the application's search ranks the eligible catalogue, and its failure stays its own",
    () =>
      Effect.gen(function* () {
        class SearchUnavailable extends Schema.TaggedError<SearchUnavailable>()(
          "SearchUnavailable",
          { message: Schema.String },
        ) {}
        const seen: Array<ReadonlyArray<string>> = [];
        const discovery = ToolDiscovery.make({
          failure: SearchUnavailable,
          search: ({ query }, catalogue) =>
            query === "down"
              ? Effect.fail(new SearchUnavailable({ message: "index offline" }))
              : Effect.sync(
                  () => (
                    seen.push(catalogue.map(({ name }) => name)),
                    catalogue.map(({ id }) => id).toReversed()
                  ),
                ),
        });
        const agent = Agent.make("ranked", {
          input: Schema.String,
          output: Schema.String,
          instructions: "Go.",
          toolkit: Toolkit.make(GetRecord, SearchRecords, discovery.tool),
        });
        const handlers = Layer.merge(
          Toolkit.make(GetRecord, SearchRecords).toLayer({
            get_record: () => Effect.succeed(""),
            search_records: () => Effect.succeed([]),
          }),
          discovery.handlers,
        );
        const ranked = yield* watch(agent, handlers, [
          toolCalls([{ id: "d", name: "discover_tools", params: { query: "x" } }]),
          text("ok"),
        ]);
        assert.deepStrictEqual(seen, [["get_record", "search_records"]]);
        assert.deepStrictEqual(eventsOfKind(ranked.events, "ToolCallSucceeded")[0]?.toolSelection, [
          "search_records",
          "get_record",
        ]);
        const down = yield* watch(agent, handlers, [
          toolCalls([{ id: "d", name: "discover_tools", params: { query: "down" } }]),
        ]);
        assert.instanceOf(down.error, SearchUnavailable);
      }),
  );

  it.effect("[X-07][X-15] 04: a host selects without search, and what it hides is nowhere", () =>
    Effect.gen(function* () {
      const DeleteRecord = Tool.make("delete_record", { success: Schema.String });
      const toolkit = Toolkit.make(GetRecord, SearchRecords, DeleteRecord);
      const agent = Agent.make("selected", {
        input: Schema.String,
        output: Schema.String,
        instructions: "Go.",
        toolkit,
      });
      const handlers = toolkit.toLayer({
        get_record: () => Effect.succeed(""),
        search_records: () => Effect.succeed([]),
        delete_record: () => Effect.succeed("gone"),
      });
      const visibility = Layer.succeed(RunToolVisibility, {
        visible: ({ toolNames }) =>
          Effect.succeed(toolNames.filter((name) => name !== "delete_record")),
      });
      const run = yield* watch(agent, handlers, [text("ok")], {
        run: { toolSelection: { toolNames: ["search_records"] } },
      }).pipe(Effect.provide(visibility));
      assert.deepStrictEqual(
        run.requests[0]?.tools.map(({ name }) => name),
        ["get_record", "search_records"],
      );
      const guessed = yield* watch(agent, handlers, [
        toolCalls([{ id: "x", name: "delete_record" }]),
      ]).pipe(Effect.provide(visibility));
      assert.strictEqual(errorTagOf(guessed), "AgentToolCallRejected");
    }),
  );

  it.effect(
    "[F-02][T-12] 05: a search that is unavailable is a failed result the model can work with",
    () =>
      Effect.gen(function* () {
        class SearchUnavailable extends Schema.TaggedError<SearchUnavailable>()(
          "SearchUnavailable",
          { message: Schema.String },
        ) {}
        const Search = Tool.make("search", {
          parameters: Schema.Struct({ query: Schema.String }),
          success: Schema.Array(Schema.String),
          failure: SearchUnavailable,
          failureMode: "return",
        });
        const tools = Toolkit.make(Search);
        const researcher = Agent.make("researcher", {
          input: Schema.String,
          output: Schema.String,
          instructions: "Search, then answer.",
          toolkit: tools,
        });
        assert.deepStrictEqual(Agent.inspectTools(researcher), [
          { name: "search", failureMode: "return", requiresHandler: true },
        ]);
        const handlers = tools.toLayer({
          search: () => Effect.fail(new SearchUnavailable({ message: "Try another source." })),
        });
        const run = yield* watch(researcher, handlers, [
          toolCalls([{ id: "s", name: "search", params: { query: "x" } }]),
          text("no luck"),
        ]);
        assert.deepStrictEqual(resultsIn(run.requests[1]), [
          ["s", { _tag: "SearchUnavailable", message: "Try another source." }, true],
        ]);
        assert.isTrue(Exit.isSuccess(run.exit));
      }),
  );

  it.effect(
    "[Z-01][Z-04] 06: with search only, any other tool is denied in the policy's own words",
    () =>
      Effect.gen(function* () {
        const Search = Tool.make("search", { success: Schema.String });
        const Pay = Tool.make("pay", { success: Schema.String });
        const tools = Toolkit.make(Search, Pay);
        const agent = Agent.make("careful", {
          input: Schema.String,
          output: Schema.String,
          instructions: "Go.",
          toolkit: tools,
        });
        const log: Array<string> = [];
        const handlers = tools.toLayer({
          search: () => Effect.sync(() => (log.push("search"), "")),
          pay: () => Effect.sync(() => (log.push("pay"), "")),
        });
        const searchOnly = Layer.succeed(
          RunToolAuthorization,
          RunToolAuthorization.of({
            authorize: ({ call }) =>
              Effect.succeed(
                call.toolName === "search"
                  ? { _tag: "allowed" }
                  : { _tag: "denied", reason: "Only search is permitted." },
              ),
          }),
        );
        const run = yield* watch(agent, handlers, [
          toolCalls([{ id: "a", name: "search" }]),
          toolCalls([
            { id: "b", name: "search" },
            { id: "c", name: "pay" },
          ]),
        ]).pipe(Effect.provide(searchOnly));
        assert.deepInclude(run.error, {
          _tag: "AgentToolAuthorizationDenied",
          toolName: "pay",
          message: "Only search is permitted.",
        });
        assert.deepStrictEqual(log, ["search"]);
      }),
  );
});
