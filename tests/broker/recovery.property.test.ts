/**
 * Random programs inside tool calls lose their process at random appends and inside
 * inner handlers, and are taken up again until the run settles. Nothing uncertain
 * runs twice without a person's word, nothing recorded is made again, every program
 * meets what it met before, and no doubt is forgotten.
 */
import { assert, describe, it } from "@effect/vitest";
import { Effect, Logger, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import fc from "fast-check";
import * as Agent from "#lib/agent/Agent.ts";
import { CurrentToolCall } from "#lib/current-tool-call.ts";
import { durableStep, ToolExecutionClass } from "#lib/durable-step.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { ProgrammaticTools, ToolBroker } from "#lib/tool-broker.ts";
import {
  attempt,
  type CrashPoint,
  kindOf,
  makeStore,
  openUnknowns,
  type Process,
  recordsOf,
  resolve,
  type Store,
} from "#tests/engine/durable-harness.ts";

const InnerCall = Schema.Struct({
  tool: Schema.Literals(["look", "put", "send", "soft"]),
  ends: Schema.Literals(["ok", "fail", "die", "lost-before", "lost-after", "left"]),
});
const parameters = Schema.Struct({
  calls: Schema.Array(InnerCall),
  parallel: Schema.Boolean,
});
const inner = {
  parameters: Schema.Struct({ key: Schema.String, ends: InnerCall.fields.ends }),
  success: Schema.String,
  failure: Schema.String,
} as const;
const Look = Tool.make("look", inner).annotate(ToolExecutionClass, "readonly");
const Put = Tool.make("put", inner).annotate(ToolExecutionClass, "idempotent");
const Send = Tool.make("send", inner);
const Soft = Tool.make("soft", { ...inner, failureMode: "return" });
const all = { toolNames: ["look", "put", "send", "soft"] };
const outer = { parameters, success: Schema.String } as const;
const Again = Tool.make("again", outer)
  .annotate(ToolExecutionClass, "idempotent")
  .annotate(ProgrammaticTools, all);
const Once = Tool.make("once", outer).annotate(ProgrammaticTools, all);
const toolkit = Toolkit.make(Look, Put, Send, Soft, Again, Once);
const agent = Agent.make("programs", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Go.",
  toolkit,
  policy: { maxToolCalls: 100, repeatedFailureLimit: 0, toolConcurrency: 2 },
});

/** What really happened, whichever process did it. */
interface World {
  readonly starts: Map<string, number>;
  readonly keys: Map<string, Set<string>>;
  /** What each place of each program was told, execution by execution. */
  readonly told: Map<string, Set<string>>;
  readonly steps: Map<string, number>;
  readonly violations: Array<string>;
}

const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);
const addTo = (map: Map<string, Set<string>>, key: string, value: string) =>
  map.set(key, (map.get(key) ?? new Set()).add(value));

