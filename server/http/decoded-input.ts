/** A request that does not fit its schema is answered with the place and what was expected there, never with the value. */
import * as Effect from "effect/Effect";
import * as SchemaIssue from "effect/SchemaIssue";
import { HttpApiMiddleware } from "effect/unstable/httpapi";
import type { HttpApiError } from "effect/unstable/httpapi";
import { DecodedInput } from "#lib/contract/http/authentication.ts";
import { InvalidInput } from "#lib/contract/errors.ts";

const format = SchemaIssue.makeFormatterStandardSchemaV1();

/** What people call each part of a request. */
const placeNames = {
  Params: "path",
  Headers: "headers",
  Query: "query",
  Payload: "body",
} as const;

const bounded = (text: string): string => (text.length > 300 ? `${text.slice(0, 300)}…` : text);

const pathText = (place: string, path: ReadonlyArray<unknown>): string =>
  bounded(
    [place, ...path.map((part) => (typeof part === "object" ? "?" : String(part)))].join("."),
  );

export const invalidInputOf = (
  kind: keyof typeof placeNames,
  error: HttpApiError.HttpApiSchemaError,
): InvalidInput => {
  const first = format(error.cause.issue).issues[0];
  const path = pathText(placeNames[kind], first?.path ?? []);
  const expected = bounded(first?.message ?? "Expected another value");
  return new InvalidInput({
    message: `The request is not acceptable at ${path}: ${expected}.`,
    path,
    limit: expected,
  });
};

/** What the server itself failed to encode is its own fault and stays a defect. */
export const decodedInputLayer = HttpApiMiddleware.layerSchemaErrorTransform(
  DecodedInput,
  (error) =>
    error.kind === "Body" || error.kind === "ResponseHeaders"
      ? Effect.fail(error)
      : Effect.fail(invalidInputOf(error.kind, error)),
);
