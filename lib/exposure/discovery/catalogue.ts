import * as Context from "effect/Context";
import * as Result from "effect/Result";
import * as Tool from "effect/unstable/ai/Tool";
import type { Json } from "#lib/contract/json/json.ts";
import { isDiscoveryTool, namespaceOf } from "../tool-annotations.ts";
import type { Descriptor } from "./descriptor.ts";
import { parameterText } from "./parameter-text.ts";
import { discoveryError, type ToolDiscoveryError } from "./discovery-error.ts";

/** Another way to reach a tool, such as a method of a sandboxed program; it has its own id (D-12). */
export interface DiscoveryAlias {
  readonly id: string;
  readonly name: string;
  readonly nativeToolName: string;
  readonly namespace?: string;
  readonly method?: string;
  readonly description?: string;
  readonly parametersSchema: Json;
  readonly successSchema: Json;
}

/** What discovery may search: only tools that visibility and grants left to this run. Never changed after it is given. */
export interface Catalogue {
  readonly tools: Readonly<Record<string, Tool.Any>>;
  readonly aliases?: ReadonlyArray<DiscoveryAlias>;
}

/**
 * The catalogue of the running request. The engine provides it around the handler of a discovery tool;
 * outside an agent there is none, and discovery refuses to guess one.
 */
export const DiscoveryCatalogue = Context.Reference<Catalogue | undefined>(
  "effect-agent/exposure/discovery/DiscoveryCatalogue",
  { defaultValue: () => undefined },
);

/** A descriptor with what it describes. */
export interface CatalogueEntry {
  readonly descriptor: Descriptor;
  readonly source: Tool.Any | DiscoveryAlias;
}

/** A catalogue read once: entries in id order, and descriptor lists that keep their identity. */
export interface ReadCatalogue {
  readonly byId: ReadonlyMap<string, CatalogueEntry>;
  /** The descriptors of one namespace, or of all; the same array each time, so that an index can be kept for it. */
  readonly descriptors: (namespace: string | undefined) => ReadonlyArray<Descriptor>;
}

/**
 * Makes a reader of catalogues. It remembers the last few, so that the same eligible tools give the same
 * descriptor arrays run after run.
 *
 * @param hints what the host says about each namespace
 */
export const makeCatalogueReader = (
  hints: Readonly<Record<string, string>>,
): ((catalogue: Catalogue) => Result.Result<ReadCatalogue, ToolDiscoveryError>) => {
  const remembered: Array<{
    readonly parts: ReadonlyArray<object>;
    readonly read: ReadCatalogue;
  }> = [];
  const hintOf = (namespace: string | undefined): string | undefined =>
    namespace !== undefined && Object.hasOwn(hints, namespace) ? hints[namespace] : undefined;

  const byRecord = new WeakMap<Catalogue["tools"], ReadCatalogue>();
  const read = (catalogue: Catalogue): Result.Result<ReadCatalogue, ToolDiscoveryError> => {
    // Compared before anything is read: ten thousand tools are the usual case, not the same ten again.
    const parts: ReadonlyArray<object> = [
      ...Object.values(catalogue.tools),
      ...(catalogue.aliases ?? []),
    ];
    const known = remembered.find((entry) => sameParts(entry.parts, parts));
    if (known !== undefined) return Result.succeed(known.read);
    return Result.map(readCatalogue(catalogue, hintOf), (fresh) => {
      remembered.unshift({ parts, read: fresh });
      remembered.length = Math.min(remembered.length, maxRemembered);
      return fresh;
    });
  };

  return (catalogue) => {
    if (catalogue.aliases !== undefined) return read(catalogue);
    const known = byRecord.get(catalogue.tools);
    if (known !== undefined) return Result.succeed(known);
    return Result.map(read(catalogue), (fresh) => {
      byRecord.set(catalogue.tools, fresh);
      return fresh;
    });
  };
};

