import { assert, describe, it } from "@effect/vitest";
import { Duration, Effect, Exit, Fiber } from "effect";
import { AiError } from "effect/unstable/ai";
import { text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import {
  errorTagOf,
  eventsOfKind,
  inVirtualTime,
  resultsIn,
  terminalEvents,
  watch,
} from "#tests/engine/run-agent.ts";
import { makeWorker, workerAgent } from "#tests/engine/worker-tools.ts";

const call = (id: string, name: string, millis = 0) => ({ id, name, params: { millis } });

describe("whole responses (B-01)", () => {
  const responses = [
    ["a stream cut after the arguments, before the call", { cutAfter: 3 }],
    ["a stream cut after the call, before its finish", { finishReason: "omitted" }],
    ["a response stopped by its length", { finishReason: "length" }],
    ["a response stopped by a content filter", { finishReason: "content-filter" }],
  ] as const;
  for (const [name, options] of responses) {
    it.effect(`[B-01][R59] ${name} starts no handler and is a protocol failure`, () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const run = yield* watch(workerAgent(), worker.layer, [
          toolCalls([call("a", "work"), call("b", "work")], options),
        ]);
        assert.deepStrictEqual(worker.log, []);
        assert.strictEqual(errorTagOf(run), "ModelProtocolError");
        assert.deepStrictEqual(eventsOfKind(run.events, "ToolCallStarted"), []);
        assert.strictEqual(terminalEvents(run.events).length, 1);
        assert.strictEqual(run.requests.length, 1);
      }),
    );
  }

  it.effect("[B-01] two finish parts are refused", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const finish = {
        type: "finish",
        reason: "tool-calls",
        usage: { inputTokens: {}, outputTokens: {} },
      } as const;
      const turn = toolCalls([call("a", "work")]);
      const run = yield* watch(workerAgent(), worker.layer, [
        { ...turn, parts: [...turn.parts, { _tag: "raw", part: finish }] },
      ]);
      assert.strictEqual(errorTagOf(run), "ModelProtocolError");
      assert.deepStrictEqual(worker.log, []);
    }),
  );

  it.effect(
    "[R58][R77] a response that stops to call tools and contains none is not taken for an answer",
    () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const run = yield* watch(workerAgent(), worker.layer, [
          text('<tool_call>{"name":"work"}</tool_call>', { finishReason: "tool-calls" }),
        ]);
        assert.strictEqual(errorTagOf(run), "ModelProtocolError");
      }),
  );

  it.effect("[R59] arguments that began and never became a call are not dropped silently", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const run = yield* watch(workerAgent(), worker.layer, [
        {
          parts: [
            { _tag: "raw", part: { type: "tool-params-start", id: "a", name: "work" } },
            { _tag: "raw", part: { type: "tool-params-end", id: "a" } },
            { _tag: "text", text: "all done" },
          ],
        },
      ]);
      assert.strictEqual(errorTagOf(run), "ModelProtocolError");
    }),
  );

  it.effect(
    "[R56] interleaved argument deltas of one character give both calls whole and in order",
    () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const run = yield* watch(
          workerAgent(),
          worker.layer,
          [
            toolCalls([call("a", "work", 2), call("b", "mutate", 10)], { interleaved: true }),
            text("ok"),
          ],
          { model: { chunkSize: 1 } },
        ).pipe(inVirtualTime);
        assert.isTrue(Exit.isSuccess(run.exit));
        assert.deepStrictEqual(
          eventsOfKind(run.events, "ToolCallDeclared").map((event) => [
            event.callId as string,
            event.parameters,
          ]),
          [
            ["a", { millis: 2 }],
            ["b", { millis: 10 }],
          ],
        );
        assert.deepStrictEqual(
          resultsIn(run.requests[1]).map(([id, result]) => [id, result]),
          [
            ["a", "done a"],
            ["b", "mutated b"],
          ],
        );
      }),
  );

  it.effect("[B-10] a response of more than 16,384 parts is refused before anything starts", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const run = yield* watch(
        workerAgent(),
        worker.layer,
        [toolCalls([call("a", "work")], { text: "x".repeat(16_400) })],
        { model: { chunkSize: 1 } },
      );
      assert.strictEqual(errorTagOf(run), "ModelProtocolError");
      assert.deepStrictEqual(worker.log, []);
    }),
  );

  it.effect("[B-10] a response over 8 MiB is refused", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const run = yield* watch(
        workerAgent(),
        worker.layer,
        [text("x".repeat(8 * 1024 * 1024 + 1))],
        {
          model: { chunkSize: 1_000_000 },
        },
      );
      assert.strictEqual(errorTagOf(run), "ModelProtocolError");
    }),
  );

  it.effect("[R29] a response with text and a call sends the call's result back", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const run = yield* watch(workerAgent(), worker.layer, [
        toolCalls([call("a", "work")], { text: "Let me look." }),
        text("ok"),
      ]);
      assert.deepStrictEqual(
        resultsIn(run.requests[1]).map(([id]) => id),
        ["a"],
      );
      assert.include(JSON.stringify(run.requests[1]?.encodedPrompt), "Let me look.");
    }),
  );

  it.effect(
    "[R74] a rate limit between batches repeats the request only, after the time it asks for",
    () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const limited = AiError.make({
          module: "test",
          method: "test",
          reason: new AiError.RateLimitError({ retryAfter: Duration.seconds(20) }),
        });
        const fiber = yield* Effect.forkChild(
          watch(workerAgent(), worker.layer, [
            toolCalls([call("a", "work")]),
            { parts: [], error: limited, finishReason: "omitted" },
            text("ok"),
          ]),
        );
        yield* inVirtualTime(Effect.sleep("10 seconds"), 1_000);
        assert.isUndefined(fiber.pollUnsafe());
        const run = yield* inVirtualTime(Fiber.join(fiber), 1_000);
        assert.isTrue(Exit.isSuccess(run.exit));
        assert.deepStrictEqual(worker.log, ["start a", "end a", "over a"]);
        assert.strictEqual(run.requests.length, 3);
      }),
  );
});

