/**
 * Runs the handler that an application registered for a tool. It gives what upstream's
 * `Toolkit.handle` gives, for arguments that the engine has decoded already: `handle`
 * would decode them once more and send one result through a queue and a stream, which
 * costs as much as everything else of a call. tests/engine/tool-handler.test.ts holds
 * the two beside each other and fails when an upgrade changes upstream's.
 */
import * as Cause from "effect/Cause";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import * as AiError from "effect/unstable/ai/AiError";
import * as Tool from "effect/unstable/ai/Tool";
import * as Toolkit from "effect/unstable/ai/Toolkit";
import type { HandlerFinal } from "./classify-exit.ts";

/** A handler with the services that its layer was built with, as upstream registers it. */
export type ToolHandler = Tool.Handler<string>;

/** The handler of a tool in what an application provides; missing, that is a defect of the application. */
export const handlerOf = (services: Context.Context<never>, tool: Tool.Any): ToolHandler => {
  // Upstream registers a handler under its tool's id, which no typed key stands for.
  const handler = services.mapUnsafe.get(tool.id) as ToolHandler | undefined;
  if (handler === undefined) throw new Error(`No handler is provided for the tool ${tool.name}.`);
  return handler;
};

type Encode = (value: unknown) => Effect.Effect<unknown, Schema.SchemaError>;

interface ResultEncoders {
  readonly success: Encode;
  readonly failure: Encode;
}

/** Made once per tool: a parser costs more than its use, and tools are immutable values. */
const encoders = new WeakMap<Tool.Any, ResultEncoders>();

const encodersOf = (tool: Tool.Any): ResultEncoders => {
  const known = encoders.get(tool);
  if (known !== undefined) return known;
  const encoder = (schema: Schema.Constraint): Encode =>
    // The services that a result's schema may need are in the run's context, which `Tool.Any` does not show.
    Schema.encodeUnknownEffect(schema as Schema.ConstraintCodec<unknown, unknown>);
  const made: ResultEncoders = {
    success: encoder(tool.successSchema),
    failure: encoder(Tool.failureResultSchema(tool)),
  };
  encoders.set(tool, made);
  return made;
};

const errorOf = (tool: Tool.Any, reason: AiError.AiErrorReason): AiError.AiError =>
  AiError.make({ module: "Toolkit", method: `${tool.name}.handle`, reason });

const encodeResult = (
  tool: Tool.Any,
  result: unknown,
  isFailure: boolean,
): Effect.Effect<unknown, AiError.AiError> => {
  const { failure, success } = encodersOf(tool);
  return Effect.mapErrorEager((isFailure ? failure : success)(result), ({ message }) =>
    errorOf(
      tool,
      new AiError.ToolResultEncodingError({
        toolName: tool.name,
        toolResult: result as never, // whatever the handler gave, as upstream keeps it
        description: message,
      }),
    ),
  );
};

/** Failures of Effect AI's own kinds get their module and method; a tool's own errors stay as they are. */
const normalised = (tool: Tool.Any, error: unknown): unknown => {
  if (Schema.isSchemaError(error)) {
    return errorOf(
      tool,
      new AiError.InvalidToolResultError({
        toolName: tool.name,
        description: `Tool handler returned invalid result: ${error.message}`,
      }),
    );
  }
  return AiError.isAiErrorReason(error) ? errorOf(tool, error) : error;
};

/** What upstream's failure table makes of a handler's failure; a defect and an interruption stay what they are. */
const failed = (
  tool: Tool.Any,
  cause: Cause.Cause<unknown>,
): Effect.Effect<HandlerFinal, unknown> => {
  const error = Cause.findError(cause);
  if (Result.isFailure(error)) return Effect.failCause(error.failure);
  const result = normalised(tool, error.success);
  if (tool.failureMode === "error") {
    const origin = Schema.isSchemaError(error.success) ? "result" : "handler";
    return Effect.failCause(
      Cause.annotate(Cause.fail(result), Context.make(Toolkit.FailureOrigin, origin)),
    );
  }
  return Effect.mapEager(encodeResult(tool, result, true), (encodedResult) => ({
    result,
    encodedResult,
    isFailure: true,
  }));
};

/**
 * Runs the handler in a fiber and a scope of its own: what it forked has ended and what
 * it acquired is released before its result counts. Whoever runs this provides the
 * context of the handler's layer, and is free at once when it is interrupted.
 *
 * @param decoded arguments as the handler takes them
 * @param show is given each preliminary result, encoded
 * @param onStart is given the handler's fiber, for whoever must know that it has ended
 */
export const runToolHandler = (
  tool: Tool.Any,
  { handler }: ToolHandler,
  decoded: unknown,
  toolCallId: string,
  show: (encoded: unknown) => Effect.Effect<void>,
  onStart?: (fiber: Fiber.Fiber<unknown, unknown>) => void,
): Effect.Effect<HandlerFinal, unknown> =>
  Effect.suspend(() => {
    let running: Fiber.Fiber<unknown, unknown> | undefined;
    /** A preliminary result that does not encode ends the call, whatever its handler makes of that. */
    let fault: Cause.Cause<unknown> | undefined;
    const preliminary = (result: unknown): Effect.Effect<void> =>
      Effect.matchEffect(
        Effect.suspend(() => encodeResult(tool, result, false)),
        {
          onSuccess: show,
          onFailure: (error) => {
            fault ??= Cause.fail(error);
            running?.interruptUnsafe();
            return Effect.interrupt;
          },
        },
      );
    const handled = Effect.withFiber((fiber) => {
      running = fiber;
      onStart?.(fiber);
      // The scope around it is the caller's or, on a durable host, the host's own: too long for one call.
      return Effect.scoped(handler(decoded, { toolCallId, preliminary }));
    });
    return Effect.flatMap(
      Effect.flatMap(Effect.forkChild(handled, { startImmediately: true }), Fiber.await),
      (exit) => {
        if (fault !== undefined) return Effect.failCause(fault);
        if (Exit.isFailure(exit)) return failed(tool, exit.cause);
        const result = exit.value;
        return Effect.mapEager(encodeResult(tool, result, false), (encodedResult) => ({
          result,
          encodedResult,
          isFailure: false,
        }));
      },
    );
  });
