import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Schema from "effect/Schema";
import type * as Scope from "effect/Scope";
import * as Tool from "effect/unstable/ai/Tool";
import * as Toolkit from "effect/unstable/ai/Toolkit";
import { AgentDefinitionError } from "#lib/agent-error.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import { ToolExecutionClass } from "#lib/durable-step.ts";
import { DiscoveryTool, PinnedTool } from "../tool-annotations.ts";
import { DiscoveryCatalogue, makeCatalogueReader } from "./catalogue.ts";
import { defaultSearch } from "./default-search.ts";
import { DiscoveryParameters, DiscoveryResult } from "./descriptor.ts";
import { discover, type Search } from "./discover.ts";
import { discoveryError, ToolDiscoveryError } from "./discovery-error.ts";

/** Matches considered when nothing is said (D-06). */
export const defaultMaxResults = 8;
/** Most matches that can be asked for (D-06). */
export const ceilingMaxResults = 64;
/** UTF-8 bytes of a result when nothing is said: 32 KiB (D-07). */
export const defaultMaxResultBytes = 32_768;
/** Most bytes that can be asked for: 256 KiB (D-07). */
export const ceilingMaxResultBytes = 262_144;
/** Fewest bytes that can be asked for: two empty lists and a notice (D-07). */
export const floorMaxResultBytes = 256;

/** The bounds of a discovery tool, for the console: results are read against them (OP-03). */
export const DiscoveryBounds = Context.Reference<
  { readonly maxResults: number; readonly maxResultBytes: number } | undefined
>("effect-agent/tool-discovery/DiscoveryBounds", { defaultValue: () => undefined });

/** Annotation of a discovery tool: digest of what its search means, part of the definition digest (D-18). */
export const DiscoveryDigest = Context.Reference<string | undefined>(
  "effect-agent/tool-discovery/DiscoveryDigest",
  { defaultValue: () => undefined },
);

/** Options of {@link make} (D-01). `F` is the schema of the search's failures, `R` what it requires. */
export interface ToolDiscoveryOptions<F extends Schema.Constraint, R> {
  /** Most matches considered, 1 to 64; default 8 (D-06). */
  readonly maxResults?: number;
  /** Most UTF-8 bytes of the whole encoded result, 256 to 262,144; default 32,768 (D-07). */
  readonly maxResultBytes?: number;
  /** A hint per namespace; searched, and shown on eligible matches of it only (D-05). */
  readonly namespaceDescriptions?: Readonly<Record<string, string>>;
  /** Replaces what the model is told about the tool. */
  readonly description?: string;
  /** Schema of the failures of `search`; they stay in the tool's error channel (D-13). */
  readonly failure?: F;
  /** Ranks the eligible tools; left out, every word must match (D-04, D-12). */
  readonly search?: Search<F["Type"], R>;
  /** Changes when the meaning of `search` does; recovery compares it through the definition digest (D-18). */
  readonly version?: string;
}

/** The discovery tool: an ordinary Effect AI tool, pinned, readonly, failure mode `error` (D-01). */
export type DiscoverTools<F extends Schema.Constraint> = Tool.Tool<
  "discover_tools",
  {
    readonly parameters: typeof DiscoveryParameters;
    readonly success: typeof DiscoveryResult;
    readonly failure: Schema.Union<readonly [typeof ToolDiscoveryError, F]>;
    readonly failureMode: "error";
  }
>;

/** What {@link make} gives: put `tool` into the toolkit and provide `handlers` with the other handlers. */
export interface ToolDiscovery<F extends Schema.Constraint, R> {
  readonly tool: DiscoverTools<F>;
  /** Requires what the search requires, except its Scope (D-13, D-14). */
  readonly handlers: Layer.Layer<Tool.Handler<"discover_tools">, never, Exclude<R, Scope.Scope>>;
}

