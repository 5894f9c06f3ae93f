import * as Schema from "effect/Schema";

/**
 * Where the non-pinned set of a request came from (OP-02): the agent's configuration, the host's own
 * selection, the last discovery result, or a discovery result that selected nothing.
 */
export const SelectionSource = Schema.Literals(["initial", "host", "discovery", "cleared"]);
export type SelectionSource = typeof SelectionSource.Type;

/** Most names that a list of a snapshot holds; the count beside the list is always exact. */
export const maxSnapshotNames = 1_024;

const names = Schema.Array(Schema.String).check(Schema.isMaxLength(maxSnapshotNames));
const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0));

/**
 * What one model request exposed, and why the rest was not: stored with the response it led to and never
 * changed afterwards (X-12, OP-02). Exposure is what the model may see; it permits nothing.
 */
export class ExposureSnapshot extends Schema.Class<ExposureSnapshot>(
  "effect-agent/contract/exposure/ExposureSnapshot",
)({
  /** Exactly the tools declared in the request, in the order of the toolkit. */
  exposed: Schema.Array(Schema.String),
  /** The exposed tools that carry the `PinnedTool` annotation. */
  pins: Schema.Array(Schema.String),
  /** The exposed tools through which the model can find others (D-15). */
  discoveryTools: Schema.Array(Schema.String),
  /** True when nothing selects, so that every eligible tool is exposed. */
  eager: Schema.Boolean,
  selectionSource: SelectionSource,
  /** The non-pinned names that were asked for, whether or not they turned out eligible. */
  selected: names,
  /** UTF-8 bytes of the JSON declarations of all exposed tools, after the model's schema transformation. */
  schemaBytes: count,
  maxTools: count,
  maxSchemaBytes: count,
  /** Registered tools that visibility or an inherited grant hid; at most 1,024 names. */
  hiddenByVisibility: names,
  hiddenByVisibilityCount: count,
  /** Eligible tools that no selection asked for; at most 1,024 names. */
  notSelected: names,
  notSelectedCount: count,
  /** Sentences for the operator, for example that an eager toolkit passes the default limits. */
  warnings: Schema.Array(Schema.String),
}) {}
