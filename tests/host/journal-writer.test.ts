import { assert, describe, it } from "@effect/vitest";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Schema from "effect/Schema";
import * as Tool from "effect/unstable/ai/Tool";
import * as Toolkit from "effect/unstable/ai/Toolkit";
import * as Agent from "#lib/agent/Agent.ts";
import { AgentId, TenantId, WorkerId } from "#lib/contract/ids.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { layerMemory } from "#lib/durable/memory/layer.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { AgentRegistry, register } from "#lib/host/AgentRegistry.ts";
import { makeJournalWriter } from "#lib/host/JournalWriter.ts";
import { ThreadDriver } from "#lib/host/ThreadDriver.ts";
import { admit, claim } from "#lib/testing/conformance/harness.ts";
import { ada, recordsOf } from "#lib/testing/conformance/run-records.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";

/** The memory journal, watched: the kinds of each append, and a latch that holds appends back. */
const watched = () => {
  const appends: Array<ReadonlyArray<string>> = [];
  const latch = { hold: Effect.void as Effect.Effect<void> };
  const layer = Layer.effect(
    Journal,
    Effect.map(Journal, (journal) =>
      Journal.of({
        ...journal,
        append: (request) =>
          Effect.andThen(
            Effect.suspend(() => {
              appends.push(request.records.map(({ _tag }) => _tag));
              return latch.hold;
            }),
            journal.append(request),
          ),
      }),
    ),
  ).pipe(Layer.provideMerge(layerMemory));
  return { appends, latch, layer };
};

const opened = Effect.gen(function* () {
  const { place } = yield* admit();
  const claimed = yield* claim(place);
  const writer = yield* makeJournalWriter(claimed);
  const of = recordsOf(place);
  yield* writer.durability.record([of.opened(), of.attempt(), of.turn(["a", "b"])]);
  yield* writer.durability.record([of.prepared("a")]);
  return { place, writer, of };
});