describe("the whole batch is checked before any of it starts (B-02)", () => {
  const last = [
    ["an unknown tool", { id: "c", name: "nope", params: {} }],
    [
      "wrong arguments of an error-mode tool",
      { id: "c", name: "work", params: { millis: "soon" } },
    ],
  ] as const;
  for (const [name, bad] of last) {
    it.effect(
      `[B-02][B-09][F-07] ${name} in last place starts nothing, and every declared call is seen`,
      () =>
        Effect.gen(function* () {
          const worker = makeWorker();
          const run = yield* watch(workerAgent(), worker.layer, [
            toolCalls([call("a", "work"), call("b", "mutate"), bad]),
          ]);
          assert.strictEqual(errorTagOf(run), "AgentToolCallRejected");
          assert.deepStrictEqual(worker.log, []);
          assert.deepStrictEqual(eventsOfKind(run.events, "ToolCallStarted"), []);
          assert.deepStrictEqual(
            eventsOfKind(run.events, "ToolCallDeclared").map((event) => [
              event.callId as string,
              event.parameters,
            ]),
            [
              ["a", { millis: 0 }],
              ["b", { millis: 0 }],
              ["c", bad.params],
            ],
          );
        }),
    );
  }

  it.effect(
    "[scenario 1][B-02] two good calls and an unknown tool: no handler, a failed run, no started events",
    () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const run = yield* watch(workerAgent(), worker.layer, [
          toolCalls([call("a", "work"), call("b", "read"), { id: "c", name: "launch_rocket" }]),
        ]);
        assert.deepStrictEqual(worker.log, []);
        assert.deepStrictEqual(eventsOfKind(run.events, "ToolCallStarted"), []);
        assert.deepStrictEqual(run.events.at(-1)?._tag, "RunFailed");
        assert.include(String((run.error as Error).message), "launch_rocket");
      }),
  );
});
