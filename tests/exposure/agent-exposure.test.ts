import { assert, describe, it } from "@effect/vitest";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Ref from "effect/Ref";
import * as Schema from "effect/Schema";
import * as Tool from "effect/unstable/ai/Tool";
import * as Toolkit from "effect/unstable/ai/Toolkit";
import * as Agent from "#lib/agent/Agent.ts";
import { json, type TurnScript, toolCalls } from "#lib/testing/ScriptedModel.ts";
import * as ToolDiscovery from "#lib/tool-discovery.ts";
import { PinnedTool, RunToolVisibility, Selection, ToolNamespace } from "#lib/tool-exposure.ts";
import type { RunOptions } from "#lib/run-options.ts";
import { errorTagOf, eventsOfKind, watch, type WatchedRun } from "#tests/engine/run-agent.ts";

const record = (name: string) =>
  Tool.make(name, {
    parameters: Schema.Struct({ id: Schema.String }),
    success: Schema.String,
  }).annotate(ToolNamespace, "records");
const GetRecord = record("get_record").annotate(PinnedTool, true);
const SearchRecords = record("search_records");
const DeleteRecord = record("delete_record");
const BigRecord = Tool.make("big_record", {
  description: `search ${"x".repeat(5_000)}`,
  parameters: Schema.Struct({ id: Schema.String }),
  success: Schema.String,
});

/** A desk whose discovery answers what the test says; calls to handlers and searches are counted. */
const makeDesk = Effect.fnUntraced(function* (
  options: {
    readonly search?: (query: string) => Effect.Effect<ReadonlyArray<string>>;
    readonly maxResultBytes?: number;
  } = {},
) {
  const log = yield* Ref.make<ReadonlyArray<string>>([]);
  const note = (entry: string) => Ref.update(log, (all) => [...all, entry]);
  const { search } = options;
  const discovery = ToolDiscovery.make({
    ...(options.maxResultBytes === undefined ? {} : { maxResultBytes: options.maxResultBytes }),
    search: (request, catalogue) =>
      Effect.andThen(
        note(`search ${request.query} of ${catalogue.map(({ id }) => id).join(",")}`),
        search === undefined
          ? Effect.succeed(ToolDiscovery.defaultSearch(request, catalogue))
          : search(request.query),
      ),
  });
  const tools = Toolkit.make(GetRecord, SearchRecords, DeleteRecord, BigRecord);
  const agent = Agent.make("desk", {
    input: Schema.String,
    output: Schema.String,
    instructions: "Find tools with discover_tools.",
    toolkit: Toolkit.make(GetRecord, SearchRecords, DeleteRecord, BigRecord, discovery.tool),
    toolExposure: { initialToolNames: [], maxTools: 16, maxSchemaBytes: 65_536 },
  });
  const handle =
    (name: string) =>
    ({ id }: { readonly id: string }) =>
      Effect.as(note(`${name} ${id}`), `${name} ${id}`);
  const handlers = Layer.merge(
    tools.toLayer({
      get_record: handle("get_record"),
      search_records: handle("search_records"),
      delete_record: handle("delete_record"),
      big_record: handle("big_record"),
    }),
    discovery.handlers,
  );
  const run = (script: ReadonlyArray<TurnScript>, runOptions: RunOptions = {}) =>
    watch(agent, handlers, script, { run: runOptions });
  return { run, log: Ref.get(log) };
});

const discover = (id: string, query: string) => ({ id, name: "discover_tools", params: { query } });
const use = (id: string, name: string) => ({ id, name, params: { id: "r1" } });
const done = json("done");
const toolsOf = (run: WatchedRun) =>
  run.requests.map((request) => request.tools.map(({ name }) => name));
const snapshotsOf = (run: WatchedRun) =>
  eventsOfKind(run.events, "TurnRecorded").map(({ exposure }) => exposure);

