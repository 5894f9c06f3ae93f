import { assert, describe, it } from "@effect/vitest";
import { Effect, Exit, Layer, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { ToolExecutionClass } from "#lib/durable-step.ts";
import type { RunContext } from "#lib/engine/RunContext.ts";
import { ScriptedModel, text, toolCalls, type TurnScript } from "#lib/testing/ScriptedModel.ts";
import * as ToolDiscovery from "#lib/tool-discovery.ts";
import * as ToolExposure from "#lib/tool-exposure.ts";
import { attempt, decide, kindOf, makeStore, openRequests } from "#tests/engine/durable-harness.ts";
import {
  errorTagOf,
  eventsOfKind,
  inVirtualTime,
  resultsIn,
  watch,
  type WatchedRun,
} from "#tests/engine/run-agent.ts";

const leaf = <const Name extends string>(name: Name) => Tool.make(name, { success: Schema.String });
const Pinned = Tool.make("pinned", { success: Schema.String }).annotate(
  ToolExposure.PinnedTool,
  true,
);
const Alpha = leaf("alpha");
const Beta = leaf("beta");
const Gamma = leaf("gamma");
class FindFailed extends Schema.TaggedError<FindFailed>()("FindFailed", {
  message: Schema.String,
}) {}
/** An ordinary readonly tool that selects what its arguments say, after as long as they say (D-15). */
const Find = Tool.make("find", {
  parameters: Schema.Struct({
    names: Schema.Array(Schema.String),
    millis: Schema.Number,
    fails: Schema.Boolean,
  }),
  success: Schema.Struct({ toolNames: Schema.Array(Schema.String), padding: Schema.String }),
  failure: FindFailed,
  failureMode: "return",
})
  .annotate(ToolExposure.DiscoveryTool, true)
  .annotate(ToolExecutionClass, "readonly")
  .annotate(ToolExposure.PinnedTool, true);
const toolkit = Toolkit.make(Pinned, Alpha, Beta, Gamma, Find);

const makeAgent = (
  more: {
    readonly toolExposure?: Agent.AgentOptions<never, never, never>["toolExposure"];
    readonly policy?: object;
  } = {},
) =>
  Agent.make("explorer", {
    input: Schema.String,
    output: Schema.String,
    instructions: "Explore.",
    toolkit,
    toolExposure: more.toolExposure ?? { initialToolNames: ["alpha"] },
    ...(more.policy === undefined ? {} : { policy: more.policy }),
  });

const makeExplorer = (padding = "") => {
  const log: Array<string> = [];
  const handle = (name: string) => () => Effect.sync(() => (log.push(name), name));
  const layer = toolkit.toLayer({
    pinned: handle("pinned"),
    alpha: handle("alpha"),
    beta: handle("beta"),
    gamma: handle("gamma"),
    find: ({ fails, millis, names }) =>
      Effect.gen(function* () {
        log.push(`find ${names.join("+")}`);
        if (millis > 0) yield* Effect.sleep(millis);
        return fails
          ? yield* Effect.fail(new FindFailed({ message: "down" }))
          : { toolNames: names, padding };
      }),
  });
  return { log, layer };
};

const find = (
  id: string,
  names: ReadonlyArray<string>,
  more: { readonly millis?: number; readonly fails?: boolean } = {},
) => ({
  id,
  name: "find",
  params: { names, millis: 0, fails: false, ...more },
});
const offered = (run: WatchedRun) =>
  run.requests.map((request) => request.tools.map(({ name }) => name));

describe("selections in a run (X-10 to X-12, X-15)", () => {
  it.effect(
    "[X-10][D-11] a selection replaces the set from the next request on, and not in the middle of its batch",
    () =>
      Effect.gen(function* () {
        const explorer = makeExplorer();
        const run = yield* watch(makeAgent(), explorer.layer, [
          toolCalls([find("f", ["beta"]), { id: "a", name: "alpha" }]),
          toolCalls([{ id: "b", name: "beta" }]),
          text("ok"),
        ]);
        assert.isTrue(Exit.isSuccess(run.exit));
        assert.deepStrictEqual(offered(run), [
          ["pinned", "alpha", "find"],
          ["pinned", "beta", "find"],
          ["pinned", "beta", "find"],
        ]);
        assert.deepStrictEqual(explorer.log, ["find beta", "alpha", "beta"]);
      }),
  );

  it.effect(
    "[scenario 22][X-11] of two selections in one batch the last declared wins although it finishes first",
    () =>
      Effect.gen(function* () {
        const explorer = makeExplorer();
        const run = yield* watch(makeAgent(), explorer.layer, [
          toolCalls([find("f1", ["beta"], { millis: 100 }), find("f2", ["gamma"], { millis: 10 })]),
          text("ok"),
        ]).pipe(inVirtualTime);
        assert.deepStrictEqual(
          eventsOfKind(run.events, "ToolCallSucceeded").map(({ callId }) => callId as string),
          ["f2", "f1"],
        );
        assert.deepStrictEqual(offered(run)[1], ["pinned", "gamma", "find"]);
      }),
  );

  it.effect(
    "[scenario 22][X-10] an empty selection leaves the pins; a failed one keeps what was there; each snapshot is what was sent",
    () =>
      Effect.gen(function* () {
        const explorer = makeExplorer();
        const run = yield* watch(makeAgent(), explorer.layer, [
          toolCalls([find("f1", ["beta", "gamma"])]),
          toolCalls([find("f2", ["alpha"], { fails: true })]),
          toolCalls([find("f3", [])]),
          text("ok"),
        ]);
        assert.deepStrictEqual(offered(run), [
          ["pinned", "alpha", "find"],
          ["pinned", "beta", "gamma", "find"],
          ["pinned", "beta", "gamma", "find"],
          ["pinned", "find"],
        ]);
        const turns = eventsOfKind(run.events, "TurnRecorded");
        assert.deepStrictEqual(
          turns.map(({ exposure }) => [...exposure.exposed]),
          offered(run),
        );
        assert.deepStrictEqual(
          turns.map(({ exposure }) => exposure.selectionSource),
          ["initial", "discovery", "discovery", "cleared"],
        );
      }),
  );

  it.effect(
    "[X-12][D-17] a result that is cut still selects everything it named, in event and exposure",
    () =>
      Effect.gen(function* () {
        const explorer = makeExplorer("x".repeat(2_000));
        const run = yield* watch(
          makeAgent({ policy: { toolResultBounds: { maxBytes: 300 } } }),
          explorer.layer,
          [toolCalls([find("f", ["beta", "gamma"])]), text("ok")],
        );
        assert.deepInclude(resultsIn(run.requests[1])[0]?.[1] as object, { truncated: true });
        assert.deepStrictEqual(eventsOfKind(run.events, "ToolCallSucceeded")[0]?.toolSelection, [
          "beta",
          "gamma",
        ]);
        assert.deepStrictEqual(offered(run)[1], ["pinned", "beta", "gamma", "find"]);
      }),
  );

  it.effect("[X-10] a selection lasts for its run only", () =>
    Effect.gen(function* () {
      const explorer = makeExplorer();
      yield* watch(makeAgent(), explorer.layer, [toolCalls([find("f", ["beta"])]), text("ok")]);
      const next = yield* watch(makeAgent(), explorer.layer, [text("ok")]);
      assert.deepStrictEqual(offered(next), [["pinned", "alpha", "find"]]);
    }),
  );

  it.effect("[X-15] a host's selection replaces the initial set without a search", () =>
    Effect.gen(function* () {
      const run = yield* watch(makeAgent(), makeExplorer().layer, [text("ok")], {
        run: { toolSelection: { toolNames: ["gamma"] } },
      });
      assert.deepStrictEqual(offered(run), [["pinned", "gamma", "find"]]);
      assert.strictEqual(
        eventsOfKind(run.events, "TurnRecorded")[0]?.exposure.selectionSource,
        "host",
      );
    }),
  );

  it.effect(
    "[D-15] a discovery result that names what is not registered fails the run and selects nothing",
    () =>
      Effect.gen(function* () {
        const run = yield* watch(makeAgent(), makeExplorer().layer, [
          toolCalls([find("f", ["toString"])]),
        ]);
        assert.strictEqual(errorTagOf(run), "ModelProtocolError");
        assert.strictEqual(run.requests.length, 1);
      }),
  );
});

describe("limits, pins and visibility (X-01 to X-09, X-18)", () => {
  it.effect("[X-01] without configuration and discovery every tool is offered", () =>
    Effect.gen(function* () {
      const plain = Toolkit.make(Alpha, Beta);
      const agent = Agent.make("eager", {
        input: Schema.String,
        output: Schema.String,
        instructions: "Go.",
        toolkit: plain,
      });
      const run = yield* watch(
        agent,
        plain.toLayer({ alpha: () => Effect.succeed(""), beta: () => Effect.succeed("") }),
        [text("ok")],
      );
      assert.deepStrictEqual(offered(run), [["alpha", "beta"]]);
    }),
  );

  it("[X-02] an initial name that is no registered tool is refused when the agent is made", () => {
    for (const name of ["nope", "toString", "__proto__"]) {
      assert.throws(() => makeAgent({ toolExposure: { initialToolNames: [name] } }));
    }
  });

  it.effect("[X-04] over the limit the run fails before the model is asked", () =>
    Effect.gen(function* () {
      const run = yield* watch(
        makeAgent({ toolExposure: { initialToolNames: ["alpha", "beta"], maxTools: 3 } }),
        makeExplorer().layer,
        [text("never")],
      );
      assert.strictEqual(errorTagOf(run), "ModelProtocolError");
      assert.strictEqual(run.requests.length, 0);
      assert.strictEqual(run.events.at(-1)?._tag, "RunFailed");
    }),
  );

  it.effect("[X-09][scenario 21] a guessed call of a hidden tool starts nothing of its batch", () =>
    Effect.gen(function* () {
      const explorer = makeExplorer();
      const run = yield* watch(makeAgent(), explorer.layer, [
        toolCalls([
          { id: "a", name: "alpha" },
          { id: "g", name: "gamma" },
        ]),
      ]);
      assert.strictEqual(errorTagOf(run), "AgentToolCallRejected");
      assert.deepInclude(run.error, {
        reason: "unexposed-tool",
        toolName: "gamma",
        toolCallId: "g",
      });
      assert.deepStrictEqual(explorer.log, []);
    }),
  );

  const hide = (...hidden: ReadonlyArray<string>): ToolExposure.RunToolVisibility["Service"] => ({
    visible: ({ toolNames }) => Effect.succeed(toolNames.filter((name) => !hidden.includes(name))),
  });

  it.effect(
    "[scenario 23][X-05][X-07] a hidden pin is absent from every request and does not fail the run",
    () =>
      Effect.gen(function* () {
        const run = yield* watch(makeAgent(), makeExplorer().layer, [
          toolCalls([find("f", ["beta"])]),
          text("ok"),
        ]).pipe(Effect.provideService(ToolExposure.RunToolVisibility, hide("pinned", "beta")));
        assert.isTrue(Exit.isSuccess(run.exit));
        assert.deepStrictEqual(offered(run), [["alpha", "find"], ["find"]]);
      }),
  );

  it.effect("[scenario 23][X-06] a hidden discovery tool refuses the run before any request", () =>
    Effect.gen(function* () {
      const discovery = ToolDiscovery.make();
      const tools = Toolkit.make(Alpha, discovery.tool);
      const agent = Agent.make("seeker", {
        input: Schema.String,
        output: Schema.String,
        instructions: "Go.",
        toolkit: tools,
      });
      const layer = Layer.merge(
        Toolkit.make(Alpha).toLayer({ alpha: () => Effect.succeed("") }),
        discovery.handlers,
      );
      const run = yield* watch(agent, layer, [text("never")]).pipe(
        Effect.provideService(ToolExposure.RunToolVisibility, hide("discover_tools")),
      );
      assert.strictEqual(errorTagOf(run), "ModelProtocolError");
      assert.strictEqual(run.requests.length, 0);
    }),
  );

  it.effect("[X-18] what is exposed is not permitted by it", () =>
    Effect.gen(function* () {
      const explorer = makeExplorer();
      const run = yield* watch(
        makeAgent(),
        explorer.layer,
        [toolCalls([{ id: "a", name: "alpha" }])],
        {
          run: {
            toolAuthorization: {
              authorize: () => Effect.succeed({ _tag: "denied", reason: "no" }),
            },
          },
        },
      );
      assert.strictEqual(errorTagOf(run), "AgentToolAuthorizationDenied");
      assert.deepStrictEqual(explorer.log, []);
    }),
  );
});

describe("after a crash (X-13, X-14)", () => {
  const script: ReadonlyArray<TurnScript> = [toolCalls([find("f", ["beta"])]), text("ok")];
  const requestsOf = Effect.flatMap(ScriptedModel, (model) => model.requests);

  it.effect(
    "[X-13] a committed discovery result is never searched again and its selection holds",
    () =>
      Effect.gen(function* () {
        const explorer = makeExplorer();
        const store = makeStore();
        // Appends: opening, turn, settled find; lost before turn 2.
        yield* attempt(store, makeAgent(), () => explorer.layer, {
          crash: { append: 3, landed: true },
        });
        yield* attempt(store, makeAgent(), () => explorer.layer);
        assert.deepStrictEqual(explorer.log, ["find beta"]);
        assert.deepStrictEqual(
          (yield* requestsOf).at(-1)?.tools.map(({ name }) => name),
          ["pinned", "beta", "find"],
        );
      }).pipe(Effect.provide(ScriptedModel.layer(script))),
  );

  it.effect(
    "[X-13] a search lost before its result was committed runs again, as any readonly call",
    () =>
      Effect.gen(function* () {
        const explorer = makeExplorer();
        const store = makeStore();
        yield* attempt(store, makeAgent(), () => explorer.layer, {
          crash: { append: 3, landed: false },
        });
        yield* attempt(store, makeAgent(), () => explorer.layer);
        assert.deepStrictEqual(explorer.log, ["find beta", "find beta"]);
        assert.strictEqual((yield* requestsOf).length, 2);
      }).pipe(Effect.provide(ScriptedModel.layer(script))),
  );

  it.effect(
    "[X-14] a resumed call whose tool is hidden by now does not run; a settled sibling stays",
    () =>
      Effect.gen(function* () {
        const Gated = Tool.make("gated", { success: Schema.String, needsApproval: true });
        const tools = Toolkit.make(Alpha, Gated);
        const agent = Agent.make("gated", {
          input: Schema.String,
          output: Schema.String,
          instructions: "Go.",
          toolkit: tools,
          policy: { toolConcurrency: 1 },
        });
        const log: Array<string> = [];
        const layer = tools.toLayer({
          alpha: () => Effect.sync(() => (log.push("alpha"), "alpha done")),
          gated: () => Effect.sync(() => (log.push("gated"), "gated done")),
        });
        const store = makeStore();
        const visible = (...names: ReadonlyArray<string>): Partial<RunContext> => ({
          visibility: { visible: () => Effect.succeed(names) },
        });
        yield* Effect.gen(function* () {
          yield* attempt(store, agent, () => layer, { context: visible("alpha", "gated") });
          store.undelivered.push(
            ...openRequests(store).map((request) => decide(request, "approved")),
          );
          // Appends: start, prepared alpha, settled alpha; lost there.
          yield* attempt(store, agent, () => layer, {
            context: visible("alpha", "gated"),
            crash: { append: 3, landed: true },
          });
          assert.deepStrictEqual(log, ["alpha"]);
          const end = yield* attempt(store, agent, () => layer, { context: visible() });
          assert.strictEqual(end._tag, "settled");
          assert.deepStrictEqual(log, ["alpha"]);
          assert.deepStrictEqual(
            kindOf(store, "ToolCallSettled").map(({ callId, kind }) => [callId as string, kind]),
            [
              ["a", "succeeded"],
              ["g", "not-executed"],
            ],
          );
        }).pipe(
          Effect.provide(
            ScriptedModel.layer([
              toolCalls([
                { id: "a", name: "alpha" },
                { id: "g", name: "gated" },
              ]),
              text("ok"),
            ]),
          ),
        );
      }),
  );
});