const defaultDescription =
  "Find tools that are not listed yet. Returns their names and schemas; the tools found replace those found before and become callable with your next message.";

/**
 * Makes `discover_tools`, which lets a model find tools of a large toolkit and exposes what it found from the
 * next request on (D-01 to D-18).
 *
 * Throws `AgentDefinitionError` when a bound is out of its range: an author's mistake, found at start.
 */
export const make = <F extends Schema.Constraint = typeof Schema.Never, R = never>(
  options: ToolDiscoveryOptions<F, R> = {},
): ToolDiscovery<F, R> => {
  const bounds = {
    maxResults: boundedOption(
      "maxResults",
      options.maxResults ?? defaultMaxResults,
      1,
      ceilingMaxResults,
    ),
    maxResultBytes: boundedOption(
      "maxResultBytes",
      options.maxResultBytes ?? defaultMaxResultBytes,
      floorMaxResultBytes,
      ceilingMaxResultBytes,
    ),
  };
  const hints = options.namespaceDescriptions ?? {};
  // Left out, F is Schema.Never, the default of the type parameter.
  const failure = (options.failure ?? Schema.Never) as F;
  const search: Search<F["Type"], R> =
    options.search ?? ((request, catalogue) => Effect.succeed(defaultSearch(request, catalogue)));
  const tool: DiscoverTools<F> = Tool.make("discover_tools", {
    description: options.description ?? defaultDescription,
    parameters: DiscoveryParameters,
    success: DiscoveryResult,
    failure: Schema.Union([ToolDiscoveryError, failure]),
    failureMode: "error",
  })
    .annotate(PinnedTool, true)
    .annotate(DiscoveryTool, true)
    .annotate(ToolExecutionClass, "readonly")
    .annotate(DiscoveryBounds, {
      maxResults: bounds.maxResults,
      maxResultBytes: bounds.maxResultBytes,
    })
    .annotate(
      DiscoveryDigest,
      digestOf({ ...bounds, hints: { ...hints }, search: versionOf(options) }),
    );

  const readCatalogue = makeCatalogueReader(hints);
  const handle = Effect.fn("ToolDiscovery.discover")(function* (
    parameters: typeof DiscoveryParameters.Type,
  ) {
    const catalogue = yield* DiscoveryCatalogue;
    if (catalogue === undefined) {
      return yield* discoveryError(
        "invalid-catalogue",
        "Discovery was called outside an agent's run, where there is no catalogue.",
      );
    }
    const read = yield* Effect.fromResult(readCatalogue(catalogue));
    // A model that means no namespace sends null or an empty text as often as it leaves the key out.
    const namespace = parameters.namespace ?? "";
    const request = { query: parameters.query, ...(namespace === "" ? {} : { namespace }) };
    return yield* discover(request, read, search, bounds);
  });

  // The handler's failures are F's by construction; the wider type keeps the Toolkit's types computable.
  const widened: DiscoverTools<Schema.Constraint> = tool;
  const handlers = Layer.unwrap(
    Effect.map(Effect.context<Exclude<R, Scope.Scope>>(), (services) =>
      Toolkit.make(widened).toLayer({
        discover_tools: (parameters) =>
          // The caller's own context wins, as it does for every handler of a Toolkit.
          Effect.updateContext(handle(parameters), (own: Context.Context<never>) =>
            Context.merge(services, own),
          ),
      }),
    ),
  );
  return { tool, handlers };
};

const versionOf = <F extends Schema.Constraint, R>(options: ToolDiscoveryOptions<F, R>): string => {
  if (options.search === undefined) return "every-word/1";
  return options.version ?? options.search.version ?? "unversioned";
};

const boundedOption = (name: string, value: number, minimum: number, maximum: number): number => {
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return value;
  throw new AgentDefinitionError({
    toolName: "discover_tools",
    message: `ToolDiscovery.make: ${name} must be a whole number from ${minimum} to ${maximum}; it is ${value}.`,
  });
};
