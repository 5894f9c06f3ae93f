import * as Schema from "effect/Schema";

/**
 * Discovery cannot answer truthfully, so it answers nothing (D-10).
 *
 * - `invalid-catalogue`: no catalogue, two descriptors with one id, or an alias of a tool that is not eligible
 * - `invalid-matches`: the search returned something else than at most 1,024 different ids
 * - `unknown-match`: the search returned an id that is not in the catalogue it was given
 * - `invalid-schema`: a matched tool has no complete JSON schemas, as a provider-defined one has none (D-16)
 *
 * A result that is too large is never an error (D-09).
 */
export class ToolDiscoveryError extends Schema.TaggedError<ToolDiscoveryError>()(
  "ToolDiscoveryError",
  {
    reason: Schema.Literals([
      "invalid-catalogue",
      "invalid-matches",
      "unknown-match",
      "invalid-schema",
    ]),
    message: Schema.String,
    /** The descriptor concerned, shortened to 128 characters. */
    id: Schema.optionalKey(Schema.String),
  },
) {}

/** Builds the error; ids come from searches and remote servers, so they are shortened. */
export const discoveryError = (
  reason: ToolDiscoveryError["reason"],
  message: string,
  id?: string,
): ToolDiscoveryError =>
  new ToolDiscoveryError({
    reason,
    message,
    ...(id === undefined ? {} : { id: id.slice(0, 128) }),
  });
