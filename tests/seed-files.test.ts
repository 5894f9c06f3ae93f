/** The files of the product's own description, run as they are: what they export does what the text around them says. */
import { assert, describe, it } from "@effect/vitest";
import { Context, Effect, Exit, Layer, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import { Agent, type ToolDiscovery } from "effect-agent";
import type { RunOptions, RunToolAuthorization } from "effect-agent/run-options";
import type { RunToolVisibility } from "effect-agent/tool-exposure";
import { text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { eventsOfKind, watch } from "#tests/engine/run-agent.ts";
import { GetRecord, SearchRecords } from "#tests/support/record-tools.ts";
import { isThere, load } from "#tests/support/seed-files.ts";

describe.runIf(isThere)("the files, run as they are", () => {
  it.effect("[D-11][X-05] 02-progressive-discovery.ts pins, discovers and then offers", () =>
    Effect.gen(function* () {
      const { agent, Handlers } = yield* Effect.promise(() =>
        load<{
          readonly agent: Agent.Definition;
          readonly Handlers: Layer.Layer<Tool.HandlersFor<Record<string, Tool.Any>>>;
        }>("02-progressive-discovery.ts"),
      );
      const run = yield* watch(agent, Handlers, [
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
      assert.strictEqual(Exit.isSuccess(run.exit) ? run.exit.value.output : undefined, "found");
    }),
  );

  it.effect("[D-12][D-13] 03-application-search.ts ranks with the application's own service", () =>
    Effect.gen(function* () {
      const { discovery } = yield* Effect.promise(() =>
        load<{ readonly discovery: ToolDiscovery.ToolDiscovery<never, never> }>(
          "03-application-search.ts",
        ),
      );
      const own = Toolkit.make(GetRecord, SearchRecords);
      // The file's service is found by its key, as any other provider of it would be.
      const index = Layer.succeed(Context.Service<object>("SearchIndex"), {
        rank: (_: string, catalogue: ReadonlyArray<ToolDiscovery.Descriptor>) =>
          Effect.succeed(catalogue.map(({ id }) => id).toReversed()),
      });
      const agent = Agent.make("ranked", {
        input: Schema.String,
        output: Schema.String,
        instructions: "Go.",
        toolkit: Toolkit.make(GetRecord, SearchRecords, discovery.tool),
      });
      const handlers = Layer.merge(
        own.toLayer({
          get_record: () => Effect.succeed(""),
          search_records: () => Effect.succeed([]),
        }),
        discovery.handlers.pipe(Layer.provide(index)),
      );
      const run = yield* watch(agent, handlers, [
        toolCalls([{ id: "d", name: "discover_tools", params: { query: "x" } }]),
        text("ok"),
      ]);
      assert.deepStrictEqual(eventsOfKind(run.events, "ToolCallSucceeded")[0]?.toolSelection, [
        "search_records",
        "get_record",
      ]);
    }),
  );

  it.effect(
    "[X-07][X-15][Z-01] 04-select-without-search.ts and 06-authorization.ts hold in a run",
    () =>
      Effect.gen(function* () {
        const selected = yield* Effect.promise(() =>
          load<{
            readonly options: RunOptions;
            readonly VisibilityLive: Layer.Layer<RunToolVisibility>;
          }>("04-select-without-search.ts"),
        );
        const { SearchOnlyLive } = yield* Effect.promise(() =>
          load<{ readonly SearchOnlyLive: Layer.Layer<RunToolAuthorization> }>(
            "06-authorization.ts",
          ),
        );
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
        const run = yield* watch(
          agent,
          handlers,
          [toolCalls([{ id: "a", name: "search_records", params: { title: "x" } }])],
          { run: selected.options },
        ).pipe(Effect.provide([selected.VisibilityLive, SearchOnlyLive]));
        assert.deepStrictEqual(
          run.requests[0]?.tools.map(({ name }) => name),
          ["get_record", "search_records"],
        );
        assert.deepInclude(run.error, {
          _tag: "AgentToolAuthorizationDenied",
          toolName: "search_records",
          message: "Only search is permitted.",
        });
      }),
  );
});
