import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Schema from "effect/Schema";
import * as Stream from "effect/Stream";
import * as Tool from "effect/unstable/ai/Tool";
import * as Toolkit from "effect/unstable/ai/Toolkit";
import * as ToolDiscovery from "#lib/tool-discovery.ts";
import { PinnedTool, ToolNamespace } from "#lib/tool-exposure.ts";

export const GetRecord = Tool.make("get_record", {
  description: "Read one record by its ID.",
  parameters: Schema.Struct({ id: Schema.String }),
  success: Schema.String,
})
  .annotate(ToolNamespace, "records")
  .annotate(PinnedTool, true);

export const SearchRecords = Tool.make("search_records", {
  description: "Search records by title.",
  parameters: Schema.Struct({ title: Schema.String }),
  success: Schema.Array(Schema.String),
}).annotate(ToolNamespace, "records");

/** A tool without namespace, with a description of about the given number of characters. */
export const sized = (name: string, characters: number, filler = "x"): Tool.Any =>
  Tool.make(name, {
    description: `lookup ${filler.repeat(characters)}`,
    parameters: Schema.Struct({ id: Schema.String }),
  });

export const catalogueOf = (...tools: ReadonlyArray<Tool.Any>): ToolDiscovery.Catalogue => ({
  tools: Object.fromEntries(tools.map((tool) => [tool.name, tool])),
});

/**
 * Calls a discovery tool as the engine does: through the Toolkit's own `handle`, with encoded parameters
 * and the catalogue in the context.
 */
export const callDiscovery = <F extends Schema.Constraint, R>(
  discovery: ToolDiscovery.ToolDiscovery<F, R>,
  catalogue: ToolDiscovery.Catalogue | undefined,
  parameters: { readonly query: string; readonly namespace?: string | null },
) =>
  Effect.gen(function* () {
    const widened: ToolDiscovery.DiscoverTools<Schema.Constraint> = discovery.tool;
    const toolkit = yield* Toolkit.make(widened);
    const stream = yield* toolkit.handle("discover_tools", parameters);
    // The failure schemas of these tests need no services, which the widened type cannot say.
    const results = yield* Stream.runCollect(stream as unknown as Stream.Stream<Handled, unknown>);
    const [result] = results;
    assertOne(results.length);
    return {
      result: Schema.decodeUnknownSync(ToolDiscovery.DiscoveryResult)(result?.result),
      encoded: result?.encodedResult,
      bytes: new TextEncoder().encode(JSON.stringify(result?.encodedResult)).length,
    };
  }).pipe(
    Effect.provideService(ToolDiscovery.DiscoveryCatalogue, catalogue),
    Effect.provide(discovery.handlers),
  );

interface Handled {
  readonly result: unknown;
  readonly encodedResult: unknown;
}

const assertOne = (count: number): void => {
  if (count !== 1) throw new Error(`a discovery call has one result, not ${count}`);
};

export class SearchUnavailable extends Schema.TaggedError<SearchUnavailable>()(
  "SearchUnavailable",
  {
    message: Schema.String,
  },
) {}

/** The application's own index: answers with whatever ids the test says. */
export class SearchIndex extends Context.Service<
  SearchIndex,
  {
    readonly rank: (
      request: ToolDiscovery.SearchRequest,
      catalogue: ReadonlyArray<ToolDiscovery.Descriptor>,
    ) => Effect.Effect<ReadonlyArray<string>, SearchUnavailable>;
  }
>()("effect-agent/tests/SearchIndex") {
  static readonly answering = (
    answer: (catalogue: ReadonlyArray<ToolDiscovery.Descriptor>) => ReadonlyArray<string>,
  ): Layer.Layer<SearchIndex> =>
    Layer.succeed(SearchIndex, {
      rank: (_request, catalogue) => Effect.sync(() => answer(catalogue)),
    });
}
