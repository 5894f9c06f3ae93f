/**
 * The engine runs handlers itself, without upstream's `Toolkit.handle`. Both are run
 * beside each other here for every way a handler can end; an upgrade that changes
 * upstream's fails here first.
 */
import { assert, describe, it } from "@effect/vitest";
import {
  Cause,
  Context,
  Deferred,
  Effect,
  Exit,
  Fiber,
  Layer,
  Schema,
  type Scope,
  Stream,
} from "effect";
import { AiError, Tool, Toolkit } from "effect/unstable/ai";
import { handlerOf, runToolHandler } from "#lib/engine/tool-handler.ts";

const parameters = Schema.Struct({ count: Schema.NumberFromString });
const failure = Schema.TaggedStruct("Refused", { at: Schema.DateFromString });
const success = Schema.Struct({ day: Schema.DateFromString });
const Hard = Tool.make("hard", { parameters, success, failure });
const Soft = Tool.make("soft", { parameters, success, failure, failureMode: "return" });
const Nothing = Tool.make("nothing", { parameters });
const toolkit = Toolkit.make(Hard, Soft, Nothing);
type Handle = (
  params: { readonly count: number },
  context: Toolkit.HandlerContext<typeof Hard>,
) => Effect.Effect<unknown, unknown, Shelf>;

class Shelf extends Context.Service<Shelf, string>()("test/Shelf") {}
const Label = Context.Reference<string>("test/Label", { defaultValue: () => "none" });

/** What one run gave: every preliminary result encoded, then how it ended. */
const seen = (exit: Exit.Exit<unknown, unknown>, shown: ReadonlyArray<unknown>) => ({
  shown,
  exit: Exit.isSuccess(exit)
    ? exit.value
    : exit.cause.reasons.map((reason) =>
        reason._tag === "Fail"
          ? {
              error: reason.error,
              origin: reason.annotations.get(Toolkit.FailureOrigin.key),
            }
          : reason._tag === "Die"
            ? { defect: reason.defect }
            : { interrupted: true },
      ),
});

const both = Effect.fnUntraced(function* (tool: Tool.Any, handle: Handle) {
  const run = (which: "upstream" | "engine") =>
    Effect.gen(function* () {
      const shown: Array<unknown> = [];
      const show = (encoded: unknown) => Effect.sync(() => void shown.push(encoded));
      const services = yield* Effect.context<Tool.HandlersFor<typeof toolkit.tools>>();
      const upstream = Effect.gen(function* () {
        const { handle: call } = yield* toolkit;
        let final: unknown;
        const stream = yield* call(tool.name as "hard", { count: "7" }, "c1");
        yield* Stream.runForEach(stream, ({ encodedResult, isFailure, preliminary, result }) => {
          if (preliminary) return show(encodedResult);
          final = { result, encodedResult, isFailure };
          return Effect.void;
        });
        return final;
      });
      const handler = handlerOf(services as Context.Context<never>, tool);
      const engine = runToolHandler(tool, handler, { count: 7 }, "c1", show).pipe(
        Effect.updateContext((ambient: Context.Context<never>) =>
          Context.merge(handler.context, ambient),
        ),
      );
      const exit = yield* Effect.exit(
        (which === "upstream" ? upstream : engine).pipe(Effect.provideService(Label, "ambient")),
      );
      return seen(exit, shown);
    }).pipe(
      Effect.provide(
        toolkit
          .toLayer({ hard: handle, soft: handle, nothing: handle } as never)
          .pipe(Layer.provide(Layer.succeed(Shelf, "of the layer")), Layer.fresh),
      ),
      Effect.scoped,
    );
  return { upstream: yield* run("upstream"), engine: yield* run("engine") };
});

const day = new Date("2026-01-02T00:00:00.000Z");
const handles: ReadonlyArray<readonly [name: string, handle: Handle]> = [
  ["succeeds", ({ count }) => Effect.succeed({ day: new Date(day.getTime() + count) })],
  ["gives nothing", () => Effect.void],
  ["gives what its schema refuses", () => Effect.succeed({ day: "tomorrow" })],
  ["fails as declared", () => Effect.fail({ _tag: "Refused", at: day })],
  ["fails with something undeclared", () => Effect.fail(new Error("what?"))],
  [
    "fails with an error of Effect AI",
    () => Effect.fail(AiError.make({ module: "M", method: "m", reason: busy() })),
  ],
  ["fails with a reason of Effect AI", () => Effect.fail(busy())],
  ["fails while it reads data", () => Schema.decodeUnknownEffect(Schema.Number)("no number")],
  ["dies", () => Effect.die("broken")],
  [
    "throws before it gives an effect",
    () => {
      throw new Error("thrown");
    },
  ],
  ["interrupts itself", () => Effect.interrupt],
  [
    "fails and then dies while it closes",
    () => Effect.ensuring(Effect.fail({ _tag: "Refused", at: day }), Effect.die("closing")),
  ],
  [
    "shows what it is doing",
    (_, { preliminary }) =>
      Effect.as(Effect.andThen(preliminary({ day }), preliminary({ day: new Date(0) })), { day }),
  ],
  [
    "shows something that does not encode",
    (_, { preliminary }) =>
      preliminary({ day: "soon" } as never).pipe(
        Effect.catchCause(() => Effect.void),
        Effect.as({ day }),
      ),
  ],
  [
    "reads its services: the caller's before its layer's",
    () => Effect.map(Effect.all([Shelf, Label]), (found) => ({ day: found.join(" ") })),
  ],
  [
    "knows its call",
    (_, { toolCallId }) => Effect.fail(new Error(`the call is ${String(toolCallId)}`)),
  ],
];