const makeHandlers = (world: World, store: Store) => (process: Process) => {
  /** Calls of this process that never end by themselves. */
  const hanging = new Set<string>();
  const hangs = (key: string): Effect.Effect<string> =>
    Effect.suspend(() =>
      hanging.has(key)
        ? Effect.succeed("left behind")
        : Effect.andThen(Effect.yieldNow, hangs(key)),
    );
  const act = ({ ends, key }: typeof inner.parameters.Type) =>
    Effect.gen(function* () {
      const call = yield* CurrentToolCall;
      count(world.starts, key);
      addTo(world.keys, key, call?.idempotencyKey ?? "none");
      const settled = kindOf(store, "ToolCallSettled").some(
        ({ callId, turn }) => callId === call?.callId && turn === call.turn,
      );
      if (settled) world.violations.push(`${key} was made again although its end is recorded`);
      const isFirst = world.starts.get(key) === 1;
      yield* Effect.yieldNow;
      if (ends === "lost-before" && isFirst) return yield* process.lose;
      yield* Effect.yieldNow;
      if (ends === "lost-after" && isFirst) return yield* process.lose;
      if (ends === "left" && isFirst) {
        hanging.add(key);
        return yield* Effect.never;
      }
      if (ends === "fail") return yield* Effect.fail("no");
      return ends === "die" ? yield* Effect.die(new Error("bug")) : `did ${key}`;
    });
  const program = ({ calls, parallel }: typeof parameters.Type) =>
    Effect.gen(function* () {
      const broker = yield* ToolBroker;
      const self = (yield* CurrentToolCall)?.callId ?? "";
      const make = ({ ends, tool }: typeof InnerCall.Type, index: number) => {
        const key = `${self}-${index}`;
        const made = broker.invoke({ toolName: tool, encodedArguments: { key, ends } }).pipe(
          Effect.match({ onSuccess: String, onFailure: (error) => error.message }),
          Effect.tap((one) => Effect.sync(() => addTo(world.told, key, one))),
        );
        const step = durableStep(
          `after-${index}`,
          Schema.String,
          Effect.sync(() => {
            count(world.steps, key);
            return key;
          }),
        );
        return ends === "left" ? Effect.raceFirst(made, hangs(key)) : Effect.tap(made, step);
      };
      const results = yield* Effect.forEach(calls, make, { concurrency: parallel ? 2 : 1 });
      return results.join();
    }).pipe(Effect.catchTag("DurableStepError", Effect.die));
  return toolkit.toLayer({
    look: act,
    put: act,
    send: act,
    soft: act,
    again: program,
    once: program,
  });
};

const innerArbitrary = fc.record({
  tool: fc.constantFrom("look" as const, "put" as const, "send" as const, "soft" as const),
  ends: fc.oneof(
    { weight: 10, arbitrary: fc.constant("ok" as const) },
    { weight: 2, arbitrary: fc.constant("fail" as const) },
    { weight: 1, arbitrary: fc.constantFrom("die" as const, "left" as const) },
    { weight: 4, arbitrary: fc.constantFrom("lost-before" as const, "lost-after" as const) },
  ),
});
const resolutions = ["completed-with-result", "never-happened", "safe-to-retry"] as const;
const caseArbitrary = fc.record({
  programs: fc.array(
    fc.record({
      tool: fc.constantFrom("again" as const, "again" as const, "once" as const),
      calls: fc.array(innerArbitrary, { minLength: 1, maxLength: 4 }),
      parallel: fc.boolean(),
    }),
    { minLength: 1, maxLength: 2 },
  ),
  crashes: fc.array(
    fc.record({
      append: fc.integer({ min: 1, max: 12 }),
      landed: fc.boolean(),
      resultsWait: fc.boolean(),
    }),
    {
      maxLength: 5,
    },
  ),
  resolutions: fc.array(fc.constantFrom(...resolutions), { minLength: 1, maxLength: 5 }),
});
type Case = typeof caseArbitrary extends fc.Arbitrary<infer A> ? A : never;

const play = Effect.fnUntraced(function* (input: Case) {
  const store = makeStore();
  const world: World = {
    starts: new Map(),
    keys: new Map(),
    told: new Map(),
    steps: new Map(),
    violations: [],
  };
  const handlers = makeHandlers(world, store);
  const crashes: Array<CrashPoint> = [...input.crashes];
  let resolved = 0;
  for (let attempts = 1; kindOf(store, "RunSettled").length === 0; attempts++) {
    assert.isAtMost(attempts, 60, "not settled after 60 attempts");
    const crash = crashes.shift();
    const end = yield* attempt(store, agent, handlers, crash === undefined ? {} : { crash });
    assert.notStrictEqual(end._tag, "died", JSON.stringify(end));
    for (const unknown of openUnknowns(store)) {
      const waits = store.undelivered.some(
        (record) => "callId" in record && record.callId === unknown.callId,
      );
      if (waits) continue;
      const kind = input.resolutions[resolved++ % input.resolutions.length] ?? "never-happened";
      store.undelivered.push(
        resolve(unknown, kind, kind === "completed-with-result" ? "looked up" : undefined),
      );
    }
  }
  return { store, world };
});

