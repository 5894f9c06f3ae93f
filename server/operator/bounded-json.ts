import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { InvalidInput } from "#lib/contract/errors.ts";
import { checkJsonBounds, defaultJsonLimits } from "#lib/contract/json/json-bounds.ts";
import type { Json } from "#lib/contract/json/json.ts";

/** Refuses what is too large or too deep to be stored, before anything is (PG-06). */
export const boundedJson = (
  value: Json,
  options: { readonly path: string; readonly maxBytes?: number },
): Effect.Effect<Json, InvalidInput> => {
  const limits = { ...defaultJsonLimits, bytes: options.maxBytes ?? defaultJsonLimits.bytes };
  const checked = checkJsonBounds(value, limits);
  if (Result.isSuccess(checked)) return Effect.succeed(checked.success);
  const fault = checked.failure;
  return Effect.fail(
    new InvalidInput({
      message: fault.message,
      path: options.path,
      ...(fault._tag === "JsonBoundExceeded"
        ? { limit: `${fault.max} (${fault.limit})`, seen: `at least ${fault.seen}` }
        : {}),
    }),
  );
};
