/**
 * Raw arguments to decoded ones, once and strictly (T-03, T-15, F-06). The model
 * wrote them in its provider's shape; the handler gets the tool's own type, and
 * history keeps what was written.
 */
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import * as AiError from "effect/unstable/ai/AiError";
import * as Tool from "effect/unstable/ai/Tool";
import type { Json } from "#lib/contract/json/json.ts";
import { checkJsonBounds } from "#lib/contract/json/json-bounds.ts";
import { isSameShallow } from "#lib/contract/json/shallow-json.ts";
import { parseJson } from "#lib/contract/json/secure-parse.ts";
import { toJson } from "#lib/contract/json/to-json.ts";
import { argumentCodecs, type ModelCodec } from "./ModelCodec.ts";
import type { RawCall } from "./model-response.ts";

/** Arguments that a handler may be started with. */
export interface DecodedArguments {
  /** As the model wrote them. */
  readonly parameters: Json;
  /** In the tool's own encoding with defaults filled in: what runs, and what is approved. */
  readonly effective: Json;
  /** What the handler will be given. */
  readonly decoded: unknown;
}

/** Why arguments were refused; `parameters` is what can be stored of them. */
export interface RefusedArguments {
  readonly parameters: Json;
  /** Path and constraint, never the value (R38); at most 1,000 characters. */
  readonly description: string;
  /** Not JSON at all, or beyond every bound: fatal in either failure mode (F-07). */
  readonly malformed: boolean;
}

const strict = { onExcessProperty: "error", errors: "all" } as const;

type ArgumentCodec = Schema.ConstraintCodec<unknown, unknown>;
type Read = (value: unknown) => Effect.Effect<unknown, Schema.SchemaError>;

interface Parsers {
  /** Refuses keys that the schema does not name. */
  readonly strict: Read;
  /** Leaves such keys out; what is left of the value it reads several times as fast. */
  readonly plain: Read;
  readonly encode: Read;
}

/** Made once per schema: a parser costs more than its use, and schemas are immutable values. */
const parsers = new WeakMap<ArgumentCodec, Parsers>();

const parsersOf = (schema: ArgumentCodec): Parsers => {
  const known = parsers.get(schema);
  if (known !== undefined) return known;
  const made: Parsers = {
    strict: Schema.decodeUnknownEffect(schema, strict),
    plain: Schema.decodeUnknownEffect(schema),
    encode: Schema.encodeUnknownEffect(schema),
  };
  parsers.set(schema, made);
  return made;
};

const bounded = (text: string): string =>
  text.length <= 1_000 ? text : `${text.slice(0, 985)} [truncated]`;

/** The arguments as they can be stored: `null` for what is no JSON or over its bounds. */
export const storableArguments = (params: unknown): Json =>
  Result.getOrElse(
    Result.flatMap(toJson(params), (json) => checkJsonBounds(json)),
    () => null,
  );

/** The JSON value that the model wrote: from its own text where the provider streamed it. */
const rawJson = (call: RawCall): Result.Result<Json, RefusedArguments> => {
  const text = call.argumentsText?.trim();
  // Real models send no text at all for a tool without parameters (R35).
  if (text === "") return Result.succeed({});
  if (text === undefined) {
    return Result.mapError(
      Result.flatMap(toJson(call.params), (json) => checkJsonBounds(json)),
      (fault) => ({
        parameters: null,
        description: bounded(fault.message),
        malformed: false,
      }),
    );
  }
  return Result.mapError(parseJson(text), (fault) => ({
    parameters: null,
    description: bounded(fault.message),
    // A duplicate key or an inexact number is JSON that says something else than was meant: the model can correct it.
    malformed: fault._tag === "JsonTextInvalid" && fault.reason === "syntax",
  }));
};

/**
 * What is decoded: schemas hand on parts of a value as they are, and whoever gets the
 * decoded value may change it; what is recorded stays what it was.
 */
const detached = (json: Json): Json => Result.getOrElse(toJson(json), () => json);

/** What a parser gave at once; undefined where it refuses, or where it has to wait for something. */
const atOnce = (
  read: Effect.Effect<unknown, Schema.SchemaError>,
): { readonly value: unknown } | undefined =>
  Exit.isExit(read) && Exit.isSuccess(read) ? read : undefined;

