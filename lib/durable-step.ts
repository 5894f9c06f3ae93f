/**
 * What may happen to a tool call when the process that runs it is lost, and named
 * steps inside one call that are not taken twice.
 *
 * Tools declare the first with an annotation; every other hint of a tool declaration
 * (`Tool.Readonly`, `Tool.Idempotent`, ...) is display only and changes nothing
 * here (`T-11`).
 */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import type * as Tool from "effect/unstable/ai/Tool";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import { checkJsonBounds } from "#lib/contract/json/json-bounds.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { toJson } from "#lib/contract/json/to-json.ts";
import { utf8ByteLength } from "#lib/contract/json/utf8.ts";
import type * as Status from "#lib/contract/status.ts";
import { CurrentCallSteps } from "#lib/durable/call-steps.ts";

/**
 * `readonly`: no durable marker, free to run again. `idempotent`: marked, and may
 * run again with the same idempotency key. `uncertain`: marked, and after a loss
 * only a reconciler or a person may say what happened (`DU-05`).
 */
export type ExecutionClass = Status.ExecutionClass;

/**
 * Tool annotation with the durable execution class; `"uncertain"` when a tool
 * says nothing (`T-11`, `DU-05`).
 *
 * ```ts
 * Tool.make("get_order", { ... }).annotate(ToolExecutionClass, "readonly")
 * ```
 */
export const ToolExecutionClass = Context.Reference<ExecutionClass>(
  "effect-agent/durable-step/ToolExecutionClass",
  {
    defaultValue: () => "uncertain",
  },
);

/** The execution class a tool declares, `"uncertain"` by default (`T-11`). */
export const executionClassOf = (tool: Tool.Any): ExecutionClass =>
  Context.get(tool.annotations, ToolExecutionClass);

/** Most UTF-8 bytes of a step's encoded result: it is kept whole or not at all. */
export const maxStepResultBytes = 65_536;

/**
 * A step cannot be taken or kept (`DU-18`). `invalid-result` and
 * `result-too-large` come after the body has run: nothing is recorded of it.
 */
export class DurableStepError extends Schema.TaggedError<DurableStepError>()("DurableStepError", {
  stepName: Schema.String,
  reason: Schema.Literals([
    "outside-call",
    "invalid-name",
    "duplicate-name",
    "too-many-steps",
    "call-ended",
    "invalid-result",
    "result-too-large",
    "recorded-result-invalid",
  ]),
  message: Schema.String,
}) {}

const stepError = (
  stepName: string,
  reason: DurableStepError["reason"],
  message: string,
): DurableStepError => new DurableStepError({ stepName: stepName.slice(0, 128), reason, message });

const bounded = (text: string): string =>
  text.length <= 500 ? text : `${text.slice(0, 485)} [truncated]`;

/** A success in the form in which it is kept. */
const encodeResult = <A>(
  name: string,
  schema: Schema.ConstraintCodec<A, unknown>,
  value: A,
): Effect.Effect<Json, DurableStepError> =>
  Effect.gen(function* () {
    const encoded = yield* Effect.result(Schema.encodeUnknownEffect(schema)(value));
    const json = Result.flatMap(encoded, (one) =>
      Result.flatMap(toJson(one === undefined ? null : one), (kept) => checkJsonBounds(kept)),
    );
    if (Result.isFailure(json))
      return yield* stepError(
        name,
        "invalid-result",
        `The result of step ${name} does not encode by its schema: ${bounded(json.failure.message)}`,
      );
    const bytes = utf8ByteLength(canonicalJson(json.success));
    if (bytes > maxStepResultBytes)
      return yield* stepError(
        name,
        "result-too-large",
        `The result of step ${name} has ${bytes} bytes; at most ${maxStepResultBytes} are kept.`,
      );
    return json.success;
  });

const decodeResult = <A>(
  name: string,
  schema: Schema.ConstraintCodec<A, unknown>,
  kept: Json,
): Effect.Effect<A, DurableStepError> =>
  Effect.mapError(
    // `Schema.Void` encodes to undefined, for which JSON has no word but null.
    Schema.decodeUnknownEffect(schema)(kept).pipe(
      Effect.catch((error) =>
        kept === null ? Schema.decodeUnknownEffect(schema)(undefined) : Effect.fail(error),
      ),
    ),
    (error) =>
      stepError(
        name,
        "recorded-result-invalid",
        `What is recorded of step ${name} does not decode by its schema: ${bounded(error.message)}`,
      ),
  );

/**
 * Runs `body` as a named step of the current tool call (`DU-18`). Its success is
 * recorded once, before this returns; when the same call runs again after a crash,
 * the recorded success comes back and the body does not run. The body itself runs
 * at least once: a process that dies between the two runs it again, so hand its
 * destination a key (`CurrentToolCall` has one). A failure is never recorded, and
 * the name may then be tried again.
 *
 * In a run without a durable host the results live as long as the call.
 *
 * @param name unique within one execution of the call; 1 to 128 characters of
 *   `[A-Za-z0-9._:-]`, starting with a letter or digit; at most 256 per call
 * @param schema of the success; what it encodes to is at most 64 KiB of JSON
 * @returns the success as it decodes from what is kept, the first time too
 *
 * ```ts
 * const label = yield* durableStep("print-label", Schema.String, printLabel(order));
 * ```
 */
export const durableStep = <A, E, R>(
  name: string,
  schema: Schema.ConstraintCodec<A, unknown>,
  body: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | DurableStepError, R> =>
  // Not interruptible between the body's success and its record: what happened is kept.
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const steps = yield* CurrentCallSteps;
      if (steps === undefined)
        return yield* stepError(
          name,
          "outside-call",
          `Step ${bounded(name)} is taken outside of a tool call.`,
        );
      const claimed = steps.claim(name);
      if (claimed._tag === "refused")
        return yield* stepError(name, claimed.reason, claimed.message);
      if (claimed._tag === "recorded") return yield* decodeResult(name, schema, claimed.result);
      const kept = yield* restore(body).pipe(
        Effect.flatMap((value) => encodeResult(name, schema, value)),
        Effect.onExit((exit) =>
          Effect.sync(() => {
            if (Exit.isFailure(exit)) steps.release(name);
          }),
        ),
      );
      yield* steps.keep(name, kept);
      return yield* decodeResult(name, schema, kept);
    }),
  );
