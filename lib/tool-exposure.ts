/**
 * What a model may see: the annotations, the configuration, the host's selection and the visibility
 * policy. Exposure decides which tools a request declares and nothing else; authorization, approval and
 * budgets still decide whether a call may execute.
 */
export {
  DiscoveryTool,
  isDiscoveryTool,
  isPinned,
  namespaceOf,
  PinnedTool,
  ToolNamespace,
} from "#lib/exposure/tool-annotations.ts";
export {
  ceilingMaxSchemaBytes,
  ceilingMaxTools,
  defaultMaxSchemaBytes,
  defaultMaxTools,
  resolveExposureConfig,
  ToolExposureConfig,
  ToolExposureOptions,
} from "#lib/exposure/exposure-config.ts";
export {
  RunToolVisibility,
  type ToolVisibilityRequest,
} from "#lib/exposure/run-tool-visibility.ts";
export { Selection } from "#lib/exposure/selection.ts";
export { ExposureSnapshot, SelectionSource } from "#lib/contract/exposure.ts";