/**
 * Arguments whose own encoding is what the model wrote, as nearly all are. Nothing can have been left out of
 * them, so the strict reading would have given the very same and need not be done.
 */
const decodeAsWritten = (tool: Tool.Any, parameters: Json): DecodedArguments | undefined => {
  const { encode, plain } = parsersOf(codecOf(tool));
  const read = atOnce(plain(detached(parameters)));
  const encoded = read === undefined ? undefined : atOnce(encode(read.value));
  if (read === undefined || encoded === undefined) return undefined;
  if (!isSameShallow(encoded.value, parameters)) return undefined;
  if (typeof parameters === "object" && parameters !== null) asWritten.set(parameters, tool);
  return { parameters, effective: parameters, decoded: read.value };
};

/** Arguments that were found to be as written, and for which tool. */
const asWritten = new WeakMap<object, Tool.Any>();

const isAsWritten = (tool: Tool.Any, effective: Json): boolean =>
  typeof effective === "object" && effective !== null && asWritten.get(effective) === tool;

/**
 * Decodes one call's arguments. Tries the model's own codec first and then the
 * other shapes that models are known to write; the error is the first one's, so
 * it names the path in the shape that was asked for (R41, R42).
 */
export const decodeArguments = (
  tool: Tool.Any,
  call: RawCall,
  codec: ModelCodec["Service"],
): Effect.Effect<Result.Result<DecodedArguments, RefusedArguments>> =>
  Effect.gen(function* () {
    const raw = rawJson(call);
    if (Result.isFailure(raw)) return Result.fail(raw.failure);
    const parameters = raw.success;
    const codecs = argumentCodecs(codec, codecOf(tool));
    // Only where the model writes in the tool's own shape: another shape has another codec to be held against.
    const asTheyAre = codecs[0] === codecOf(tool) ? decodeAsWritten(tool, parameters) : undefined;
    if (asTheyAre !== undefined) return Result.succeed(asTheyAre);
    let first: string | undefined;
    for (const candidate of codecs) {
      const decoded = yield* Effect.result(parsersOf(candidate).strict(detached(parameters)));
      if (Result.isSuccess(decoded))
        return yield* encodeEffective(tool, parameters, decoded.success);
      first ??= decoded.failure.message;
    }
    return Result.fail({
      parameters,
      description: bounded(first ?? "No codec can read these parameters."),
      malformed: false,
    });
  });

/** Stored effective arguments to the handler's type, as strictly as the first time (F-08). */
export const decodeEffective = (
  tool: Tool.Any,
  effective: Json,
): Effect.Effect<Result.Result<unknown, string>> =>
  Effect.suspend(() => {
    const { plain, strict } = parsersOf(codecOf(tool));
    const read = isAsWritten(tool, effective) ? plain : strict;
    return Effect.map(Effect.result(read(detached(effective))), (decoded) =>
      Result.mapError(decoded, (error) => bounded(error.message)),
    );
  });

const encodeEffective = (tool: Tool.Any, parameters: Json, decoded: unknown) =>
  Effect.map(Effect.result(parsersOf(codecOf(tool)).encode(decoded)), (encoded) =>
    Result.flatMap(encoded, toJson).pipe(
      Result.map((effective): DecodedArguments => ({ parameters, effective, decoded })),
      Result.mapError((error): RefusedArguments => ({
        parameters,
        description: bounded(error.message),
        malformed: false,
      })),
    ),
  );

/** A tool's parameter schema; the services it may need are in the run's context, which `Tool.Any` does not show. */
const codecOf = (tool: Tool.Any): ArgumentCodec =>
  tool.parametersSchema as unknown as ArgumentCodec;

/** The failed result that a rejected call of a `return`-mode tool gives the model (F-06). */
export const rejectionResult = (tool: Tool.Any, description: string): Effect.Effect<Json> =>
  Schema.encodeUnknownEffect(AiError.AiError)(
    AiError.make({
      module: "EffectAgent",
      method: `${tool.name}.preflight`,
      reason: new AiError.ToolParameterValidationError({ toolName: tool.name, description }),
    }),
  ).pipe(
    Effect.orDie,
    Effect.map((encoded) => Result.getOrThrow(toJson(encoded))),
  );
