import { assert, describe, it } from "@effect/vitest";
import { Effect, Schema, Tracer } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { attempt, decide, makeStore, openRequests, type Store } from "./durable-harness.ts";
import { makeExporter } from "./exporter.ts";
import { watch } from "./run-agent.ts";

/** One word for each place that holds what somebody wrote; none of them may leave as telemetry (TE-02). */
const places = [
  "instructions",
  "input",
  "parameter",
  "preliminary",
  "result",
  "returned",
  "modelText",
  "decision",
  "failure",
  "defect",
] as const;
type Place = (typeof places)[number];
const canary = (place: Place) => `canary-${place}-4f1c`;

class Leaky extends Schema.TaggedError<Leaky>()("Leaky", { note: Schema.String }) {
  override readonly message = `it broke: ${this.note}`;
}
const parameters = Schema.Struct({ note: Schema.String });
const Keep = Tool.make("keep", { parameters, success: Schema.String });
const Soft = Tool.make("soft", {
  parameters,
  failure: Schema.Struct({ note: Schema.String }),
  failureMode: "return",
});
const Gated = Tool.make("gated", { parameters, needsApproval: true });
const Hard = Tool.make("hard", { parameters, failure: Leaky });
const Bug = Tool.make("bug", { parameters });
const toolkit = Toolkit.make(Keep, Soft, Gated, Hard, Bug);
const handlers = toolkit.toLayer({
  keep: (_, { preliminary }) => Effect.as(preliminary(canary("preliminary")), canary("result")),
  soft: () => Effect.fail({ note: canary("returned") }),
  gated: () => Effect.void,
  hard: () => Effect.fail(new Leaky({ note: canary("failure") })),
  bug: () => Effect.die(new Error(canary("defect"))),
});
const agent = Agent.make("traced", {
  input: Schema.String,
  output: Schema.String,
  instructions: `Go. ${canary("instructions")}`,
  toolkit,
});

const call = (id: string, name: string) => ({ id, name, params: { note: canary("parameter") } });
const script = (last: "hard" | "bug") => [
  toolCalls([call("a", "keep"), call("b", "soft"), call("c", "gated")], {
    text: canary("modelText"),
  }),
  toolCalls([call("d", last)]),
  text("done"),
];

const exporting = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const exporter = makeExporter();
  return effect.pipe(
    Effect.withSpan("caller"),
    Effect.provideService(Tracer.Tracer, exporter.tracer),
    Effect.provide(exporter.layer),
    Effect.map((value) => ({
      value,
      exported: exporter.exported(),
      toolSpans: exporter.toolSpans(),
    })),
  );
};

const assertSilent = (exported: string) => {
  for (const place of places) assert.notInclude(exported, canary(place));
};

/** That a word was really in use: otherwise its absence elsewhere says nothing. */
const assertUsed = (held: unknown, used: ReadonlyArray<Place>) => {
  const all = JSON.stringify(held);
  for (const place of used) assert.include(all, canary(place));
};

describe("nothing that anybody wrote leaves as telemetry (TE-01 to TE-05)", () => {
  for (const last of ["hard", "bug"] as const) {
    it.effect(
      `[TE-02][TE-05] a durable run with progress, a returned failure, a denial and a ${last === "hard" ? "failure" : "defect"}, over two attempts`,
      () =>
        Effect.gen(function* () {
          const store = makeStore();
          const { exported, toolSpans, value } = yield* exporting(
            Effect.gen(function* () {
              const context = { input: canary("input") };
              yield* attempt(store, agent, () => handlers, { context });
              store.undelivered.push(
                ...openRequests(store).map((request) =>
                  decide(request, "denied", canary("decision")),
                ),
              );
              yield* attempt(store, agent, () => handlers, { context });
              const requests = yield* Effect.flatMap(ScriptedModel, (model) => model.requests);
              return requests.map(({ encodedPrompt }) => encodedPrompt);
            }).pipe(Effect.provide(ScriptedModel.layer(script(last)))),
          );
          assertUsed(
            [value, store.appends, store.events],
            [
              "instructions",
              "input",
              "parameter",
              "preliminary",
              "result",
              "returned",
              "modelText",
              "decision",
            ],
          );
          assert.sameMembers(
            toolSpans.map(({ name }) => name),
            ["execute_tool keep", "execute_tool soft", `execute_tool ${last}`],
          );
          assertSilent(exported);
        }),
    );
  }

  it.effect("[TE-02] a durable run whose process was lost after each of its appends", () =>
    Effect.gen(function* () {
      const run = (store: Store, append?: number) =>
        attempt(store, agent, () => handlers, {
          context: { input: canary("input") },
          ...(append === undefined ? {} : { crash: { append, landed: true } }),
        });
      let executed = 0;
      for (let append = 1; append <= 6; append++) {
        const store = makeStore();
        // Nobody is asked here, so that handlers run in both attempts.
        const turns = [
          toolCalls([call("a", "keep"), call("b", "soft")]),
          toolCalls([call("d", "hard")]),
        ];
        const { exported, toolSpans } = yield* exporting(
          Effect.andThen(run(store, append), run(store)).pipe(
            Effect.provide(ScriptedModel.layer([...turns, ...turns])),
          ),
        );
        assertUsed(store.appends, ["input", "parameter"]);
        executed += toolSpans.length;
        assertSilent(exported);
      }
      assert.isAtLeast(executed, 6);
    }),
  );

  it.effect("[TE-02] a run in memory with progress, a returned failure and a failure", () =>
    Effect.gen(function* () {
      const { exported, value } = yield* exporting(
        watch(agent, handlers, [
          toolCalls([call("a", "keep"), call("b", "soft")], { text: canary("modelText") }),
          toolCalls([call("d", "hard")]),
        ]),
      );
      assertUsed(
        [value.events, value.requests.map(({ encodedPrompt }) => encodedPrompt)],
        ["instructions", "parameter", "preliminary", "result", "returned", "modelText"],
      );
      assertSilent(exported);
    }),
  );
});
