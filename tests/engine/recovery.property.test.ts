/**
 * Random runs lose their process at random appends and inside handlers, and are
 * taken up again until they settle. Whatever happens, the promises hold: nothing
 * uncertain runs twice unless a person allowed it, no model sees half a batch,
 * nothing recorded changes, and there is exactly one settlement.
 */
import { assert, describe, it } from "@effect/vitest";
import { Effect, Logger, Schema } from "effect";
import { Prompt, Tool, Toolkit } from "effect/unstable/ai";
import fc from "fast-check";
import * as Agent from "#lib/agent/Agent.ts";
import { CurrentToolCall } from "#lib/current-tool-call.ts";
import { ToolExecutionClass } from "#lib/durable-step.ts";
import type { RecordOf, RunRecord } from "#lib/contract/records.ts";
import {
  type RecordedRequest,
  ScriptedModel,
  type ScriptedTurn,
  text,
  toolCalls,
} from "#lib/testing/ScriptedModel.ts";
import { approvalRule } from "#lib/tool-approval.ts";
import {
  abort,
  attempt,
  type CrashPoint,
  decide,
  kindOf,
  makeStore,
  openRequests,
  openUnknowns,
  type Process,
  recordsOf,
  resolve,
  type Store,
} from "#tests/engine/durable-harness.ts";

const parameters = Schema.Struct({
  yields: Schema.Int,
  ends: Schema.Literals(["ok", "fail", "die", "lost-before", "lost-after"]),
});
const options = { parameters, success: Schema.String, failure: Schema.String } as const;
const Look = Tool.make("look", options).annotate(ToolExecutionClass, "readonly");
const Put = Tool.make("put", options).annotate(ToolExecutionClass, "idempotent");
const Send = Tool.make("send", options);
const Soft = Tool.make("soft", { ...options, failureMode: "return" });
const Ask = Tool.make("ask", { ...options, failureMode: "return", needsApproval: true });
const Demand = approvalRule(Tool.make("demand", { ...options, needsApproval: true }), {
  denial: "terminal",
});
const toolkit = Toolkit.make(Look, Put, Send, Soft, Ask, Demand);
const agent = Agent.make("crasher", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Go.",
  toolkit,
  policy: { maxTurns: 20, maxToolCalls: 100, repeatedFailureLimit: 0, toolConcurrency: 2 },
});

/** The world outside: what really happened, whichever process did it. */
interface World {
  readonly starts: Map<string, number>;
  readonly effects: Map<string, number>;
  readonly keys: Map<string, Set<string>>;
  readonly violations: Array<string>;
}

const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);
const keyOf = (turn: number, callId: string) => `${turn}/${callId}`;

/** A handler that acts on the world half way through and may take its process with it, once. */
const makeHandlers = (world: World, store: Store) => (process: Process) => {
  const lostOnce = (key: string) => (world.starts.get(key) ?? 0) <= 1;
  const handle = ({ ends, yields }: typeof parameters.Type) =>
    Effect.gen(function* () {
      const call = yield* CurrentToolCall;
      if (call === undefined) return yield* Effect.die("no call");
      const key = keyOf(call.turn, call.callId);
      count(world.starts, key);
      world.keys.set(key, (world.keys.get(key) ?? new Set()).add(call.idempotencyKey));
      checkPrepared(store, world, call.turn, call.callId);
      for (let turn = 0; turn < yields; turn++) yield* Effect.yieldNow;
      if (ends === "lost-before" && lostOnce(key)) return yield* process.lose;
      count(world.effects, key);
      if (ends === "lost-after" && lostOnce(key)) return yield* process.lose;
      if (ends === "fail") return yield* Effect.fail("no");
      return ends === "die" ? yield* Effect.die(new Error("bug")) : `did ${key}`;
    });
  return toolkit.toLayer({
    look: handle,
    put: handle,
    send: handle,
    soft: handle,
    ask: handle,
    demand: handle,
  });
};