describe("the writer of a claimed thread", () => {
  it.effect(
    "[DU-03] a result and the preparation that follows it are one append, in their order",
    () => {
      const { appends, layer } = watched();
      return Effect.gen(function* () {
        const { writer, of } = yield* opened;
        yield* writer.durability.recordSoon([of.settled("a")]);
        yield* writer.durability.record([of.prepared("b")]);
        assert.deepStrictEqual(appends.slice(2), [["ToolCallSettled", "ToolCallPrepared"]]);
      }).pipe(Effect.scoped, Effect.provide(layer));
    },
  );

  it.live("[DU-03] a result that nothing follows is written at once all the same", () => {
    const { appends, layer } = watched();
    return Effect.gen(function* () {
      const { writer, of } = yield* opened;
      yield* writer.durability.recordSoon([of.settled("a")]);
      yield* Effect.sleep("20 millis");
      assert.deepStrictEqual(appends.slice(2), [["ToolCallSettled"]]);
      assert.strictEqual(writer.records().at(-1)?._tag, "ToolCallSettled");
    }).pipe(Effect.scoped, Effect.provide(layer));
  });

  it.live("[DU-03] a result is kept when its attempt is taken away in the same moment", () => {
    const { appends, layer } = watched();
    return Effect.gen(function* () {
      const { of } = yield* Effect.scoped(
        Effect.tap(opened, ({ writer, of }) => writer.durability.recordSoon([of.settled("a")])),
      );
      assert.isDefined(of);
      assert.deepStrictEqual(appends.slice(2), [["ToolCallSettled"]]);
    }).pipe(Effect.provide(layer));
  });

  it.effect("waiting for what is on its way costs no append of its own", () => {
    const { appends, layer } = watched();
    return Effect.gen(function* () {
      const { writer } = yield* opened;
      yield* writer.durability.record([]);
      assert.strictEqual(appends.length, 2);
    }).pipe(Effect.scoped, Effect.provide(layer));
  });

  it.effect(
    "[DU-13] a result that the store refused fails whatever is recorded or waited for after it",
    () => {
      const { layer } = watched();
      return Effect.gen(function* () {
        const { place, writer, of } = yield* opened;
        // Another owner: the next epoch.
        yield* claim(place);
        yield* writer.durability.recordSoon([of.settled("a")]);
        const flushed = yield* Effect.flip(writer.durability.record([]));
        assert.strictEqual(flushed._tag, "FenceRejected");
        const next = yield* Effect.flip(writer.durability.record([of.prepared("b")]));
        assert.strictEqual(next._tag, "FenceRejected");
        const result = yield* Effect.flip(writer.durability.recordSoon([of.settled("b")]));
        assert.strictEqual(result._tag, "FenceRejected");
      }).pipe(Effect.scoped, Effect.provide(layer));
    },
  );

  it.effect(
    "[DU-13] a result that was lost to a defect of the store lets nothing be recorded or waited for after it",
    () => {
      const { latch, layer } = watched();
      return Effect.gen(function* () {
        const { writer, of } = yield* opened;
        latch.hold = Effect.die(new Error("the adapter broke"));
        yield* writer.durability.recordSoon([of.settled("a")]);
        assert.isTrue(Exit.hasDies(yield* Effect.exit(writer.durability.record([]))));
        latch.hold = Effect.void;
        assert.isTrue(Exit.hasDies(yield* Effect.exit(writer.durability.record([]))));
        const next = yield* Effect.exit(writer.durability.record([of.prepared("b")]));
        assert.isTrue(Exit.hasDies(next));
      }).pipe(Effect.scoped, Effect.provide(layer));
    },
  );

  it.live(
    "a settlement stands in an append of its own, so that an abort refuses nothing else",
    () => {
      const { appends, latch, layer } = watched();
      return Effect.gen(function* () {
        const { writer, of } = yield* opened;
        const open = yield* Deferred.make<void>();
        latch.hold = Deferred.await(open);
        yield* writer.durability.recordSoon([of.settled("a")]);
        yield* Effect.sleep("10 millis");
        // Queued together while the append before them is under way.
        yield* writer.durability.recordSoon([of.unknown("b")]);
        const settled = yield* Effect.forkChild(writer.durability.record([of.runSettled()]));
        yield* Effect.sleep("10 millis");
        yield* Deferred.succeed(open, undefined);
        yield* Effect.exit(Fiber.join(settled));
        assert.deepStrictEqual(appends.slice(2), [
          ["ToolCallSettled"],
          ["ToolCallUnknown"],
          ["RunSettled"],
        ]);
      }).pipe(Effect.scoped, Effect.provide(layer));
    },
  );

  it.live("what comes behind a settlement is in no append with it either", () => {
    const { appends, latch, layer } = watched();
    return Effect.gen(function* () {
      const { writer, of } = yield* opened;
      const open = yield* Deferred.make<void>();
      latch.hold = Deferred.await(open);
      yield* writer.durability.recordSoon([of.settled("a")]);
      yield* Effect.sleep("10 millis");
      const settled = yield* Effect.forkChild(writer.durability.record([of.runSettled()]));
      yield* Effect.sleep("10 millis");
      yield* writer.durability.recordSoon([of.unknown("b")]);
      yield* Deferred.succeed(open, undefined);
      yield* Effect.exit(Fiber.join(settled));
      yield* Effect.exit(writer.durability.record([]));
      assert.deepStrictEqual(appends.slice(2), [
        ["ToolCallSettled"],
        ["RunSettled"],
        ["ToolCallUnknown"],
      ]);
    }).pipe(Effect.scoped, Effect.provide(layer));
  });

  it.live("[DU-03] twenty calls one after the other cost one append each, and one more", () => {
    const { appends, layer } = watched();
    const Charge = Tool.make("charge", { success: Schema.String });
    const toolkit = Toolkit.make(Charge);
    const agent = Agent.make("cashier", {
      input: Schema.Json,
      output: Schema.String,
      instructions: "Charge.",
      toolkit,
      policy: { toolConcurrency: 1 },
    });
    const agents = Effect.all([
      register(Agent.bind(agent, toolkit.toLayer({ charge: () => Effect.succeed("charged") }))),
    ]);
    const calls = Array.from({ length: 20 }, (_, index) => ({ id: `c${index}`, name: "charge" }));
    const host = ThreadDriver.layer(WorkerId.make("worker-1")).pipe(
      Layer.provideMerge(AgentRegistry.layer(agents)),
      Layer.provideMerge(ScriptedModel.layer([toolCalls(calls), text("done")])),
      Layer.provideMerge(layer),
    );
    return Effect.gen(function* () {
      const driver = yield* ThreadDriver;
      const { tenantId, threadId } = yield* (yield* SubmissionLedger)
        .admit({
          tenantId: TenantId.make("acme"),
          agentId: AgentId.make("cashier"),
          threadId: undefined,
          principal: ada,
          idempotencyKey: "key",
          input: "charge",
          title: "charge",
        })
        .pipe(Effect.map((receipt) => ({ ...receipt, tenantId: TenantId.make("acme") })));
      yield* driver.drive({ tenantId, threadId });
      const inBatch = appends.filter((kinds) => kinds.some((kind) => kind.startsWith("ToolCall")));
      assert.deepStrictEqual(inBatch, [
        ["ToolCallPrepared"],
        ...Array.from({ length: 19 }, () => ["ToolCallSettled", "ToolCallPrepared"]),
        ["ToolCallSettled"],
      ]);
    }).pipe(Effect.provide(host));
  });
});