const busy = () => new AiError.InternalProviderError({ description: "busy" });

describe("a handler run by the engine", () => {
  for (const [name, handle] of handles) {
    for (const tool of [Hard, Soft, Nothing]) {
      it.effect(`[T-04][F-01][F-02][F-04] ${tool.name} ${name}: as upstream's handle ends it`, () =>
        Effect.gen(function* () {
          const { engine, upstream } = yield* both(tool, handle);
          assert.deepStrictEqual(engine, upstream);
        }),
      );
    }
  }

  it.effect("[B-07] what a handler forked has ended when its result counts", () =>
    Effect.gen(function* () {
      const log: Array<string> = [];
      const handle = () =>
        Effect.never.pipe(
          Effect.onInterrupt(() => Effect.sync(() => log.push("child ended"))),
          Effect.forkChild({ startImmediately: true }),
          Effect.as({ day }),
        );
      const layer = toolkit.toLayer({ hard: handle, soft: handle, nothing: handle } as never);
      yield* Effect.gen(function* () {
        const services = yield* Effect.context<Tool.HandlersFor<typeof toolkit.tools>>();
        const handler = handlerOf(services as Context.Context<never>, Hard);
        yield* runToolHandler(Hard, handler, { count: 7 }, "c1", () => Effect.void);
        log.push("result");
      }).pipe(Effect.provide(layer));
      assert.deepStrictEqual(log, ["child ended", "result"]);
    }),
  );

  it.effect(
    "[B-07][D-14] what a handler acquires is released when its call ends, however it ends, and not with a scope around it",
    () =>
      Effect.gen(function* () {
        const started = yield* Deferred.make<void>();
        const wait = Effect.andThen(Deferred.succeed(started, undefined), Effect.never);
        const ends: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
          Effect.succeed({ day }),
          Effect.fail({ _tag: "Refused", at: day }),
          Effect.die("broken"),
          wait,
        ];
        for (const end of ends) {
          const log: Array<string> = [];
          const handle = (): Effect.Effect<unknown, unknown, Scope.Scope> =>
            Effect.andThen(
              Effect.acquireRelease(
                Effect.sync(() => log.push("acquired")),
                () => Effect.sync(() => log.push("released")),
              ),
              end,
            );
          const layer = toolkit.toLayer({ hard: handle, soft: handle, nothing: handle } as never);
          // As where a host has captured its services: its own scope is among them.
          yield* Effect.gen(function* () {
            const services = yield* Effect.context<Tool.HandlersFor<typeof toolkit.tools>>();
            const handler = handlerOf(services as Context.Context<never>, Hard);
            const fiber = yield* Effect.forkChild(
              runToolHandler(Hard, handler, { count: 7 }, "c1", () => Effect.void),
            );
            yield* end === wait
              ? Effect.andThen(Deferred.await(started), Fiber.interrupt(fiber))
              : Fiber.await(fiber);
            log.push("call ended");
          }).pipe(Effect.provide(layer), Effect.scoped);
          assert.deepStrictEqual(log, ["acquired", "released", "call ended"]);
        }
      }),
  );

  it.effect("[F-04] a preliminary result that does not encode ends a handler that waits", () =>
    Effect.gen(function* () {
      const handle: Handle = (_, { preliminary }) =>
        Effect.andThen(
          Effect.forkChild(preliminary({ day: "soon" } as never), { startImmediately: true }),
          Effect.never,
        );
      const layer = toolkit.toLayer({ hard: handle, soft: handle, nothing: handle } as never);
      const exit = yield* Effect.gen(function* () {
        const services = yield* Effect.context<Tool.HandlersFor<typeof toolkit.tools>>();
        const handler = handlerOf(services as Context.Context<never>, Hard);
        return yield* Effect.exit(
          runToolHandler(Hard, handler, { count: 7 }, "c1", () => Effect.void),
        );
      }).pipe(Effect.provide(layer));
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined;
      assert.isTrue(AiError.isAiError(error) && error.reason._tag === "ToolResultEncodingError");
    }),
  );

  it.effect(
    "[F-03] whoever waits is free at once when it is interrupted; the handler ends with its fiber",
    () =>
      Effect.gen(function* () {
        const started = yield* Deferred.make<void>();
        const log: Array<string> = [];
        const handle = () =>
          Effect.andThen(Deferred.succeed(started, undefined), Effect.never).pipe(
            Effect.onInterrupt(() => Effect.sync(() => log.push("handler ended"))),
          );
        const layer = toolkit.toLayer({ hard: handle, soft: handle, nothing: handle } as never);
        yield* Effect.gen(function* () {
          const services = yield* Effect.context<Tool.HandlersFor<typeof toolkit.tools>>();
          const handler = handlerOf(services as Context.Context<never>, Hard);
          const fiber = yield* Effect.forkChild(
            Effect.onInterrupt(
              runToolHandler(Hard, handler, { count: 7 }, "c1", () => Effect.void),
              () => Effect.sync(() => log.push("waiter ended")),
            ),
          );
          yield* Deferred.await(started);
          yield* Fiber.interrupt(fiber);
        }).pipe(Effect.provide(layer));
        assert.deepStrictEqual(log, ["waiter ended", "handler ended"]);
      }),
  );
});
