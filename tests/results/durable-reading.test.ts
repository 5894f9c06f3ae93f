/** Reading on in a durable run: other attempts, other runs, altered texts, people's words, programs. */
import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { ResultId, ToolCallId } from "#lib/contract/ids.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { RecordOf, RunRecord } from "#lib/contract/records.ts";
import { ToolExecutionClass } from "#lib/durable-step.ts";
import { makeCallInside } from "#lib/engine/call-inside.ts";
import { makeEphemeralDurability } from "#lib/engine/ephemeral-durability.ts";
import { keepCut, keptResultsOf, makeResultRoom } from "#lib/engine/keep-results.ts";
import { settledSuccess } from "#lib/engine/settle-call.ts";
import { register } from "#lib/host/AgentRegistry.ts";
import { keepText, maxKeptRunBytes } from "#lib/results/kept-text.ts";
import { MemoryHost } from "#lib/testing/MemoryHost.ts";
import { ScriptedModel, text, toolCalls, type TurnScript } from "#lib/testing/ScriptedModel.ts";
import { ProgrammaticTools, ToolBroker } from "#lib/tool-broker.ts";
import * as ToolResults from "#lib/tool-results.ts";
import { unknownOutcome } from "#lib/unknown-outcome.ts";
import { contextOf, makeStore } from "#tests/engine/durable-harness.ts";
import {
  lastResult,
  log156,
  makeReader,
  pagingModel,
  readCall,
  readOnIn,
} from "#tests/results/library.ts";

const settledOf = (records: ReadonlyArray<RunRecord>) =>
  records.filter(
    (record): record is RecordOf<"ToolCallSettled"> => record._tag === "ToolCallSettled",
  );

const onHost = <A, E>(
  script: ReadonlyArray<TurnScript>,
  body: Effect.Effect<A, E, MemoryHost>,
  result: unknown = log156,
) => {
  const { agent, handlers } = makeReader(result);
  return body.pipe(
    Effect.provide(
      MemoryHost.layer(Effect.all([register(Agent.bind(agent, handlers))])).pipe(
        Layer.provide(ScriptedModel.layer(script)),
      ),
    ),
  );
};

const unresolved = { resolve: () => Effect.succeed([]) };

const readLog = toolCalls([{ id: "c1", name: "read_log" }]);

