/** Whether a result that no handler of this process gave may become a call's result (DU-06, DU-07). */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import type * as Tool from "effect/unstable/ai/Tool";
import type { Json } from "#lib/contract/json/json.ts";

/** Most characters of the schema's own words. */
const maxWords = 1_000;

/**
 * Checks an encoded result against the tool's success schema, or against its
 * failure schema when `isFailure`; what the schema does not name is refused too.
 *
 * @returns fails with one sentence for a person
 */
export const checkResult = (
  tool: Tool.Any,
  result: Json,
  isFailure: boolean,
): Effect.Effect<void, string> => {
  // Void results are `null` in JSON (T-05), which the schema itself does not read.
  if (!isFailure && tool.successSchema === Schema.Void && result === null) return Effect.void;
  const declared: unknown = isFailure ? tool.failureSchema : tool.successSchema;
  // Tool schemas need no services: they describe data that crosses processes.
  const schema = declared as Schema.ConstraintCodec<unknown, unknown>;
  return Schema.decodeUnknownEffect(schema, { onExcessProperty: "error" })(result).pipe(
    Effect.asVoid,
    Effect.mapError(
      (error) =>
        `The result does not fit the ${isFailure ? "failure" : "success"} schema of ${tool.name}: ${error.message.slice(0, maxWords)}`,
    ),
  );
};