const check = ({ store, world }: Effect.Success<ReturnType<typeof play>>): void => {
  assert.deepStrictEqual(world.violations, []);
  assert.strictEqual(kindOf(store, "RunSettled").length, 1);
  assert.strictEqual(recordsOf(store).at(-1)?._tag, "RunSettled");
  for (const [key, keys] of world.keys) assert.strictEqual(keys.size, 1, `${key} changed its key`);
  for (const { declared } of kindOf(store, "InnerCallDeclared")) {
    const { callId, executionClass, index, parentCallId, toolName } = declared;
    const key = `${parentCallId}-${index}`;
    const here = (record: { readonly callId: string }) => record.callId === callId;
    const settled = kindOf(store, "ToolCallSettled").filter(here);
    const unknowns = kindOf(store, "ToolCallUnknown").filter(here);
    const allowed = kindOf(store, "UnknownResolved").filter(
      (one) => here(one) && one.resolution !== "completed-with-result",
    );
    assert.isAtMost(settled.length, 1, `${key} has two ends`);
    if (executionClass === "uncertain")
      assert.isAtMost(world.starts.get(key) ?? 0, 1 + allowed.length, `${key} ${toolName}`);
    const isOpen = settled.length === 0 && kindOf(store, "ToolCallPrepared").some(here);
    if (isOpen) assert.isAbove(unknowns.length, 0, `${key} is in doubt and nobody is told`);
    // A program is told of one place what it was told before, however often it runs.
    assert.isAtMost(world.told.get(key)?.size ?? 0, 1, `${key} was told two things`);
  }
  for (const { callId, name } of kindOf(store, "StepRecorded")) {
    const same = kindOf(store, "StepRecorded").filter(
      (one) => one.callId === callId && one.name === name,
    );
    assert.strictEqual(same.length, 1, `${name} of ${callId} is recorded twice`);
  }
};

const numRuns = Number(process.env["RECOVERY_RUNS"] ?? 120);
const seed = Number(process.env["RECOVERY_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

describe("recovery inside a call", () => {
  it(`[CM-01][CM-02][DU-04][DU-09][DU-14][DU-18] ${numRuns} random programs keep every promise (RECOVERY_SEED=${seed})`, async () => {
    const seen = { unknownInner: 0, again: 0, steps: 0, settled: new Map<string, number>() };
    await fc.assert(
      fc.asyncProperty(caseArbitrary, async (input) => {
        const turns = input.programs.map(({ calls, parallel, tool }, index) => ({
          id: `p${index}`,
          name: tool,
          params: { calls, parallel },
        }));
        const played = await Effect.runPromise(
          play(input).pipe(
            Effect.provide([
              ScriptedModel.layer([], {
                whenExhausted: ({ prompt }) =>
                  prompt.content.some(({ role }) => role === "tool")
                    ? text("done")
                    : toolCalls(turns),
                chunkSize: 1_000,
              }),
              Logger.layer([]),
            ]),
          ),
        );
        check(played);
        const { store, world } = played;
        const innerIds = new Set(
          kindOf(store, "InnerCallDeclared").map(({ declared }) => declared.callId),
        );
        seen.unknownInner += kindOf(store, "ToolCallUnknown").filter(({ callId }) =>
          innerIds.has(callId),
        ).length;
        seen.again += [...world.starts.values()].filter((times) => times > 1).length;
        seen.steps += kindOf(store, "StepRecorded").length;
        const outcome = kindOf(store, "RunSettled")[0]?.finishReason ?? "none";
        seen.settled.set(outcome, (seen.settled.get(outcome) ?? 0) + 1);
      }),
      { numRuns, seed },
    );
    // The cases reach what the promises are about; otherwise the property would prove nothing.
    for (const reached of [seen.unknownInner, seen.again, seen.steps])
      assert.isAbove(reached, numRuns / 10);
    for (const outcome of ["answered", "defect"])
      assert.isAbove(seen.settled.get(outcome) ?? 0, 0, `no run ended as ${outcome}`);
  }, 120_000);
});
