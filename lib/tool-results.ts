/**
 * Large results: the model gets a bounded copy, the whole text is kept beside the
 * record, and with `read_tool_result` the model can page through it (T-18, R52).
 */
export {
  make,
  ReadParameters,
  type ReadToolResult,
  type ToolResultOptions,
  type ToolResultReading,
} from "#lib/results/make.ts";
export { ResultPage } from "#lib/results/page.ts";
export { ToolResultReadError } from "#lib/results/read-error.ts";
export { maxKeptResultBytes, maxKeptRunBytes } from "#lib/results/kept-text.ts";