describe("reading on in a durable run (R52)", () => {
  it.effect(
    "[R52][T-18][A-08] an attempt after a wait for a person reads what the one before it kept",
    () => {
      const read: Array<string> = [];
      let resultId = "";
      const script: ReadonlyArray<TurnScript> = [
        readLog,
        (request) => {
          const readOn = readOnIn(request);
          resultId = readOn.parameters.resultId;
          return toolCalls([{ id: "g", name: "gate" }]);
        },
        () => readCall({ resultId }),
        (request) => {
          const page = Schema.decodeUnknownSync(ToolResults.ResultPage)(lastResult(request));
          read.push(page.text);
          return page.nextOffset === null
            ? text("read")
            : readCall({ resultId, offset: page.nextOffset });
        },
      ];
      const paging = script.at(-1);
      return onHost(
        [...script, ...Array.from({ length: 20 }, () => paging ?? text("none"))],
        Effect.gen(function* () {
          const host = yield* MemoryHost;
          const receipt = yield* host.submit({ agentId: "reader", input: "go" });
          const waiting = yield* host.work(receipt);
          const [request] = waiting.approvals;
          if (request === undefined) return assert.fail("nothing waits");
          yield* host.approve(request);
          const done = yield* host.work(receipt);
          assert.strictEqual(done.state, "completed");
          assert.strictEqual(read.join(""), log156);
          const [large, , ...pages] = settledOf(done.records);
          assert.strictEqual(large?.kept?.resultId, resultId);
          assert.strictEqual(large?.kept?.bytes, large?.originalBytes);
          for (const page of pages) {
            assert.isUndefined(page.kept);
            assert.strictEqual(page.kind, "succeeded");
          }
        }),
      );
    },
  );

  it.effect(
    "[R52] another run of the same thread cannot read it, though its model remembers the id",
    () => {
      let resultId = "";
      let answered: unknown;
      return onHost(
        [
          readLog,
          (request) => {
            ({ resultId } = readOnIn(request).parameters);
            return text("later");
          },
          () => readCall({ resultId }),
          (request) => {
            answered = lastResult(request);
            return text("done");
          },
        ],
        Effect.gen(function* () {
          const host = yield* MemoryHost;
          const first = yield* host.submit({ agentId: "reader", input: "go" });
          yield* host.work(first);
          const second = yield* host.submit({
            agentId: "reader",
            input: "go on",
            threadId: first.threadId,
          });
          const done = yield* host.work(second);
          assert.strictEqual(done.state, "completed");
          assert.deepInclude(answered as object, { reason: "unknown-result" });
        }),
      );
    },
  );

  it.effect("[R52][PG-02] a text that is not the recorded one, or is gone, is never shown", () =>
    Effect.gen(function* () {
      const { agent, handlers } = makeReader(log156);
      const context = yield* contextOf(agent, handlers, makeStore());
      const callId = ToolCallId.make("c1");
      const resultId = ResultId.make(`res_${"a".repeat(32)}`);
      const kept = keepText({ resultId, turn: 1, callId }, log156, maxKeptRunBytes);
      const found = (text: string) => {
        const durability = makeEphemeralDurability(undefined, unresolved, () => undefined);
        const keptResult = () => Effect.succeed({ ...kept, text });
        const inside = makeCallInside();
        return keptResultsOf(context, inside, { ...durability, keptResult }).find(resultId);
      };
      const whole = yield* found(kept.text);
      assert.deepInclude(whole, { _tag: "kept", source: log156 });
      for (const text of [kept.text.replace("größe", "Größe"), kept.text.slice(0, -9), ""])
        assert.deepStrictEqual(yield* found(text), { _tag: "damaged" });
    }),
  );

  it.effect(
    "[R52][DU-08] a large result that a person settles a doubt with is bounded, kept and read like any other",
    () => {
      const Fetch = Tool.make("fetch", { success: Schema.String });
      const reading = ToolResults.make();
      const own = Toolkit.make(Fetch);
      const agent = Agent.make("doubtful", {
        input: Schema.String,
        output: Schema.String,
        instructions: "Go.",
        toolkit: Toolkit.make(Fetch, reading.tool),
        policy: { maxTurns: 100, maxToolCalls: 100 },
      });
      const handlers = Layer.merge(
        own.toLayer({ fetch: () => unknownOutcome("Nobody answered.") }),
        reading.handlers,
      );
      const read: Array<string> = [];
      return Effect.gen(function* () {
        const host = yield* MemoryHost;
        const receipt = yield* host.submit({ agentId: "doubtful", input: "go" });
        const [unknown] = (yield* host.work(receipt)).unknowns;
        if (unknown === undefined) return assert.fail("nothing is in doubt");
        yield* host.resolve(unknown, { resolution: "completed-with-result", result: log156 });
        const done = yield* host.work(receipt);
        assert.strictEqual(done.state, "completed");
        assert.strictEqual(read.join(""), log156);
      }).pipe(
        Effect.provide(
          MemoryHost.layer(Effect.all([register(Agent.bind(agent, handlers))])).pipe(
            Layer.provide(
              ScriptedModel.layer([toolCalls([{ id: "c1", name: "fetch" }]), ...pagingModel(read)]),
            ),
          ),
        ),
      );
    },
  );

  it.effect(
    "[R52][CM-01] a program's large result is kept for operators, and the program is promised nothing",
    () => {
      const Look = Tool.make("look", { success: Schema.String }).annotate(
        ToolExecutionClass,
        "readonly",
      );
      const Program = Tool.make("program", { success: Schema.Json })
        .annotate(ToolExecutionClass, "readonly")
        .annotate(ProgrammaticTools, { toolNames: ["look"] });
      const reading = ToolResults.make();
      const own = Toolkit.make(Look, Program);
      const agent = Agent.make("programmer", {
        input: Schema.String,
        output: Schema.String,
        instructions: "Go.",
        toolkit: Toolkit.make(Look, Program, reading.tool),
      });
      let seen: Json = null;
      const handlers = Layer.merge(
        own.toLayer({
          look: () => Effect.succeed(log156),
          program: () =>
            Effect.gen(function* () {
              const broker = yield* ToolBroker;
              seen = yield* Effect.orDie(broker.invoke({ toolName: "look", encodedArguments: {} }));
              return "ok";
            }),
        }),
        reading.handlers,
      );
      return Effect.gen(function* () {
        const host = yield* MemoryHost;
        const receipt = yield* host.submit({ agentId: "programmer", input: "go" });
        const done = yield* host.work(receipt);
        assert.strictEqual(done.state, "completed");
        const [inner] = settledOf(done.records);
        assert.strictEqual(inner?.kept?.bytes, inner?.originalBytes);
        assert.deepStrictEqual(seen, inner?.result);
        assert.notProperty(seen, "readOn");
      }).pipe(
        Effect.provide(
          MemoryHost.layer(Effect.all([register(Agent.bind(agent, handlers))])).pipe(
            Layer.provide(
              ScriptedModel.layer([toolCalls([{ id: "p", name: "program" }]), text("done")]),
            ),
          ),
        ),
      );
    },
  );

  it.effect(
    "[R52] a run keeps 32 MiB and no more, counted over its attempts; the record says how much of each result",
    () =>
      Effect.gen(function* () {
        const { agent, handlers } = makeReader(log156);
        const room = makeResultRoom(agent, []);
        room.shared.keptBytes = maxKeptRunBytes - 100_000;
        const context = yield* contextOf(agent, handlers, makeStore(), { results: room });
        const settle = (callId: string) => {
          const base = {
            runId: context.runId,
            turn: 1,
            callId: ToolCallId.make(callId),
            toolName: "read_log",
            failureMode: undefined,
            resultBytes: context.resultBytes,
            endedAt: 0,
          };
          return keepCut(context, settledSuccess(base, log156, undefined), log156, base);
        };
        const [part, none] = [settle("a"), settle("b")];
        assert.isAbove(part.record.kept?.bytes ?? 0, 99_980);
        assert.isAtMost(part.record.kept?.bytes ?? 0, 100_000);
        assert.isAtMost(none.record.kept?.bytes ?? 99, 20);
        const again = makeResultRoom(agent, [part.record, none.record]);
        assert.strictEqual(
          again.shared.keptBytes,
          (part.record.kept?.bytes ?? 0) + (none.record.kept?.bytes ?? 0),
        );
      }),
  );
});
