import * as Result from "effect/Result";
import type { CodecTransformer } from "effect/unstable/ai/LanguageModel";
import type * as Tool from "effect/unstable/ai/Tool";
import { type AgentDefinitionError, ModelProtocolError } from "#lib/agent-error.ts";
import {
  ExposureSnapshot,
  maxSnapshotNames,
  type SelectionSource,
} from "#lib/contract/exposure.ts";
import { declarationBytes } from "./declarations.ts";
import {
  defaultMaxSchemaBytes,
  defaultMaxTools,
  type ToolExposureConfig,
} from "./exposure-config.ts";
import { isDiscoveryTool, isPinned } from "./tool-annotations.ts";

/** The selection in force, with where it came from. */
export interface ActiveSelection {
  readonly source: SelectionSource;
  readonly toolNames: ReadonlyArray<string>;
}

/** Everything that decides what one request exposes. */
export interface ExposureInput {
  /** The whole registered toolkit. */
  readonly tools: Readonly<Record<string, Tool.Any>>;
  /** What `resolveExposureConfig` gave; left out, the agent configures nothing. */
  readonly config?: ToolExposureConfig | undefined;
  /** Left out, the agent's initial names apply. */
  readonly selection?: ActiveSelection | undefined;
  /** What visibility and inherited grants left; left out, there is no filter. */
  readonly eligible?: ReadonlyArray<string> | undefined;
  /** Names that a request cannot do without, such as a required completion tool. Discovery tools are so by themselves. */
  readonly mandatory?: ReadonlyArray<string> | undefined;
  /** For the final-answer turn: nothing but these may be exposed, where eligible. */
  readonly restrictTo?: ReadonlyArray<string> | undefined;
  /** The current model's schema transformation, for the size. */
  readonly codecTransformer?: CodecTransformer | undefined;
}

/** The last decision about each toolkit: a run nearly always asks the same question at every turn. */
const latest = new WeakMap<
  ExposureInput["tools"],
  { readonly input: ExposureInput; readonly snapshot: ExposureSnapshot }
>();

const sameNames = (
  one: ReadonlyArray<string> | undefined,
  other: ReadonlyArray<string> | undefined,
): boolean =>
  one === undefined || other === undefined
    ? one === other
    : one.length === other.length && one.every((name, index) => name === other[index]);

/** The question with its own copy of every list: a host's filter may hand out one that it changes. */
const kept = (input: ExposureInput): ExposureInput => ({
  ...input,
  ...(input.selection === undefined
    ? {}
    : { selection: { ...input.selection, toolNames: [...input.selection.toolNames] } }),
  ...(input.eligible === undefined ? {} : { eligible: [...input.eligible] }),
  ...(input.mandatory === undefined ? {} : { mandatory: [...input.mandatory] }),
  ...(input.restrictTo === undefined ? {} : { restrictTo: [...input.restrictTo] }),
});

const sameQuestion = (one: ExposureInput, other: ExposureInput): boolean =>
  one.config === other.config &&
  one.codecTransformer === other.codecTransformer &&
  one.selection?.source === other.selection?.source &&
  sameNames(one.selection?.toolNames, other.selection?.toolNames) &&
  sameNames(one.eligible, other.eligible) &&
  sameNames(one.mandatory, other.mandatory) &&
  sameNames(one.restrictTo, other.restrictTo);

/**
 * Decides what a model request exposes, before the model is called. Pure; the same
 * question about the same toolkit may give the very snapshot it gave before.
 *
 * Eligible pins, mandatory tools and selected tools are exposed, in toolkit order.
 * Without configuration, selection or discovery tool everything eligible is, and the limits only warn;
 * with any of them, or with a visibility filter, passing a limit is an error.
 *
 * Fails with `ModelProtocolError`: `unknown-initial-tool`, `invalid-selection`, `mandatory-tool-hidden` or
 * `exposure-limit`; with `AgentDefinitionError` when a tool cannot be declared to this model.
 */
export const resolveExposure = (
  input: ExposureInput,
): Result.Result<ExposureSnapshot, ModelProtocolError | AgentDefinitionError> => {
  const before = latest.get(input.tools);
  if (before !== undefined && sameQuestion(before.input, input))
    return Result.succeed(before.snapshot);
  const decided = decideExposure(input);
  if (Result.isSuccess(decided))
    latest.set(input.tools, { input: kept(input), snapshot: decided.success });
  return decided;
};

const decideExposure = (
  input: ExposureInput,
): Result.Result<ExposureSnapshot, ModelProtocolError | AgentDefinitionError> => {
  const hasDiscovery = Object.values(input.tools).some(isDiscoveryTool);
  const requested = requestedNames(input, hasDiscovery);
  if (Result.isFailure(requested)) return Result.fail(requested.failure);

  const eligible = input.eligible === undefined ? undefined : new Set(input.eligible);
  const isEligible = (name: string): boolean => eligible === undefined || eligible.has(name);
  const missing = hiddenMandatory(input, isEligible);
  if (missing !== undefined) return Result.fail(missing);

  const exposed = exposedTools(input, requested.success.names, isEligible);
  const bytes = declarationBytes(
    exposed.map(([, tool]) => tool),
    input.codecTransformer,
  );
  if (Result.isFailure(bytes)) return Result.fail(bytes.failure);

  const limits = {
    maxTools: input.config?.maxTools ?? defaultMaxTools,
    maxSchemaBytes: input.config?.maxSchemaBytes ?? defaultMaxSchemaBytes,
  };
  const limitsApply =
    input.config !== undefined ||
    hasDiscovery ||
    input.selection !== undefined ||
    eligible !== undefined;
  const excess = passedLimit(exposed.length, bytes.success, limits);
  if (excess !== undefined && limitsApply) return Result.fail(excess);

  return Result.succeed(
    new ExposureSnapshot({
      ...namesOf(Object.keys(input.tools), exposed, isEligible),
      eager: requested.success.names === undefined && input.restrictTo === undefined,
      selectionSource: requested.success.source,
      selected: (requested.success.names ?? []).slice(0, maxSnapshotNames),
      schemaBytes: bytes.success,
      ...limits,
      warnings:
        excess === undefined
          ? []
          : [`${excess.message} The limits only warn while nothing selects or filters tools.`],
    }),
  );
};

