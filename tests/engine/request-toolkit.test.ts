/**
 * What upstream's providers do with the request toolkit, over real HTTP and their
 * own wire bytes. An upgrade that changes any of it fails here first.
 */
import { assert, describe, it } from "@effect/vitest";
import { Effect, Exit, Result, Schema, Stream } from "effect";
import { LanguageModel, type Response, Tool } from "effect/unstable/ai";
import type { ExposureSnapshot } from "#lib/contract/exposure.ts";
import { askModel } from "#lib/engine/ModelTurn.ts";
import { ModelCodec } from "#lib/engine/ModelCodec.ts";
import { makeRequestToolkit } from "#lib/engine/RequestToolkit.ts";
import { decodeArguments } from "#lib/engine/ToolArguments.ts";
import { rawEndpoint } from "#tests/model/raw-endpoint.ts";
import {
  chatCompletions,
  type ProviderWire,
  responses,
  type WireCall,
  wires,
} from "#tests/engine/provider-wires.ts";

const Order = Tool.make("order", {
  description: "Orders things.",
  parameters: Schema.Struct({
    id: Schema.String.annotate({ description: "Which thing" }),
    count: Schema.NumberFromString,
    note: Schema.optionalKey(Schema.String),
  }),
  success: Schema.String,
});
const Ping = Tool.make("ping", { success: Schema.String });
const tools = { order: Order, ping: Ping };

const good: WireCall = {
  id: "call_1",
  name: "order",
  argumentsText: '{"id":"W1","count":"7","note":null}',
};
const bad: WireCall = {
  id: "call_2",
  name: "order",
  argumentsText: '{"id":31,"count":"7","note":null}',
};
const stranger: WireCall = { id: "call_3", name: "launch", argumentsText: '{"now":true}' };
const empty: WireCall = { id: "call_4", name: "ping", argumentsText: "" };

type Mode = "streamed" | "whole";

/** The tool calls of one response, and the schemas its request carried. */
const exchange = Effect.fnUntraced(function* (
  wire: ProviderWire,
  mode: Mode,
  calls: ReadonlyArray<WireCall>,
) {
  const { bodies, url } = yield* rawEndpoint({
    contentType: mode === "streamed" ? "text/event-stream" : "application/json",
    body: wire[mode](calls),
  });
  const options = {
    prompt: "go",
    toolkit: makeRequestToolkit([Order, Ping], wire.codec),
    disableToolCallResolution: true,
  } as const;
  const ask: Effect.Effect<ReadonlyArray<Response.AnyPart>, unknown, unknown> = mode === "streamed"
    ? Stream.runCollect(LanguageModel.streamText(options))
    : Effect.map(LanguageModel.generateText(options), ({ content }) => content);
  // Stand-ins need no handlers; their wide tool type cannot say so.
  const parts = yield* Effect.exit(
    Effect.provide(
      ask as Effect.Effect<ReadonlyArray<Response.AnyPart>, unknown, LanguageModel.LanguageModel>,
      wire.model(url),
    ),
  );
  return {
    parts,
    calls: Exit.isSuccess(parts)
      ? parts.value.flatMap((part) => (part.type === "tool-call" ? [part] : []))
      : [],
    schemas: wire.schemasOf(bodies[0] ?? "{}"),
  };
});

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

