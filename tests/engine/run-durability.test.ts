import { assert, describe, it } from "@effect/vitest";
import { Effect, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import type { ExposureSnapshot } from "#lib/contract/exposure.ts";
import { RunDurability, responseCommitOf, resumeOf } from "#lib/run-durability.ts";
import { interpret } from "#lib/engine/RunLoop.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { contextOf, makeProcess, makeStore, recordsOf } from "./durable-harness.ts";

const Search = Tool.make("search", {
  parameters: Schema.Struct({ query: Schema.NonEmptyString }),
  success: Schema.String,
  failureMode: "return",
});
const toolkit = Toolkit.make(Search);
const agent = Agent.make("searcher", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Search.",
  toolkit,
});
const handlers = toolkit.toLayer({ search: ({ query }) => Effect.succeed(query) });

describe("a durable host of one's own", () => {
  it.effect(
    "[X-17] is told what each request exposes before the model is asked, and finds the same with the response",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const { durability } = yield* makeProcess(store, undefined);
        const noted: Array<{
          readonly turn: number;
          readonly exposure: ExposureSnapshot;
          readonly requests: number;
        }> = [];
        const model = yield* ScriptedModel;
        const context = yield* contextOf(agent, handlers, store);
        yield* interpret(context, [], []).pipe(
          Effect.provideService(RunDurability, {
            ...durability,
            noteToolExposure: (turn, exposure) =>
              Effect.map(model.requests, (requests) => {
                noted.push({ turn, exposure, requests: requests.length });
              }),
          }),
        );
        assert.deepStrictEqual(
          noted.map(({ turn, requests }) => [turn, requests]),
          [
            [1, 0],
            [2, 1],
          ],
        );
        const turns = recordsOf(store).flatMap((record) =>
          record._tag === "TurnRecorded" ? [record.exposure] : [],
        );
        assert.deepStrictEqual(
          turns,
          noted.map(({ exposure }) => exposure),
        );
      }).pipe(
        Effect.provide(
          ScriptedModel.layer([
            toolCalls([{ id: "a", name: "search", params: { query: "x" } }]),
            text("done"),
          ]),
        ),
      ),
  );

  it.effect(
    "[F-09] keeps the rejections with their response in one append and is resumed with them",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const { durability } = yield* makeProcess(store, undefined);
        const context = yield* contextOf(agent, handlers, store);
        yield* interpret(context, [], []).pipe(Effect.provideService(RunDurability, durability));
        const commits = store.appends.flatMap((append) => {
          const commit = responseCommitOf(append);
          return commit === undefined ? [] : [commit];
        });
        const [first] = commits;
        assert.deepStrictEqual(
          first?.toolParameterRejections.map(({ callId, parameters }) => [
            callId as string,
            parameters,
          ]),
          [["bad", { query: "" }]],
        );
        const untilFirst = store.appends.slice(
          0,
          store.appends.findIndex((append) => responseCommitOf(append) !== undefined) + 1,
        );
        assert.deepStrictEqual(resumeOf(untilFirst.flat()), {
          turn: 1,
          toolParameterRejections: first?.toolParameterRejections ?? [],
          toolExposure: first?.toolExposure as ExposureSnapshot,
        });
      }).pipe(
        Effect.provide(
          ScriptedModel.layer([
            toolCalls([{ id: "bad", name: "search", params: { query: "" } }]),
            text("done"),
          ]),
        ),
      ),
  );
});
