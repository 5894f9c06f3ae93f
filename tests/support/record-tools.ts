/** The two tools that the product's own description speaks of: one pinned, one to be discovered. */
import * as Schema from "effect/Schema";
import * as Tool from "effect/unstable/ai/Tool";
import { ToolExposure } from "effect-agent";

export const GetRecord = Tool.make("get_record", {
  description: "Read one record by its ID.",
  parameters: Schema.Struct({ id: Schema.String }),
  success: Schema.String,
})
  .annotate(ToolExposure.ToolNamespace, "records")
  .annotate(ToolExposure.PinnedTool, true);

export const SearchRecords = Tool.make("search_records", {
  description: "Search records by title.",
  parameters: Schema.Struct({ title: Schema.String }),
  success: Schema.Array(Schema.String),
}).annotate(ToolExposure.ToolNamespace, "records");