type NamedTool = readonly [name: string, tool: Tool.Any];

const exposedTools = (
  input: ExposureInput,
  requested: ReadonlyArray<string> | undefined,
  isEligible: (name: string) => boolean,
): ReadonlyArray<NamedTool> => {
  const wanted = requested === undefined ? undefined : new Set(requested);
  const mandatory = new Set(input.mandatory);
  const only = input.restrictTo === undefined ? undefined : new Set(input.restrictTo);
  return Object.entries(input.tools).filter(([name, tool]) => {
    if (!isEligible(name)) return false;
    if (only !== undefined) return only.has(name);
    return (
      wanted === undefined ||
      wanted.has(name) ||
      mandatory.has(name) ||
      isPinned(tool) ||
      isDiscoveryTool(tool)
    );
  });
};

/** Every registered name on the one list of the snapshot that says what became of it. */
const namesOf = (
  registered: ReadonlyArray<string>,
  exposed: ReadonlyArray<NamedTool>,
  isEligible: (name: string) => boolean,
) => {
  const exposedNames = exposed.map(([name]) => name);
  const shown = new Set(exposedNames);
  const hidden = registered.filter((name) => !isEligible(name));
  const notSelected = registered.filter((name) => isEligible(name) && !shown.has(name));
  return {
    exposed: exposedNames,
    pins: exposed.filter(([, tool]) => isPinned(tool)).map(([name]) => name),
    discoveryTools: exposed.filter(([, tool]) => isDiscoveryTool(tool)).map(([name]) => name),
    hiddenByVisibility: hidden.slice(0, maxSnapshotNames),
    hiddenByVisibilityCount: hidden.length,
    notSelected: notSelected.slice(0, maxSnapshotNames),
    notSelectedCount: notSelected.length,
  };
};

/** The names that are asked for beside pins and mandatory tools; undefined means every tool. */
const requestedNames = (
  input: ExposureInput,
  hasDiscovery: boolean,
): Result.Result<
  { readonly names: ReadonlyArray<string> | undefined; readonly source: SelectionSource },
  ModelProtocolError
> => {
  const isChosen = input.selection !== undefined && input.selection.source !== "initial";
  const names = isChosen
    ? input.selection.toolNames
    : (input.config?.initialToolNames ?? (hasDiscovery ? [] : undefined));
  // Object.hasOwn: `toString` and `__proto__` are no tools.
  const unknown = names?.find((name) => !Object.hasOwn(input.tools, name));
  if (unknown !== undefined) {
    return Result.fail(
      new ModelProtocolError({
        reason: isChosen ? "invalid-selection" : "unknown-initial-tool",
        toolName: unknown,
        message: `The ${isChosen ? "selection" : "initial exposure"} names ${JSON.stringify(unknown)}, which is not a registered tool.`,
      }),
    );
  }
  const chosen = isChosen ? input.selection.source : "initial";
  return Result.succeed({
    names,
    source: chosen === "discovery" && names?.length === 0 ? "cleared" : chosen,
  });
};

const hiddenMandatory = (
  input: ExposureInput,
  isEligible: (name: string) => boolean,
): ModelProtocolError | undefined => {
  // A final-answer turn does not search, so only what its caller names is mandatory there.
  const discovery =
    input.restrictTo === undefined
      ? Object.entries(input.tools).flatMap(([name, tool]) => (isDiscoveryTool(tool) ? [name] : []))
      : [];
  const missing = [...(input.mandatory ?? []), ...discovery].find(
    (name) => !Object.hasOwn(input.tools, name) || !isEligible(name),
  );
  if (missing === undefined) return undefined;
  return new ModelProtocolError({
    reason: "mandatory-tool-hidden",
    toolName: missing,
    message: `The tool ${JSON.stringify(missing)} is mandatory for this run, but it is ${Object.hasOwn(input.tools, missing) ? "hidden by visibility" : "not registered"}.`,
  });
};

const passedLimit = (
  tools: number,
  bytes: number,
  limits: { readonly maxTools: number; readonly maxSchemaBytes: number },
): ModelProtocolError | undefined => {
  if (tools > limits.maxTools) {
    return new ModelProtocolError({
      reason: "exposure-limit",
      limit: limits.maxTools,
      seen: tools,
      message: `The request would expose ${tools} tools; maxTools allows ${limits.maxTools}.`,
    });
  }
  if (bytes > limits.maxSchemaBytes) {
    return new ModelProtocolError({
      reason: "exposure-limit",
      limit: limits.maxSchemaBytes,
      seen: bytes,
      message: `The request would declare ${bytes} UTF-8 bytes of tools; maxSchemaBytes allows ${limits.maxSchemaBytes}.`,
    });
  }
  return undefined;
};
