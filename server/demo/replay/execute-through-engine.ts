/** The engine's whole path, in memory: exposure, preflight, approval, authorization, schedule, settlement. */
import { Effect, Stream } from "effect";

import * as AgentRuntime from "#lib/engine/AgentRuntime.ts";
import { ScriptedModel } from "#lib/testing/ScriptedModel.ts";

import { resultText } from "./json-equal.ts";
import type { RecordedTask } from "./recorded-tasks.ts";
import { approveRecordedCalls, callIdOf, recordedTurns, replayDesk } from "./recorded-turns.ts";

export const executeThroughEngine = Effect.fn("executeThroughEngine")(
  function* (task: RecordedTask) {
    const results = new Map<string, string>();
    const run = yield* AgentRuntime.start(replayDesk, task.instruction, {
      approval: approveRecordedCalls,
    });
    yield* Stream.runForEach(run.events, (event) =>
      Effect.sync(() => {
        if (event._tag === "ToolCallSucceeded" || event._tag === "ToolCallFailed") {
          results.set(event.callId, resultText(event.result));
        }
      }),
    );
    yield* run.await;
    return task.actions.map((_, index) => results.get(callIdOf(index)) ?? "");
  },
  (run, task) => Effect.provide(Effect.scoped(run), ScriptedModel.layer(recordedTurns(task))),
);