/** Runs of one agent differ by what visibility leaves them; a handful of variants is usual. */
const maxRemembered = 8;

const sameParts = (left: ReadonlyArray<object>, right: ReadonlyArray<object>): boolean =>
  left.length === right.length && left.every((part, index) => part === right[index]);

const readCatalogue = (
  catalogue: Catalogue,
  hintOf: (namespace: string | undefined) => string | undefined,
): Result.Result<ReadCatalogue, ToolDiscoveryError> => {
  // A discovery tool does not find itself: it is always exposed.
  const entries: Array<CatalogueEntry> = Object.values(catalogue.tools)
    .filter((tool) => !isDiscoveryTool(tool))
    .map((tool) => ({ source: tool, descriptor: withHint(nativeDescriptor(tool), hintOf) }));
  for (const alias of catalogue.aliases ?? []) {
    if (!Object.hasOwn(catalogue.tools, alias.nativeToolName)) {
      return Result.fail(
        discoveryError(
          "invalid-catalogue",
          `The alias ${JSON.stringify(alias.id.slice(0, 128))} belongs to a tool that is not eligible.`,
          alias.id,
        ),
      );
    }
    const { parametersSchema: _parameters, successSchema: _success, ...descriptor } = alias;
    entries.push({ source: alias, descriptor: withHint(descriptor, hintOf) });
  }
  for (const { descriptor, source } of entries) sources.set(descriptor, source);
  entries.sort((left, right) => compareIds(left.descriptor.id, right.descriptor.id));
  const byId = new Map<string, CatalogueEntry>();
  for (const entry of entries) {
    const { id } = entry.descriptor;
    if (byId.has(id)) {
      return Result.fail(
        discoveryError(
          "invalid-catalogue",
          `Two tools share the catalogue id ${JSON.stringify(id.slice(0, 128))}.`,
          id,
        ),
      );
    }
    byId.set(id, entry);
  }
  return Result.succeed({ byId, descriptors: makeDescriptorLists(entries) });
};

const nativeDescriptor = (tool: Tool.Any): Descriptor => {
  const namespace = namespaceOf(tool);
  const description = Tool.getDescription(tool);
  return {
    id: tool.name,
    name: tool.name,
    nativeToolName: tool.name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(description === undefined ? {} : { description }),
  };
};

const withHint = (
  descriptor: Descriptor,
  hintOf: (namespace: string | undefined) => string | undefined,
): Descriptor => {
  const hint = hintOf(descriptor.namespace);
  return hint === undefined ? descriptor : { ...descriptor, namespaceDescription: hint };
};

/** What each descriptor describes; kept apart, because a search gets descriptors only. */
const sources = new WeakMap<Descriptor, Tool.Any | DiscoveryAlias>();

/** Names and descriptions of the parameters behind a descriptor, for ranking; empty for an alias. */
export const parameterTextOf = (descriptor: Descriptor): string => {
  const source = sources.get(descriptor);
  return source !== undefined && Tool.TypeId in source ? parameterText(source) : "";
};

/** UTF-16 code unit order: the same on every machine, whatever its language. */
export const compareIds = (left: string, right: string): number =>
  left < right ? -1 : left > right ? 1 : 0;

const makeDescriptorLists = (
  entries: ReadonlyArray<CatalogueEntry>,
): ReadCatalogue["descriptors"] => {
  const all = entries.map((entry) => entry.descriptor);
  const byNamespace = new Map<string, Array<Descriptor>>();
  for (const descriptor of all) {
    if (descriptor.namespace === undefined) continue;
    const list = byNamespace.get(descriptor.namespace);
    if (list === undefined) byNamespace.set(descriptor.namespace, [descriptor]);
    else list.push(descriptor);
  }
  const none: ReadonlyArray<Descriptor> = [];
  return (namespace) => (namespace === undefined ? all : (byNamespace.get(namespace) ?? none));
};
