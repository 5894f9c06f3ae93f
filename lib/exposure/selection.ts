import * as Schema from "effect/Schema";

/** Most names one selection can hold (D-12). */
export const maxSelectionNames = 1_024;

/**
 * The non-pinned tools to expose from the next request of a run on, replacing those before.
 * An empty list leaves only pinned and mandatory tools.
 */
export class Selection extends Schema.Class<Selection>("effect-agent/tool-exposure/Selection")({
  toolNames: Schema.Array(Schema.String).check(Schema.isMaxLength(maxSelectionNames)),
}) {}
