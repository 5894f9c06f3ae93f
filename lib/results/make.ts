import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import type * as Layer from "effect/Layer";
import * as Schema from "effect/Schema";
import * as Tool from "effect/unstable/ai/Tool";
import * as Toolkit from "effect/unstable/ai/Toolkit";
import { AgentDefinitionError } from "#lib/agent-error.ts";
import { ToolExecutionClass } from "#lib/durable-step.ts";
import { PinnedTool } from "#lib/exposure/tool-annotations.ts";
import { type FoundResult, KeptResults } from "./KeptResults.ts";
import { pageOf, ResultPage } from "./page.ts";
import { ToolResultReadError } from "./read-error.ts";

/** The name of the tool that {@link make} gives. */
export const readerName = "read_tool_result";

/** UTF-8 bytes of a page when nothing is said: 32 KiB. */
export const defaultMaxPageBytes = 32_768;
const floorMaxPageBytes = 256;
const ceilingMaxPageBytes = 1_048_576;

/** `true` on the tool whose handler pages through kept results, and on no other. */
const ToolResultReader = Context.Reference<boolean>("effect-agent/tool-results/ToolResultReader", {
  defaultValue: () => false,
});

/** Whether a toolkit holds the tool that reads kept results. */
export const hasResultReader = (tools: Readonly<Record<string, Tool.Any>>): boolean => {
  const tool = Object.hasOwn(tools, readerName) ? tools[readerName] : undefined;
  return tool !== undefined && Context.get(tool.annotations, ToolResultReader);
};

const absentOrNull = <S extends Schema.Constraint>(schema: S) =>
  Schema.optionalKey(Schema.NullOr(schema));

/** Parameters of `read_tool_result`. A model that leaves one out may send null as well. */
export const ReadParameters = Schema.Struct({
  resultId: Schema.String.check(Schema.isMaxLength(128)).annotate({
    description: "The resultId that the shortened result gives under readOn.",
  }),
  offset: absentOrNull(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))).annotate({
    description:
      "Where to begin; the beginning when left out. Use the offset under readOn, then nextOffset.",
  }),
  length: absentOrNull(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))).annotate({
    description: "Most characters to read; as many as fit when left out.",
  }),
});

/** The reading tool: an ordinary Effect AI tool, pinned and readonly; its failures go back to the model. */
export type ReadToolResult = Tool.Tool<
  typeof readerName,
  {
    readonly parameters: typeof ReadParameters;
    readonly success: typeof ResultPage;
    readonly failure: typeof ToolResultReadError;
    readonly failureMode: "return";
  }
>;

/** What {@link make} gives: put `tool` into the toolkit and provide `handlers` with the other handlers. */
export interface ToolResultReading {
  readonly tool: ReadToolResult;
  readonly handlers: Layer.Layer<Tool.Handler<typeof readerName>>;
}

/** Options of {@link make}; each has a default. */
export interface ToolResultOptions {
  /** Most UTF-8 bytes of a page, 256 to 1,048,576; default 32,768. The run's own bound of results holds beside it. */
  readonly maxPageBytes?: number;
  /** Replaces what the model is told about the tool. */
  readonly description?: string;
}

const defaultDescription =
  "Read on in an earlier tool result of this conversation that was shortened. Call with the parameters that it gives under readOn; the answer says where to read on.";

const fail = (reason: ToolResultReadError["reason"], message: string) =>
  Effect.fail(new ToolResultReadError({ reason, message }));

const partlyKept = ({ bytes, originalBytes }: Extract<FoundResult, { readonly _tag: "kept" }>) =>
  `Only the first ${bytes} of ${originalBytes} bytes are kept.`;

/**
 * Makes `read_tool_result`, with which a model pages through a result of its own run
 * that was too large to be shown whole (T-18). Where a request offers it, the
 * envelope of a large result says what to call; without it, nothing is promised.
 *
 * Throws `AgentDefinitionError` when `maxPageBytes` is out of its range.
 */
export const make = (options: ToolResultOptions = {}): ToolResultReading => {
  const maxPageBytes = options.maxPageBytes ?? defaultMaxPageBytes;
  if (
    !Number.isInteger(maxPageBytes) ||
    maxPageBytes < floorMaxPageBytes ||
    maxPageBytes > ceilingMaxPageBytes
  )
    throw new AgentDefinitionError({
      toolName: readerName,
      message: `ToolResults.make: maxPageBytes must be a whole number from ${floorMaxPageBytes} to ${ceilingMaxPageBytes}; it is ${maxPageBytes}.`,
    });
  const tool: ReadToolResult = Tool.make(readerName, {
    description: options.description ?? defaultDescription,
    parameters: ReadParameters,
    success: ResultPage,
    failure: ToolResultReadError,
    failureMode: "return",
  })
    .annotate(PinnedTool, true)
    .annotate(ToolResultReader, true)
    .annotate(ToolExecutionClass, "readonly");

  const read = Effect.fn("ToolResults.read")(function* (parameters: typeof ReadParameters.Type) {
    const results = yield* KeptResults;
    const found = results === undefined ? undefined : yield* results.find(parameters.resultId);
    if (results === undefined || found === undefined || found._tag === "none")
      return yield* fail(
        "unknown-result",
        "No result of this run has this resultId. Use the parameters that a shortened result gives under readOn.",
      );
    if (found._tag === "damaged")
      return yield* fail(
        "damaged",
        "What is kept of this result is not what was recorded, so nothing of it is shown.",
      );
    const { source } = found;
    const offset = parameters.offset ?? 0;
    const isWhole = found.bytes === found.originalBytes;
    if (offset >= source.length)
      return yield* isWhole
        ? fail("beyond-end", `The result ends at offset ${source.length}.`)
        : fail("not-kept", `${partlyKept(found)} They end at offset ${source.length}.`);
    return pageOf(
      source,
      offset,
      parameters.length ?? source.length,
      Math.min(maxPageBytes, results.maxBytes),
      isWhole ? undefined : partlyKept(found),
    );
  });
  return { tool, handlers: Toolkit.make(tool).toLayer({ [readerName]: read }) };
};