/** DU-01: whoever may have an effect is on record before it starts. */
const checkPrepared = (store: Store, world: World, turn: number, callId: string): void => {
  const declared = kindOf(store, "TurnRecorded")
    .find((record) => record.turn === turn)
    ?.calls.find((call) => call.callId === callId);
  const prepared = kindOf(store, "ToolCallPrepared").filter(
    (record) => record.turn === turn && record.callId === callId,
  );
  const starts = world.starts.get(keyOf(turn, callId)) ?? 0;
  if (declared?.executionClass !== "readonly" && prepared.length < starts) {
    world.violations.push(
      `${keyOf(turn, callId)} started ${starts} times with ${prepared.length} preparations`,
    );
  }
};

const toolNames = ["look", "put", "send", "soft", "ask", "demand"] as const;
const callArbitrary = fc.record({
  name: fc.constantFrom(...toolNames, "look", "put", "send", "soft", "ask"),
  yields: fc.nat(4),
  ends: fc.oneof(
    { weight: 12, arbitrary: fc.constant("ok" as const) },
    { weight: 1, arbitrary: fc.constantFrom("fail" as const, "die" as const) },
    { weight: 4, arbitrary: fc.constantFrom("lost-before" as const, "lost-after" as const) },
  ),
  /** Arguments that only a return-mode tool survives; elsewhere they end the run. */
  invalid: fc.oneof(
    { weight: 14, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
});
const caseArbitrary = fc.record({
  turns: fc.array(fc.array(callArbitrary, { minLength: 1, maxLength: 5 }), {
    minLength: 1,
    maxLength: 3,
  }),
  crashes: fc.array(
    fc.record({
      append: fc.integer({ min: 1, max: 9 }),
      landed: fc.boolean(),
      resultsWait: fc.boolean(),
    }),
    {
      maxLength: 5,
    },
  ),
  decisions: fc.array(
    fc.constantFrom(
      "approved" as const,
      "approved" as const,
      "denied" as const,
      "expired" as const,
    ),
    { minLength: 1, maxLength: 6 },
  ),
  resolutions: fc.array(
    fc.constantFrom(
      "completed-with-result" as const,
      "never-happened" as const,
      "safe-to-retry" as const,
      "abort-submission" as const,
    ),
    { minLength: 1, maxLength: 6 },
  ),
  /** People answer everything at once, or one thing per attempt. */
  oneAtATime: fc.boolean(),
  abortBefore: fc.option(fc.integer({ min: 2, max: 6 }), { freq: 6, nil: undefined }),
});
type Case = typeof caseArbitrary extends fc.Arbitrary<infer A> ? A : never;

const scriptOf = ({ turns }: Case) => {
  const scripted: ReadonlyArray<ScriptedTurn> = turns.map((calls, turn) =>
    toolCalls(
      calls.map(({ ends, invalid, name, yields }, index) => ({
        id: `t${turn + 1}c${index}`,
        name,
        params: invalid ? { yields: "many", ends } : { yields, ends },
      })),
    ),
  );
  // What a model says depends on the conversation alone, so a request that is sent again is answered the same.
  return (request: RecordedRequest): ScriptedTurn =>
    scripted[request.prompt.content.filter((message) => message.role === "assistant").length] ??
    text("all done");
};

/** Two people with their answers in a fixed order. */
const makePeople = (input: Case) => {
  let decided = 0;
  let resolved = 0;
  return (store: Store): void => {
    const take = <A>(all: ReadonlyArray<A>) => (input.oneAtATime ? all.slice(0, 1) : all);
    const known = new Set(
      store.undelivered.flatMap((record) =>
        "callId" in record ? [`${record._tag}${record.callId}`] : [],
      ),
    );
    for (const request of take(openRequests(store))) {
      if (known.has(`ApprovalDecided${request.callId}`)) continue;
      const decision = input.decisions[decided++ % input.decisions.length] ?? "approved";
      store.undelivered.push(decide(request, decision));
    }
    for (const unknown of take(openUnknowns(store))) {
      if (known.has(`UnknownResolved${unknown.callId}`)) continue;
      const kind = input.resolutions[resolved++ % input.resolutions.length] ?? "abort-submission";
      store.undelivered.push(
        resolve(unknown, kind, kind === "completed-with-result" ? "looked up" : undefined),
      );
    }
  };
};

const maxAttempts = 80;

const play = Effect.fnUntraced(function* (input: Case) {
  const store = makeStore();
  const world: World = { starts: new Map(), effects: new Map(), keys: new Map(), violations: [] };
  const handlers = makeHandlers(world, store);
  const people = makePeople(input);
  const crashes: Array<CrashPoint> = [...input.crashes];
  const snapshots: Array<ReadonlyArray<RunRecord>> = [];
  let attempts = 0;
  let isSettled = false;
  while (!isSettled && attempts < maxAttempts) {
    attempts += 1;
    if (attempts === input.abortBefore) store.undelivered.push(abort);
    const crash = crashes.shift();
    const end = yield* attempt(store, agent, handlers, crash === undefined ? {} : { crash });
    snapshots.push(recordsOf(store));
    isSettled = end._tag === "settled";
    assert.notStrictEqual(end._tag, "died", JSON.stringify(end));
    people(store);
  }
  assert.isTrue(isSettled, `not settled after ${attempts} attempts`);
  // Once more over a settled run: nothing happens.
  const again = yield* attempt(store, agent, handlers);
  assert.strictEqual(again._tag, "settled");
  const requests = yield* Effect.flatMap(ScriptedModel, (model) => model.requests);
  return { store, world, requests, snapshots };
});

/** Every assistant call has exactly one result, in the order of declaration, before the next assistant message. */
const checkPrompt = (prompt: Prompt.Prompt): void => {
  let open: ReadonlyArray<string> = [];
  for (const message of prompt.content) {
    if (message.role === "assistant") {
      assert.deepStrictEqual(open, []);
      open = message.content.flatMap((part) => (part.type === "tool-call" ? [part.id] : []));
    } else if (message.role === "tool") {
      assert.deepStrictEqual(
        message.content.flatMap((part) => (part.type === "tool-result" ? [part.id] : [])),
        open,
      );
      open = [];
    }
  }
  assert.deepStrictEqual(open, []);
};

const allowedStarts = (store: Store, turn: number, callId: string): number =>
  1 +
  new Set(
    kindOf(store, "UnknownResolved")
      .filter((record) => record.turn === turn && record.callId === callId)
      .filter(({ resolution }) => resolution === "never-happened" || resolution === "safe-to-retry")
      .map(({ unknownId }) => unknownId),
  ).size;

const check = ({
  requests,
  snapshots,
  store,
  world,
}: Effect.Success<ReturnType<typeof play>>): void => {
  const records = recordsOf(store);
  assert.deepStrictEqual(world.violations, []);
  // DU-10: one settlement, and nothing after it.
  assert.strictEqual(kindOf(store, "RunSettled").length, 1);
  assert.strictEqual(records.at(-1)?._tag, "RunSettled");
  // DU-14: what was recorded stays what it was.
  for (const snapshot of snapshots)
    assert.deepStrictEqual(records.slice(0, snapshot.length), snapshot);
  for (const turn of kindOf(store, "TurnRecorded")) checkTurn(store, world, turn);
  for (const request of requests) checkPrompt(request.prompt);
  checkRequests(store, requests);
};

const checkTurn = (store: Store, world: World, turn: RecordOf<"TurnRecorded">): void => {
  for (const { callId, executionClass } of turn.calls) {
    const key = keyOf(turn.turn, callId);
    const here = (record: { readonly turn: number; readonly callId: string }) =>
      record.turn === turn.turn && record.callId === callId;
    const starts = world.starts.get(key) ?? 0;
    const settled = kindOf(store, "ToolCallSettled").filter(here);
    assert.isAtMost(settled.length, 1, `${key} has ${settled.length} results`);
    if (executionClass === "uncertain") {
      // DU-04, DU-05: never a second start without a person's word.
      assert.isAtMost(
        starts,
        allowedStarts(store, turn.turn, callId),
        `${key} started ${starts} times`,
      );
    }
    if (executionClass === "idempotent")
      assert.isAtMost(world.keys.get(key)?.size ?? 0, 1, `${key} changed its key`);
    if (turn.refusal !== undefined) assert.strictEqual(starts, 0, `${key} ran in a refused batch`);
    // R10: who was denied never runs.
    const decision = kindOf(store, "ApprovalDecided").find(here)?.decision;
    if (decision === "denied" || decision === "expired")
      assert.strictEqual(starts, 0, `${key} ran although ${decision}`);
    // DU-09: a settled run leaves no prepared call without a result or a doubt on record.
    const isOpen = settled.length === 0 && kindOf(store, "ToolCallPrepared").some(here);
    if (isOpen)
      assert.isAtLeast(
        kindOf(store, "ToolCallUnknown").filter(here).length,
        1,
        `${key} is in doubt and nobody is told`,
      );
  }
};

/** DU-14, A-08, R28: a stored response is never asked for again, and a repeated request is the same request. */
const checkRequests = (store: Store, requests: ReadonlyArray<RecordedRequest>): void => {
  const turnOf = (request: RecordedRequest) =>
    1 + request.prompt.content.filter((message) => message.role === "assistant").length;
  const prompts = new Map<number, string>();
  let last = 0;
  for (const request of requests) {
    const turn = turnOf(request);
    assert.isAtLeast(turn, last, "the model was asked for an earlier turn again");
    last = turn;
    const bytes = JSON.stringify(request.encodedPrompt);
    assert.strictEqual(
      prompts.get(turn) ?? bytes,
      bytes,
      `turn ${turn} was asked with another prompt`,
    );
    prompts.set(turn, bytes);
  }
  assert.isAtMost(kindOf(store, "TurnRecorded").length, prompts.size);
};

const numRuns = Number(process.env["RECOVERY_RUNS"] ?? 300);
const seed = Number(process.env["RECOVERY_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

describe("recovery from any crash", () => {
  it(`[DU-01][DU-04][DU-05][DU-09][DU-10][DU-14][B-06][R62][R64] ${numRuns} random runs keep every promise (RECOVERY_SEED=${seed})`, async () => {
    const seen = {
      lost: 0,
      unknown: 0,
      resolved: 0,
      decided: 0,
      settled: new Map<string, number>(),
    };
    await fc.assert(
      fc.asyncProperty(caseArbitrary, async (input) => {
        const played = await Effect.runPromise(
          play(input).pipe(
            Effect.provide([
              ScriptedModel.layer([], { whenExhausted: scriptOf(input), chunkSize: 1_000 }),
              Logger.layer([]),
            ]),
          ),
        );
        check(played);
        seen.lost += played.snapshots.length - 1;
        seen.unknown += kindOf(played.store, "ToolCallUnknown").length;
        seen.resolved += kindOf(played.store, "UnknownResolved").length;
        seen.decided += kindOf(played.store, "ApprovalDecided").length;
        const outcome = kindOf(played.store, "RunSettled")[0]?.finishReason ?? "none";
        seen.settled.set(outcome, (seen.settled.get(outcome) ?? 0) + 1);
      }),
      { numRuns, seed },
    );
    // The cases reach what the promises are about; otherwise the property would prove nothing.
    for (const reached of [seen.lost, seen.unknown, seen.resolved, seen.decided])
      assert.isAbove(reached, numRuns / 10);
    for (const outcome of [
      "answered",
      "tool-failure",
      "defect",
      "aborted",
      "approval-denied",
      "refused",
    ]) {
      assert.isAbove(seen.settled.get(outcome) ?? 0, 0, `no run ended as ${outcome}`);
    }
  }, 120_000);
});