for (const wire of wires) {
  for (const mode of ["streamed", "whole"] as const) {
    describe(`${wire.name}, ${mode}`, () => {
      it.effect(
        "[T-07][X-03] the wire carries exactly the provider's own schema of each tool",
        () =>
          Effect.gen(function* () {
            const { parts, schemas } = yield* exchange(wire, mode, [good]);
            assert.isTrue(Exit.isSuccess(parts), String(parts));
            for (const [name, schema] of schemas) {
              const tool = name === "order" ? Order : Ping;
              assert.deepStrictEqual(
                schema,
                plain(Tool.getJsonSchema(tool, { transformer: wire.codec.transformer })),
                name,
              );
            }
            assert.deepStrictEqual(
              schemas.map(([name]) => name),
              ["order", "ping"],
            );
          }),
      );

      const nulls = wire.codec === ModelCodec.plain ? "kept" : "left out";
      it.effect(
        `[T-03][F-06] good and schema-invalid arguments both come back raw, nulls ${nulls}; one bad call does not fail the response`,
        () =>
          Effect.gen(function* () {
            const { calls, parts } = yield* exchange(wire, mode, [good, bad]);
            assert.isTrue(Exit.isSuccess(parts), String(parts));
            assert.deepStrictEqual(
              calls.map(({ id, params }) => [id, plain(params)]),
              // The engine reads the argument text itself, so a null that means something is not lost.
              [good, bad].map(({ argumentsText, id }) => [
                id,
                JSON.parse(
                  nulls === "kept" ? argumentsText : argumentsText.replace(',"note":null', ""),
                ),
              ]),
            );
          }),
      );

      it.effect("[X-09] upstream fails the response over a tool it was not given", () =>
        Effect.gen(function* () {
          const { parts } = yield* exchange(wire, mode, [good, stranger]);
          assert.isTrue(Exit.isFailure(parts));
        }),
      );

      const fails = wire === chatCompletions && mode === "whole";
      it.effect(
        `[R35] no argument text for a tool without parameters ${fails ? "fails upstream, which the engine, always streaming, never meets" : "reads as an empty object"}`,
        () =>
          Effect.gen(function* () {
            const { calls, parts } = yield* exchange(wire, mode, [empty]);
            if (fails) return assert.isTrue(Exit.isFailure(parts));
            assert.isTrue(Exit.isSuccess(parts), String(parts));
            assert.deepStrictEqual(
              calls.map(({ params }) => plain(params)),
              [{}],
            );
          }),
      );
    });
  }

  describe(`${wire.name}, read by the engine`, () => {
    const snapshot: ExposureSnapshot = {
      exposed: ["order", "ping"],
      pins: [],
      discoveryTools: [],
      eager: true,
      selectionSource: "initial",
      selected: [],
      schemaBytes: 0,
      maxTools: 64,
      maxSchemaBytes: 262_144,
      hiddenByVisibility: [],
      hiddenByVisibilityCount: 0,
      notSelected: [],
      notSelectedCount: 0,
      warnings: [],
    };
    const ask = Effect.fnUntraced(function* (calls: ReadonlyArray<WireCall>) {
      const { url } = yield* rawEndpoint({
        contentType: "text/event-stream",
        body: wire.streamed(calls),
      });
      return yield* askAt(url);
    });
    const askAt = (url: string) =>
      Effect.result(
        askModel({
          messages: [{ role: "user", content: [{ type: "text", text: "go" }] }],
          tools,
          exposure: snapshot,
          codec: wire.codec,
          toolChoice: "auto",
          onText: () => Effect.void,
        }).pipe(Effect.provide(wire.model(url))),
      );

    it.effect(
      "[T-03][F-06][R43] the good call decodes, the bad one is refused by name of its path, and both are in the response",
      () =>
        Effect.gen(function* () {
          const asked = yield* ask([good, bad]);
          const { calls } = Result.getOrThrow(asked);
          const [first, second] = yield* Effect.forEach(calls, (call) =>
            decodeArguments(Order, call, wire.codec),
          );
          assert.deepStrictEqual(
            first !== undefined && Result.isSuccess(first) ? first.success.decoded : undefined,
            { id: "W1", count: 7 },
          );
          assert.include(
            second !== undefined && Result.isFailure(second) ? second.failure.description : "",
            '["id"]',
          );
        }),
    );

    it.effect(
      "[F-07][X-09][B-09] a tool it was not given is a typed rejection that names it, and every call up to it is kept",
      () =>
        Effect.gen(function* () {
          const asked = Result.getOrThrow(yield* ask([good, stranger]));
          assert.deepInclude(asked.refusal, {
            _tag: "AgentToolCallRejected",
            reason: "unknown-tool",
            toolName: "launch",
          });
          assert.deepStrictEqual(
            asked.calls.map(({ callId, toolName }) => [callId, toolName]),
            [
              [good.id, good.name],
              [stranger.id, stranger.name],
            ],
          );
          assert.deepStrictEqual(
            asked.response().map((part) => (part as { readonly params?: unknown }).params),
            asked.calls.map(({ params }) => params),
          );
        }),
    );

    it.effect(
      "[R36][F-07] arguments cut in the middle are a typed rejection that names tool and call",
      () =>
        Effect.gen(function* () {
          const asked = Result.getOrThrow(
            yield* ask([good, { ...bad, argumentsText: '{"id":"W' }]),
          );
          assert.deepInclude(asked.refusal, {
            _tag: "AgentToolCallRejected",
            reason: "malformed-arguments",
            toolName: "order",
            toolCallId: "call_2",
          });
          assert.deepStrictEqual(
            asked.calls.map(({ callId, argumentsText }) => [callId, argumentsText]),
            [
              [good.id, good.argumentsText],
              ["call_2", '{"id":"W'],
            ],
          );
        }),
    );

    it.effect(
      "[R58] an event nobody knows loses no call: either both are read, or the response is a typed failure",
      () =>
        Effect.gen(function* () {
          const strange = wire.streamed([good, bad]).split("\n\n");
          strange.splice(2, 0, 'event: x.new\ndata: {"type":"x.new","index":0,"odd":true}');
          const { url } = yield* rawEndpoint({
            contentType: "text/event-stream",
            body: strange.join("\n\n"),
          });
          const asked = yield* askAt(url);
          if (Result.isFailure(asked)) {
            assert.include(["AiError", "ModelProtocolError"], asked.failure._tag);
            return;
          }
          assert.deepStrictEqual(
            asked.success.calls.map(({ callId }) => callId),
            [good.id, bad.id],
          );
        }),
    );

    it.effect("[R35] an empty argument text of a tool without parameters runs with {}", () =>
      Effect.gen(function* () {
        const { calls } = Result.getOrThrow(yield* ask([empty]));
        const [call] = calls;
        assert.isDefined(call);
        const decoded = yield* decodeArguments(Ping, call, wire.codec);
        assert.deepStrictEqual(
          Result.isSuccess(decoded) ? decoded.success.effective : decoded.failure,
          {},
        );
      }),
    );
  });
}

describe("strict mode of the Responses wire", () => {
  it.effect("[X-03] optional keys are nullable and required, and nothing else may be sent", () =>
    Effect.gen(function* () {
      const { schemas } = yield* exchange(responses, "streamed", [good]);
      const order: Record<string, unknown> = { ...(schemas[0]?.[1] as object) };
      assert.deepInclude(order, {
        type: "object",
        additionalProperties: false,
        required: ["id", "count", "note"],
      });
    }),
  );
});
