import { assert, describe, it } from "@effect/vitest";
import { Effect, Exit, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import { foldRecords } from "#lib/durable/run-state.ts";
import { ModelCodec } from "#lib/engine/ModelCodec.ts";
import type { ToolProbe } from "#lib/tool-probe.ts";
import { unknownOutcome } from "#lib/unknown-outcome.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { attempt, makeStore, recordsOf } from "#tests/engine/durable-harness.ts";
import { eventsOfKind, resultsIn, terminalEvents, watch } from "#tests/engine/run-agent.ts";
import { agentOf, callOnce } from "#tests/engine/one-call.ts";

describe("decoding (T-03, T-04, T-15, R35 to R49)", () => {
  const When = Tool.make("when", {
    parameters: Schema.Struct({
      count: Schema.NumberFromString,
      at: Schema.DateFromString,
      note: Schema.optionalKey(Schema.String),
      tags: Schema.optional(Schema.Array(Schema.String)),
      limit: Schema.Number.pipe(Schema.withDecodingDefault(Effect.succeed(10))),
    }),
    success: Schema.Unknown,
    failure: Schema.Never,
    failureMode: "return",
  });

  const codecs = [
    ["plain", ModelCodec.plain, { count: "7", at: "2026-01-02T00:00:00.000Z" }],
    [
      "responses",
      ModelCodec.responses,
      { count: "7", at: "2026-01-02T00:00:00.000Z", note: null, tags: null, limit: null },
    ],
    ["anthropic", ModelCodec.anthropic, { count: "7", at: "2026-01-02T00:00:00.000Z" }],
  ] as const;
  for (const [name, codec, params] of codecs) {
    it.effect(
      `[T-03][T-04][R41][R43] under the ${name} codec a handler gets decoded values with defaults, history keeps what was written`,
      () =>
        Effect.gen(function* () {
          const seen: Array<unknown> = [];
          const toolkit = Toolkit.make(When);
          const layer = toolkit.toLayer({
            when: (decoded) => Effect.sync(() => (seen.push(decoded), "ok")),
          });
          const run = yield* watch(
            agentOf(toolkit),
            layer,
            [toolCalls([{ id: "c1", name: "when", params }]), text("done")],
            { model: { codecTransformer: codec.transformer } },
          ).pipe(Effect.provideService(ModelCodec, codec));
          assert.isTrue(Exit.isSuccess(run.exit));
          const [decoded] = seen as ReadonlyArray<{ count: unknown; at: unknown; limit: unknown }>;
          assert.strictEqual(decoded?.count, 7);
          assert.instanceOf(decoded?.at, Date);
          assert.strictEqual(decoded?.limit, 10);
          assert.deepStrictEqual(
            eventsOfKind(run.events, "ToolCallDeclared")[0]?.parameters,
            params,
          );
          const assistant = run.requests[1]?.prompt.content.find(
            (message) => message.role === "assistant",
          );
          assert.include(JSON.stringify(assistant), '"count":"7"');
        }),
    );
  }

  it.effect(
    "[T-03][R43] resumed in another process, stored arguments are decoded once, and history keeps what was written",
    () =>
      Effect.gen(function* () {
        const seen: Array<unknown> = [];
        const toolkit = Toolkit.make(When);
        const layer = toolkit.toLayer({
          when: (decoded) => Effect.sync(() => (seen.push(decoded), "ok")),
        });
        const store = makeStore();
        // Appends: the start, then the response; the process is lost before the call starts.
        const lost = yield* attempt(store, agentOf(toolkit), () => layer, {
          crash: { append: 2, landed: true },
        });
        assert.strictEqual(lost._tag, "lost");
        assert.deepStrictEqual(seen, []);
        yield* attempt(store, agentOf(toolkit), () => layer);
        assert.deepStrictEqual(seen, [
          { count: 7, at: new Date("2026-01-02T00:00:00.000Z"), limit: 10 },
        ]);
        const requests = yield* (yield* ScriptedModel).requests;
        assert.include(JSON.stringify(requests[1]?.encodedPrompt), '"count":"7"');
      }).pipe(
        Effect.provide(
          ScriptedModel.layer([
            toolCalls([
              {
                id: "c1",
                name: "when",
                params: { count: "7", at: "2026-01-02T00:00:00.000Z" },
              },
            ]),
            text("done"),
          ]),
        ),
      ),
  );

  it.effect(
    "[T-03][DU-06] what a handler does to its arguments changes nothing of the call: its probe hears the recorded ones, and it may run again with them",
    () =>
      Effect.gen(function* () {
        const seen: Array<unknown> = [];
        const probed: Array<unknown> = [];
        const Order = Tool.make("order", {
          parameters: Schema.Struct({ items: Schema.Unknown }),
          success: Schema.String,
        });
        const toolkit = Toolkit.make(Order);
        const layer = toolkit.toLayer({
          order: ({ items }) =>
            Effect.suspend(() => {
              seen.push(structuredClone(items));
              if (Array.isArray(items)) items.sort();
              return seen.length === 1 ? unknownOutcome("no answer") : Effect.succeed("ok");
            }),
        });
        const store = makeStore();
        const probe: ToolProbe = {
          ask: ({ parameters }) => {
            probed.push(structuredClone(parameters));
            return Effect.succeed({ _tag: "not-found", detail: "No entry." });
          },
          settles: { notFound: "safe-to-retry" },
        };
        const end = yield* attempt(store, agentOf(toolkit), () => layer, {
          context: { probes: { order: probe } },
        });
        assert.deepStrictEqual(probed, [{ items: ["b", "a"] }]);
        assert.deepStrictEqual(seen, [
          ["b", "a"],
          ["b", "a"],
        ]);
        assert.strictEqual(end._tag === "settled" ? end.settled.outcome : end._tag, "completed");
      }).pipe(
        Effect.provide(
          ScriptedModel.layer([
            toolCalls([{ id: "c1", name: "order", params: { items: ["b", "a"] } }]),
            text("done"),
          ]),
        ),
      ),
  );

  it.effect(
    "[T-03][F-08] an approval rule that changes the arguments it is shown changes neither the record nor what runs",
    () =>
      Effect.gen(function* () {
        const seen: Array<unknown> = [];
        const Order = Tool.make("order", {
          parameters: Schema.Struct({ items: Schema.Unknown }),
          success: Schema.String,
          needsApproval: ({ items }) => {
            if (Array.isArray(items)) items.sort();
            return false;
          },
        });
        const toolkit = Toolkit.make(Order);
        const layer = toolkit.toLayer({
          order: ({ items }) => Effect.sync(() => (seen.push(items), "ok")),
        });
        const store = makeStore();
        const end = yield* attempt(store, agentOf(toolkit), () => layer);
        assert.deepStrictEqual(seen, [["b", "a"]]);
        assert.strictEqual(end._tag === "settled" ? end.settled.outcome : end._tag, "completed");
        const [turn] = foldRecords(recordsOf(store)).turns;
        assert.deepStrictEqual(turn?.calls[0]?.declared.parameters, { items: ["b", "a"] });
      }).pipe(
        Effect.provide(
          ScriptedModel.layer([
            toolCalls([{ id: "c1", name: "order", params: { items: ["b", "a"] } }]),
            text("done"),
          ]),
        ),
      ),
  );

  it.effect(
    "[R41] null for an optional key is read as absent by a model without strict mode too",
    () =>
      Effect.gen(function* () {
        const run = yield* callOnce(
          When,
          () => Effect.succeed("ok"),
          '{"count":"7","at":"2026-01-02T00:00:00.000Z","note":null,"tags":null,"limit":null}',
        );
        assert.isTrue(Exit.isSuccess(run.exit));
        assert.strictEqual(resultsIn(run.requests[1])[0]?.[2], false);
      }),
  );

  const Shaped = Tool.make("shaped", {
    parameters: Schema.Struct({
      by: Schema.Record(Schema.String, Schema.Number),
      pair: Schema.Tuple([Schema.String, Schema.Number]),
    }),
    success: Schema.Unknown,
    failure: Schema.Never,
    failureMode: "return",
  });
  const shapes = [
    ["as written by strict Responses", { by: [{ "0": "a", "1": 1 }], pair: { "0": "x", "1": 2 } }],
    ["as declared", { by: { a: 1 }, pair: ["x", 2] }],
  ] as const;
  for (const [name, params] of shapes) {
    it.effect(`[R42] records and tuples ${name} reach the handler as the tool's own type`, () =>
      Effect.gen(function* () {
        const seen: Array<unknown> = [];
        const run = yield* callOnce(
          Shaped,
          (decoded) => Effect.sync(() => (seen.push(decoded), "ok")),
          JSON.stringify(params),
        ).pipe(Effect.provideService(ModelCodec, ModelCodec.responses));
        assert.strictEqual(resultsIn(run.requests[1])[0]?.[2], false);
        assert.deepStrictEqual(JSON.parse(JSON.stringify(seen)), [
          { by: { a: 1 }, pair: ["x", 2] },
        ]);
      }),
    );
  }

  it.effect("[R42] a wrong shape is a parameter failure that shows the path on the wire", () =>
    Effect.gen(function* () {
      const run = yield* callOnce(
        Shaped,
        () => Effect.succeed("ok"),
        '{"by":[{"0":"a","1":"one"}],"pair":{"0":"x","1":2}}',
      ).pipe(Effect.provideService(ModelCodec, ModelCodec.responses));
      const [, result, isFailure] = resultsIn(run.requests[1])[0] ?? [];
      assert.isTrue(isFailure);
      assert.include(JSON.stringify(result), 'by\\"][0]');
    }),
  );

  const Echo = Tool.make("echo", {
    parameters: Schema.Struct({ value: Schema.Unknown }),
    success: Schema.Unknown,
    failure: Schema.Never,
    failureMode: "return",
  });
  const echo = (params: unknown) => Effect.succeed((params as { readonly value: unknown }).value);

  it.effect("[T-15] arguments with __proto__ reach no handler and change no prototype", () =>
    Effect.gen(function* () {
      let started = false;
      const run = yield* callOnce(
        Echo,
        () => Effect.sync(() => (started = true)),
        '{"value":1,"__proto__":{"polluted":true}}',
      );
      assert.isFalse(started);
      assert.isTrue(Exit.isFailure(run.exit));
      assert.isUndefined(({} as { polluted?: boolean }).polluted);
    }),
  );

  it.effect("[T-03] keys that the tool does not declare are refused, not dropped", () =>
    Effect.gen(function* () {
      let started = false;
      const run = yield* callOnce(
        Echo,
        () => Effect.sync(() => (started = true)),
        '{"value":1,"values":2}',
      );
      assert.isFalse(started);
      assert.include(JSON.stringify(resultsIn(run.requests[1])[0]?.[1]), "values");
    }),
  );

  it.effect("[R35] no text at all for a tool with required keys is a parameter failure", () =>
    Effect.gen(function* () {
      const run = yield* callOnce(Echo, echo, "{}");
      assert.strictEqual(resultsIn(run.requests[1])[0]?.[2], true);
    }),
  );

  const hostile = [
    [
      "R45",
      "NUL, a lone surrogate and a byte order mark",
      '{"value":"a\\u0000b\\ud800c\\ufeff"}',
      "a\u0000b\ud800c\ufeff",
    ],
    ["R45", "text in other scripts", '{"value":"日本語 עברית 👩‍👩‍👧"}', "日本語 עברית 👩‍👩‍👧"],
  ] as const;
  for (const [id, name, argumentsText, value] of hostile) {
    it.effect(`[${id}] ${name} in arguments and results pass through unchanged`, () =>
      Effect.gen(function* () {
        const run = yield* callOnce(Echo, echo, argumentsText);
        assert.isTrue(Exit.isSuccess(run.exit));
        assert.deepStrictEqual(resultsIn(run.requests[1]), [["c1", value, false]]);
      }),
    );
  }

  for (const number of ["9007199254740993", "1e400", "0.1000000000000000055"]) {
    it.effect(
      `[R46] the number ${number}, which a double would change, is refused before the handler`,
      () =>
        Effect.gen(function* () {
          let started = false;
          const run = yield* callOnce(
            Echo,
            () => Effect.sync(() => (started = true)),
            `{"value":${number}}`,
          );
          assert.isFalse(started);
          assert.strictEqual(resultsIn(run.requests[1])[0]?.[2], true);
        }),
    );
  }

  const tooMuch = [
    ["R48", "5,000 levels deep", `{"value":${"[".repeat(5_000)}${"]".repeat(5_000)}}`],
    [
      "R49",
      "10,000 keys wide",
      `{"value":{${Array.from({ length: 10_000 }, (_, index) => `"k${index}":1`).join(",")}}}`,
    ],
    ["R49", "over 1 MiB long", JSON.stringify({ value: "x".repeat(1_100_000) })],
  ] as const;
  for (const [id, name, argumentsText] of tooMuch) {
    it.effect(`[${id}] arguments ${name} are refused before storage and before the handler`, () =>
      Effect.gen(function* () {
        let started = false;
        const toolkit = Toolkit.make(Echo);
        const layer = toolkit.toLayer({ echo: () => Effect.sync(() => (started = true)) });
        const run = yield* watch(
          agentOf(toolkit),
          layer,
          [toolCalls([{ id: "c1", name: "echo", argumentsText }]), text("done")],
          {
            model: { chunkSize: 65_536 },
          },
        );
        assert.isFalse(started);
        assert.isBelow(JSON.stringify(run.events).length, 20_000);
        assert.isBelow(JSON.stringify(run.requests[1]?.encodedPrompt ?? []).length, 20_000);
        assert.strictEqual(terminalEvents(run.events).length, 1);
      }),
    );
  }
});

describe("what a refused batch stores (R48, R49)", () => {
  it.effect(
    "[R48][R49][F-07] arguments beyond every bound end an error-mode batch and are not in its records or prompts",
    () =>
      Effect.gen(function* () {
        const Take = Tool.make("take", { parameters: Schema.Struct({ value: Schema.Unknown }) });
        const toolkit = Toolkit.make(Take);
        const store = makeStore();
        const argumentsText = `{"value":${"[".repeat(5_000)}"${"x".repeat(2_000_000)}"${"]".repeat(5_000)}}`;
        const end = yield* attempt(store, agentOf(toolkit), () =>
          toolkit.toLayer({ take: () => Effect.void }),
        ).pipe(
          Effect.provide(
            ScriptedModel.layer([toolCalls([{ id: "c1", name: "take", argumentsText }])], {
              chunkSize: 65_536,
            }),
          ),
        );
        assert.strictEqual(end._tag === "settled" ? end.settled.finishReason : end._tag, "refused");
        assert.isBelow(
          JSON.stringify([recordsOf(store), store.events, store.diagnostics]).length,
          20_000,
        );
      }),
  );
});
