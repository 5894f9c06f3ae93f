import { assert, describe, it } from "@effect/vitest";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Ref from "effect/Ref";
import * as Schema from "effect/Schema";
import * as Tool from "effect/unstable/ai/Tool";
import * as Toolkit from "effect/unstable/ai/Toolkit";
import * as Agent from "#lib/agent/Agent.ts";
import { ToolExecutionClass } from "#lib/durable-step.ts";
import type { RunContext } from "#lib/engine/RunContext.ts";
import { json, ScriptedModel, toolCalls, toolResultsOf } from "#lib/testing/ScriptedModel.ts";
import * as ToolDiscovery from "#lib/tool-discovery.ts";
import { PinnedTool } from "#lib/tool-exposure.ts";
import { attempt, type CrashPoint, kindOf, makeStore } from "#tests/engine/durable-harness.ts";

const GetRecord = Tool.make("get_record", { success: Schema.String })
  .annotate(ToolExecutionClass, "readonly")
  .annotate(PinnedTool, true);
const SearchRecords = Tool.make("search_records", { success: Schema.String }).annotate(
  ToolExecutionClass,
  "readonly",
);

/** Discovers, uses what it found beside the pinned tool, answers: whatever was lost in between. */
const desk = Effect.gen(function* () {
  const log = yield* Ref.make<ReadonlyArray<string>>([]);
  const note = (entry: string) =>
    Effect.as(
      Ref.update(log, (all) => [...all, entry]),
      entry,
    );
  const discovery = ToolDiscovery.make({
    search: () => Effect.as(note("search"), ["search_records"]),
  });
  const agent = Agent.make("desk", {
    input: Schema.String,
    output: Schema.String,
    instructions: "Find tools.",
    toolkit: Toolkit.make(GetRecord, SearchRecords, discovery.tool),
  });
  const handlers = Layer.merge(
    Toolkit.make(GetRecord, SearchRecords).toLayer({
      get_record: () => note("get_record"),
      search_records: () => note("search_records"),
    }),
    discovery.handlers,
  );
  const run = (
    store: ReturnType<typeof makeStore>,
    crash?: CrashPoint,
    context?: Partial<RunContext>,
  ) =>
    attempt(store, agent, () => handlers, {
      ...(crash === undefined ? {} : { crash }),
      ...(context === undefined ? {} : { context }),
    });
  const requests = Effect.flatMap(ScriptedModel, (model) => model.requests);
  return { run, log: Ref.get(log), requests };
});

const model = ScriptedModel.layer([], {
  whenExhausted: ({ prompt }) => {
    const results = toolResultsOf(prompt).length;
    if (results === 0)
      return toolCalls([{ id: "c1", name: "discover_tools", params: { query: "search" } }]);
    if (results > 1) return json("done");
    return toolCalls([
      { id: "c2", name: "search_records" },
      { id: "c3", name: "get_record" },
    ]);
  },
});

const exposures = [
  ["get_record", "discover_tools"],
  ["get_record", "search_records", "discover_tools"],
  ["get_record", "search_records", "discover_tools"],
];

/** Appends of a run that loses nothing: where a process can be lost. */
const countAppends = Effect.gen(function* () {
  const store = makeStore();
  const { run } = yield* desk;
  yield* run(store);
  return store.appends.length;
}).pipe(Effect.provide(model));

describe("exposure after a lost process", () => {
  it.effect(
    "[X-13] [X-12] wherever the process is lost, exposures are as recorded and a committed discovery is not searched again",
    () =>
      Effect.gen(function* () {
        const appends = yield* countAppends;
        assert.isAtLeast(appends, 6);
        for (let append = 1; append <= appends; append++) {
          for (const landed of [false, true]) {
            const where = `append ${append} of ${appends}, ${landed ? "landed" : "lost"}`;
            yield* Effect.gen(function* () {
              const store = makeStore();
              const { run, log, requests } = yield* desk;
              const first = yield* run(store, { append, landed });
              assert.strictEqual(first._tag, "lost", where);
              const settledBefore = kindOf(store, "ToolCallSettled").length;
              const searchedBefore = (yield* log).filter((entry) => entry === "search").length;
              // A call of uncertain effect may be in doubt now; this test is about what the model was shown.
              yield* run(store);
              const searches = (yield* log).filter((entry) => entry === "search").length;
              if (settledBefore > 0) assert.strictEqual(searches, searchedBefore, where);
              assert.isAtMost(searches, 2, where);
              const turns = kindOf(store, "TurnRecorded");
              assert.deepStrictEqual(
                turns.map(({ exposure }) => exposure.exposed),
                exposures.slice(0, turns.length),
                where,
              );
              for (const request of yield* requests) {
                const turn = toolResultsOf(request.prompt).length === 0 ? 0 : 1;
                assert.deepStrictEqual(
                  request.tools.map(({ name }) => name),
                  exposures[turn],
                  where,
                );
              }
            }).pipe(Effect.provide(model));
          }
        }
      }),
  );

  it.effect(
    "[X-14] a resumed call whose tool became hidden does not run; its sibling does, and settled results stay",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const { run, log } = yield* desk;
        // The second response is recorded, then the process is lost.
        const lost = yield* Effect.gen(function* () {
          for (let append = 1; ; append++) {
            store.appends.length = 0;
            const end = yield* run(store, { append, landed: true });
            if (end._tag !== "lost" || kindOf(store, "TurnRecorded").length === 2) return end;
          }
        });
        assert.strictEqual(lost._tag, "lost");
        const hidden = { visible: () => Effect.succeed(["get_record", "discover_tools"]) };
        const end = yield* run(store, undefined, { visibility: hidden });
        assert.strictEqual(end._tag, "settled");
        assert.notInclude(yield* log, "search_records");
        assert.strictEqual((yield* log).filter((entry) => entry === "get_record").length, 1);
        assert.deepStrictEqual(
          kindOf(store, "ToolCallSettled")
            .map(({ callId, isFailure }) => [String(callId), isFailure])
            .sort(),
          [
            ["c1", false],
            ["c2", true],
            ["c3", false],
          ],
        );
      }).pipe(Effect.provide(model)),
  );
});
