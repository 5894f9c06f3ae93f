import { assert, describe, it } from "@effect/vitest";
import { Cause, Effect, Exit, Logger, References, Tracer } from "effect";
import { RefundRefused, errorOf, eventsOf, runDesk } from "#tests/testing/run-desk.ts";
import { text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { toolAttribute } from "#lib/diagnostics/telemetry-attributes.ts";

const token = "canary-7f3a9c";
const hostile = () => {
  const cause: Error & { next?: unknown } = new Error(`Bearer ${token} ${"x".repeat(5_000_000)}`);
  cause.cause = cause;
  return Object.assign(
    new RefundRefused({ message: `upstream said Authorization: Bearer ${token}` }),
    { cause },
  );
};
const batch = toolCalls([
  { id: "a", name: "lookup", params: { orderId: `secret=${token}` } },
  { id: "b", name: "refund", params: { orderId: "W1", amount: "120" } },
]);

/** Runs with every span and log line written down as text. */
const observed = Effect.fnUntraced(function* <A, E>(effect: Effect.Effect<A, E>) {
  const spans: Array<Tracer.NativeSpan> = [];
  const lines: Array<string> = [];
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options);
      spans.push(span);
      return span;
    },
  });
  const logger = Logger.make<unknown, void>(({ message, cause, fiber }) => {
    lines.push(JSON.stringify([message, cause, fiber.getRef(References.CurrentLogAnnotations)]));
  });
  const result = yield* effect.pipe(
    Effect.provideService(Tracer.Tracer, tracer),
    Effect.provide(Logger.layer([logger])),
  );
  return { result, spans, lines };
});
/** What an exporter would send of spans, the failures they ended with included. */
const textOf = (spans: ReadonlyArray<Tracer.NativeSpan>) =>
  spans
    .map(({ name, attributes, events, status }) =>
      [
        name,
        JSON.stringify([...attributes]),
        events.map(([event, , more]) => `${event} ${JSON.stringify(more)}`).join(),
        status._tag === "Ended" && Exit.isFailure(status.exit)
          ? Cause.pretty(status.exit.cause)
          : "",
      ].join(" "),
    )
    .join("\n");

describe("what leaves a failed call", () => {
  it.effect(
    "[DX-03][DX-06][DX-07][R89] a bearer token in a failure is in no event, no settlement, no request, no span and no log",
    () =>
      Effect.gen(function* () {
        const { result, spans, lines } = yield* observed(
          runDesk({ turns: [batch], needsApproval: false, refund: () => Effect.fail(hostile()) }),
        );
        assert.instanceOf(errorOf(result), RefundRefused);
        const failed = eventsOf(result, "ToolCallFailed");
        assert.strictEqual(failed.length, 1);
        assert.strictEqual(failed[0]?.failure?.errorTag, "RefundRefused");
        const withoutArguments = result.events.filter(
          (event) => event._tag !== "ToolCallDeclared" && event._tag !== "ToolCallSucceeded",
        );
        assert.notInclude(JSON.stringify(withoutArguments), token);
        assert.notInclude(textOf(spans), token);
        assert.notInclude(lines.join("\n"), token);
        assert.isAbove(spans.length, 0);
        assert.include(lines.join("\n"), toolAttribute.failureHandling);
        assert.isBelow(JSON.stringify(withoutArguments).length, 100_000);
      }),
  );

  it.effect(
    "[TE-01][TE-02][TE-03] the span names mode and route of a failure and neither arguments nor results",
    () =>
      Effect.gen(function* () {
        const { spans } = yield* observed(
          runDesk({
            turns: [batch, text("done")],
            needsApproval: false,
            lookup: () => Effect.fail(new RefundRefused({ message: "none" })),
            refund: () => Effect.succeed(`result ${token}`),
          }),
        );
        const tools = spans.filter(({ name }) => name.startsWith("execute_tool"));
        assert.deepStrictEqual(
          tools
            .map(({ attributes }) => [
              attributes.get(toolAttribute.toolName),
              attributes.get(toolAttribute.failureMode),
              attributes.get(toolAttribute.failureHandling),
            ])
            .toSorted((a, b) => String(a[0]).localeCompare(String(b[0]))),
          [
            ["lookup", "return", "returned-to-model"],
            ["refund", "error", undefined],
          ],
        );
        assert.notInclude(textOf(spans), token);
      }),
  );

  it.effect("[TE-03] an interrupted call leaves no failure log and no classification", () =>
    Effect.gen(function* () {
      const { spans, lines } = yield* observed(
        runDesk({ turns: [batch], needsApproval: false, refund: () => Effect.interrupt }),
      );
      const refunds = spans.filter(({ name }) => name === "execute_tool refund");
      assert.deepStrictEqual(
        refunds.map(({ attributes }) => attributes.has(toolAttribute.failureHandling)),
        [false],
      );
      assert.deepStrictEqual(lines, []);
    }),
  );

  for (const broken of ["tracer", "span", "logger"] as const) {
    it.effect(`[TE-04] a broken ${broken} changes no outcome`, () =>
      Effect.gen(function* () {
        const breaks = (): never => {
          throw new Error(`${broken} broke`);
        };
        const tracer = Tracer.make({
          span: (options) => {
            if (broken === "tracer" && options.name.startsWith("execute_tool")) return breaks();
            const span = new Tracer.NativeSpan(options);
            if (broken === "span" && options.name.startsWith("execute_tool")) {
              Object.assign(span, { attribute: breaks, end: breaks });
            }
            return span;
          },
        });
        const logger = Logger.make<unknown, void>(broken === "logger" ? breaks : () => undefined);
        const run = yield* runDesk({
          turns: [batch, text("done")],
          needsApproval: false,
          lookup: () => Effect.fail(new RefundRefused({ message: "none" })),
        }).pipe(
          Effect.provideService(Tracer.Tracer, tracer),
          Effect.provide(Logger.layer([logger])),
        );
        assert.deepStrictEqual(run.exit, Exit.succeed("done"));
        assert.strictEqual(eventsOf(run, "ToolCallFailed").length, 1);
        assert.strictEqual(eventsOf(run, "ToolCallSucceeded").length, 1);
      }),
    );
  }
});