describe("exposure of a running agent", () => {
  it.effect(
    "[D-11] [X-12] the first request has pins and discovery; what is found is callable with the next one",
    () =>
      Effect.gen(function* () {
        const desk = yield* makeDesk();
        const run = yield* desk.run([
          toolCalls([discover("c1", "search_records")]),
          toolCalls([use("c2", "search_records")]),
          done,
        ]);
        assert.deepStrictEqual(toolsOf(run), [
          ["get_record", "discover_tools"],
          ["get_record", "search_records", "discover_tools"],
          ["get_record", "search_records", "discover_tools"],
        ]);
        assert.deepStrictEqual(
          snapshotsOf(run).map(({ exposed }) => exposed),
          toolsOf(run),
        );
        assert.deepStrictEqual(
          snapshotsOf(run).map(({ selectionSource }) => selectionSource),
          ["initial", "discovery", "discovery"],
        );
        assert.include(yield* desk.log, "search_records r1");
        const [found] = eventsOfKind(run.events, "ToolCallSucceeded");
        assert.deepStrictEqual(found?.toolSelection, ["search_records"]);
      }),
  );

  it.effect(
    "[X-09] a guessed call outside the request's exposure fails before any handler of the batch",
    () =>
      Effect.gen(function* () {
        const desk = yield* makeDesk();
        const run = yield* desk.run([
          toolCalls([use("c1", "get_record"), use("c2", "delete_record")]),
        ]);
        assert.strictEqual(errorTagOf(run), "AgentToolCallRejected");
        assert.deepStrictEqual(yield* desk.log, []);
        assert.strictEqual(eventsOfKind(run.events, "ToolCallStarted").length, 0);
      }),
  );

  it.effect("[X-10] no selection takes effect midway through a batch", () =>
    Effect.gen(function* () {
      const desk = yield* makeDesk();
      const run = yield* desk.run([
        toolCalls([discover("c1", "search_records"), use("c2", "search_records")]),
      ]);
      assert.strictEqual(errorTagOf(run), "AgentToolCallRejected");
      assert.deepStrictEqual(yield* desk.log, []);
    }),
  );

  it.effect(
    "[X-11] of two discoveries that finish in reverse the last declared wins; [X-10] an empty one clears",
    () =>
      Effect.gen(function* () {
        const second = yield* Deferred.make<void>();
        const desk = yield* makeDesk({
          search: (query) => {
            if (query === "slow") {
              // Long after the other search has begun, and so after its call has ended.
              const later = Effect.repeat(Effect.yieldNow, { times: 1_000 });
              return Effect.as(Effect.andThen(Deferred.await(second), later), ["delete_record"]);
            }
            if (query === "fast")
              return Effect.as(Deferred.succeed(second, undefined), ["search_records"]);
            return Effect.succeed([]);
          },
        });
        const run = yield* desk.run([
          toolCalls([discover("c1", "slow"), discover("c2", "fast")]),
          toolCalls([discover("c3", "nothing")]),
          done,
        ]);
        assert.deepStrictEqual(
          eventsOfKind(run.events, "ToolCallSucceeded").map(({ callId }) => String(callId)),
          ["c2", "c1", "c3"],
        );
        assert.deepStrictEqual(toolsOf(run), [
          ["get_record", "discover_tools"],
          ["get_record", "search_records", "discover_tools"],
          ["get_record", "discover_tools"],
        ]);
        assert.strictEqual(snapshotsOf(run)[2]?.selectionSource, "cleared");
      }),
  );

  it.effect(
    "[D-08] [X-09] a tool that discovery left out for size is not callable, and is refused when guessed",
    () =>
      Effect.gen(function* () {
        const desk = yield* makeDesk({
          maxResultBytes: 2_000,
          search: () => Effect.succeed(["big_record", "search_records"]),
        });
        const run = yield* desk.run([
          toolCalls([discover("c1", "search")]),
          toolCalls([use("c2", "search_records"), use("c3", "big_record")]),
        ]);
        const [found] = eventsOfKind(run.events, "ToolCallSucceeded");
        assert.deepStrictEqual(found?.toolSelection, ["search_records"]);
        assert.include(JSON.stringify(found?.result), "did not fit");
        assert.strictEqual(errorTagOf(run), "AgentToolCallRejected");
        assert.notInclude(yield* desk.log, "search_records r1");
      }),
  );

  it.effect(
    "[X-08] [X-07] [X-05] what visibility hides is in no request and no catalogue, a hidden pin is only absent",
    () =>
      Effect.gen(function* () {
        const desk = yield* makeDesk();
        const hidden = new Set(["delete_record", "get_record"]);
        const asked = yield* Ref.make<ReadonlyArray<unknown>>([]);
        const run = yield* desk.run([toolCalls([discover("c1", "search_records")]), done]).pipe(
          Effect.provideService(RunToolVisibility, {
            visible: ({ toolNames, turn, input }) =>
              Effect.as(
                Ref.update(asked, (all) => [...all, { turn, input }]),
                toolNames.filter((name) => !hidden.has(name)),
              ),
          }),
        );
        assert.deepStrictEqual(toolsOf(run), [
          ["discover_tools"],
          ["search_records", "discover_tools"],
        ]);
        assert.notInclude(JSON.stringify(yield* desk.log), "delete_record");
        assert.deepStrictEqual(snapshotsOf(run)[0]?.hiddenByVisibility, [
          "get_record",
          "delete_record",
        ]);
        assert.deepStrictEqual((yield* Ref.get(asked))[0], { turn: 1, input: "go" });
      }),
  );

  it.effect("[X-06] a hidden discovery tool refuses the run before any model call", () =>
    Effect.gen(function* () {
      const desk = yield* makeDesk();
      const run = yield* desk.run([done]).pipe(
        Effect.provideService(RunToolVisibility, {
          visible: () => Effect.succeed(["get_record"]),
        }),
      );
      assert.strictEqual(errorTagOf(run), "ModelProtocolError");
      assert.strictEqual(run.requests.length, 0);
    }),
  );

  it.effect(
    "[X-15] a host selection replaces the first set and lasts until a discovery replaces it",
    () =>
      Effect.gen(function* () {
        const desk = yield* makeDesk();
        const run = yield* desk.run(
          [
            toolCalls([use("c1", "delete_record")]),
            toolCalls([discover("c2", "search_records")]),
            done,
          ],
          { toolSelection: Selection.make({ toolNames: ["delete_record"] }) },
        );
        assert.deepStrictEqual(toolsOf(run), [
          ["get_record", "delete_record", "discover_tools"],
          ["get_record", "delete_record", "discover_tools"],
          ["get_record", "search_records", "discover_tools"],
        ]);
        assert.deepStrictEqual(
          snapshotsOf(run).map(({ selectionSource }) => selectionSource),
          ["host", "host", "discovery"],
        );
        const unknown = yield* desk.run([done], { toolSelection: { toolNames: ["toString"] } });
        assert.strictEqual(errorTagOf(unknown), "ModelProtocolError");
        assert.strictEqual(unknown.requests.length, 0);
      }),
  );

  it.effect(
    "[D-10] a search that returns an unknown id fails the run typed and selects nothing",
    () =>
      Effect.gen(function* () {
        const desk = yield* makeDesk({ search: () => Effect.succeed(["search_records", "gone"]) });
        const run = yield* desk.run([toolCalls([discover("c1", "x")])]);
        assert.instanceOf(run.error, ToolDiscovery.ToolDiscoveryError);
        assert.strictEqual(run.requests.length, 1);
      }),
  );

  it.effect(
    "[D-02] an over-long query of a discovery tool is fatal, as invalid parameters in error mode are",
    () =>
      Effect.gen(function* () {
        const desk = yield* makeDesk();
        const run = yield* desk.run([toolCalls([discover("c1", "x".repeat(513))])]);
        assert.strictEqual(errorTagOf(run), "AgentToolCallRejected");
        assert.deepStrictEqual(yield* desk.log, []);
      }),
  );
});
