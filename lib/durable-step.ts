/**
 * What may happen to a tool call when the process that runs it is lost.
 *
 * Tools declare it with an annotation; every other hint of a tool declaration
 * (`Tool.Readonly`, `Tool.Idempotent`, ...) is display only and changes nothing
 * here (`T-11`).
 */
import * as Context from "effect/Context";
import type * as Tool from "effect/unstable/ai/Tool";
import type * as Status from "#lib/contract/status.ts";

/**
 * `readonly`: no durable marker, free to run again. `idempotent`: marked, and may
 * run again with the same idempotency key. `uncertain`: marked, and after a loss
 * only a reconciler or a person may say what happened (`DU-05`).
 */
export type ExecutionClass = Status.ExecutionClass;

/**
 * Tool annotation with the durable execution class; `"uncertain"` when a tool
 * says nothing (`T-11`, `DU-05`).
 *
 * ```ts
 * Tool.make("get_order", { ... }).annotate(ToolExecutionClass, "readonly")
 * ```
 */
export const ToolExecutionClass = Context.Reference<ExecutionClass>(
  "effect-agent/durable-step/ToolExecutionClass",
  {
    defaultValue: () => "uncertain",
  },
);

/** The execution class a tool declares, `"uncertain"` by default (`T-11`). */
export const executionClassOf = (tool: Tool.Any): ExecutionClass =>
  Context.get(tool.annotations, ToolExecutionClass);
