import { assert, describe, it } from "@effect/vitest";
import { Effect, Exit } from "effect";
import { boundResult } from "#lib/contract/json/bounded-result.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import { utf8ByteLength } from "#lib/contract/json/utf8.ts";
import { text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import * as ToolExposure from "#lib/tool-exposure.ts";
import * as ToolResults from "#lib/tool-results.ts";
import { eventsOfKind, resultsIn, watch } from "#tests/engine/run-agent.ts";
import {
  envelopeIn,
  lastResult,
  log156,
  makeReader,
  pagingModel,
  readOnIn,
} from "#tests/results/library.ts";

const readLog = toolCalls([{ id: "c1", name: "read_log" }]);
const failureOf = (result: unknown) =>
  typeof result === "object" && result !== null && "reason" in result ? result.reason : result;

describe("reading on in a large result (R52)", () => {
  for (const [what, value, source] of [
    ["a text", log156, log156],
    ["a value", { lines: log156.split("\n") }, canonicalJson({ lines: log156.split("\n") })],
  ] as const)
    it.effect(
      `[R52][T-18] ${what} of 156 KB: the model gets a bounded copy with the total size, and pages through all of it, no page ever cut`,
      () =>
        Effect.gen(function* () {
          const { agent, handlers } = makeReader(value);
          const read: Array<string> = [];
          const run = yield* watch(agent, handlers, [readLog, ...pagingModel(read)]);
          assert.isTrue(Exit.isSuccess(run.exit));
          const envelope = envelopeIn(run.requests[1]);
          assert.strictEqual(envelope.originalBytes, utf8ByteLength(canonicalJson(value)));
          assert.isAbove(envelope.originalBytes, 156_000);
          assert.isAbove(read.length, 4);
          assert.strictEqual(read.join(""), source);
          const pages = eventsOfKind(run.events, "ToolCallSucceeded").slice(1);
          assert.strictEqual(pages.length, read.length - 1);
          for (const page of pages) {
            assert.strictEqual(page.toolName, "read_tool_result");
            assert.isAtMost(page.originalBytes, 32_768);
            assert.isUndefined(page.keptBytes);
          }
          const [first] = eventsOfKind(run.events, "ToolCallSucceeded");
          assert.strictEqual(first?.keptBytes, envelope.originalBytes);
        }),
    );

  it.effect("[R52][T-18] with the smallest bound of results a page fits it too", () =>
    Effect.gen(function* () {
      const value = "ß€👍\n".repeat(300);
      const { agent, handlers } = makeReader(value, {
        policy: { toolResultBounds: { maxBytes: 256 } },
      });
      const read: Array<string> = [];
      const run = yield* watch(agent, handlers, [readLog, ...pagingModel(read)]);
      assert.isTrue(Exit.isSuccess(run.exit));
      assert.strictEqual(read.join(""), value);
      for (const { originalBytes } of eventsOfKind(run.events, "ToolCallSucceeded").slice(1))
        assert.isAtMost(originalBytes, 256);
    }),
  );

  it.effect(
    "[R52][T-18] without the tool the envelope is the one of ever and promises nothing; the text is kept all the same",
    () =>
      Effect.gen(function* () {
        const { handlers, plain } = makeReader(log156);
        const run = yield* watch(plain, handlers, [readLog, text("ok")]);
        assert.deepStrictEqual(lastResult(run.requests[1]), boundResult(log156));
        const [call] = eventsOfKind(run.events, "ToolCallSucceeded");
        assert.strictEqual(call?.keptBytes, call?.originalBytes);
      }),
  );

  it.effect("[R52][X-07] a reading tool that visibility hides from the run is not promised", () =>
    Effect.gen(function* () {
      const { agent, handlers } = makeReader(log156);
      const run = yield* watch(agent, handlers, [readLog, text("ok")]).pipe(
        Effect.provideService(ToolExposure.RunToolVisibility, {
          visible: ({ toolNames }) =>
            Effect.succeed(toolNames.filter((name) => name !== "read_tool_result")),
        }),
      );
      assert.isUndefined(envelopeIn(run.requests[1]).readOn);
    }),
  );

  it.effect(
    "[R52][F-02] an unknown id and an offset behind the end are failures that the model reads, and the run goes on",
    () =>
      Effect.gen(function* () {
        const { agent, handlers } = makeReader(log156);
        const run = yield* watch(agent, handlers, [
          readLog,
          (request) => {
            const { resultId } = readOnIn(request).parameters;
            return toolCalls(
              [
                { resultId: "c1" },
                { resultId: `res_${"0".repeat(32)}` },
                { resultId, offset: log156.length },
                { resultId, offset: -1 },
                { resultId, offset: log156.length - 1, length: 1 },
              ].map((params, index) => ({ id: `r${index}`, name: "read_tool_result", params })),
            );
          },
          text("ok"),
        ]);
        assert.isTrue(Exit.isSuccess(run.exit));
        const results = resultsIn(run.requests[2]).slice(-5);
        assert.deepStrictEqual(
          results.map(([, , isFailure]) => isFailure),
          [true, true, true, true, false],
        );
        assert.deepStrictEqual(
          results.slice(0, 3).map(([, result]) => failureOf(result)),
          ["unknown-result", "unknown-result", "beyond-end"],
        );
        assert.include(JSON.stringify(results[2]?.[1]), String(log156.length));
        assert.deepInclude(results[4]?.[1] as object, {
          text: log156.slice(-1),
          nextOffset: null,
          totalLength: log156.length,
        });
      }),
  );

  it.effect(
    "[R52] the next offset of one call's result never reads another's, though the provider gives both calls one id",
    () =>
      Effect.gen(function* () {
        let calls = 0;
        const { agent, handlers } = makeReader({
          // Encoded anew for each call.
          get text() {
            calls += 1;
            return `${calls}`.repeat(100_000);
          },
        });
        const ids: Array<string> = [];
        const note = (request: Parameters<typeof readOnIn>[0]) =>
          ids.push(readOnIn(request).parameters.resultId);
        const run = yield* watch(agent, handlers, [
          toolCalls([{ id: "call_0", name: "read_log" }]),
          (request) => (note(request), toolCalls([{ id: "call_0", name: "read_log" }])),
          (request) => {
            note(request);
            return toolCalls(
              ids.map((resultId, index) => ({
                id: `r${index}`,
                name: "read_tool_result",
                params: { resultId, offset: 60_000, length: 10 },
              })),
            );
          },
          text("ok"),
        ]);
        assert.isTrue(Exit.isSuccess(run.exit));
        assert.notStrictEqual(ids[0], ids[1]);
        const [first, second] = resultsIn(run.requests[3])
          .slice(-2)
          .map(([, result]) => JSON.stringify(result));
        assert.notStrictEqual(first, second);
      }),
  );

  it.effect(
    "[R52] of a result above 8 MiB the beginning is kept, and model and event are told so",
    () =>
      Effect.gen(function* () {
        const value = "0123456789".repeat(1_000_000);
        const { agent, handlers } = makeReader(value);
        const run = yield* watch(agent, handlers, [
          readLog,
          (request) => {
            const { resultId } = readOnIn(request).parameters;
            return toolCalls([
              {
                id: "r1",
                name: "read_tool_result",
                params: { resultId, offset: 8_388_600, length: 100 },
              },
              { id: "r2", name: "read_tool_result", params: { resultId, offset: 9_000_000 } },
            ]);
          },
          text("ok"),
        ]);
        assert.strictEqual(readOnIn(run.requests[1]).keptBytes, 8_388_608);
        const [end, behind] = resultsIn(run.requests[2]).slice(-2);
        const notice = "Only the first 8388608 of 10000002 bytes are kept.";
        assert.deepInclude(end?.[1] as object, { text: "0123456", nextOffset: null, notice });
        assert.strictEqual(failureOf(behind?.[1]), "not-kept");
        const [call] = eventsOfKind(run.events, "ToolCallSucceeded");
        assert.deepStrictEqual([call?.keptBytes, call?.originalBytes], [8_388_608, 10_000_002]);
      }),
  );

  it("[R52] a bound out of its range is an author's mistake", () => {
    assert.throws(() => ToolResults.make({ maxPageBytes: 255 }), /maxPageBytes/);
    assert.throws(() => ToolResults.make({ maxPageBytes: 1.5 }), /maxPageBytes/);
  });
});
