/** The agent of the crash drill: one tool of each execution class, one gated, one denied, one whose program calls others, and a model that follows a script. */
import { Effect, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { CurrentToolCall } from "#lib/current-tool-call.ts";
import { durableStep, ToolExecutionClass } from "#lib/durable-step.ts";
import { ReachFailpoint } from "#lib/testing/failpoints.ts";
import type { ToolProbe } from "#lib/tool-probe.ts";
import type { RecordedRequest } from "#lib/testing/recorded-request.ts";
import { type ScriptedTurn, text, toolCalls } from "#lib/testing/scripted-turn.ts";
import { ProgrammaticTools, ToolBroker } from "#lib/tool-broker.ts";

const amount = Schema.Struct({ amount: Schema.Int });
const Look = Tool.make("look", { success: Schema.String }).annotate(ToolExecutionClass, "readonly");
const Charge = Tool.make("charge", { parameters: amount, success: Schema.String });
const Mark = Tool.make("mark", { parameters: amount, success: Schema.String }).annotate(
  ToolExecutionClass,
  "idempotent",
);
const Refund = Tool.make("refund", {
  parameters: amount,
  success: Schema.String,
  needsApproval: true,
});

const Bundle = Tool.make("bundle", { success: Schema.String })
  .annotate(ToolExecutionClass, "idempotent")
  .annotate(ProgrammaticTools, { toolNames: ["look", "charge", "mark"] });

export const drillToolkit = Toolkit.make(Look, Charge, Mark, Refund, Bundle);

export const drillAgent = Agent.make("drill", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Follow the script.",
  toolkit: drillToolkit,
});

/**
 * An effect at a provider: a row in a table of its own, committed outside of
 * every transaction of the host. `idempotent` effects are written once per key,
 * as such a provider does.
 */
const effect = (tool: string, isIdempotent: boolean) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    const reach = yield* ReachFailpoint;
    const call = yield* CurrentToolCall;
    const key = call?.idempotencyKey ?? "";
    const place = call?.programmatic === undefined ? "handler" : "inner";
    yield* reach(`${place}:before-effect`);
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* isIdempotent
          ? sql`INSERT INTO drill_effects (run_id, tool, key) SELECT ${call?.runId ?? ""}, ${tool}, ${key}
              WHERE NOT EXISTS (SELECT FROM drill_effects WHERE key = ${key})`
          : sql`INSERT INTO drill_effects (run_id, tool, key) VALUES (${call?.runId ?? ""}, ${tool}, ${key})`;
        yield* reach(`${place}:during-effect`);
      }),
    );
    yield* reach(`${place}:after-effect`);
    return `${tool} done`;
  }).pipe(Effect.orDie);

/** A step that counts its bodies: at least one, and none after its success is recorded. */
const stepBody = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const call = yield* CurrentToolCall;
  yield* sql`INSERT INTO drill_bodies (run_id) VALUES (${call?.runId ?? ""})`;
  return "kept";
}).pipe(Effect.orDie);

/** Looks, charges, takes a step, marks: every class inside a call that itself may run again. */
const bundle = Effect.gen(function* () {
  const broker = yield* ToolBroker;
  const invoke = (toolName: string, encodedArguments: object) =>
    broker.invoke({ toolName, encodedArguments });
  yield* invoke("look", {});
  yield* invoke("charge", { amount: 4 });
  yield* durableStep("note", Schema.String, stepBody);
  yield* invoke("mark", { amount: 5 });
  return "bundle done";
}).pipe(Effect.orDie);

export const drillHandlers = drillToolkit.toLayer(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    const run = (tool: string, isIdempotent: boolean) =>
      Effect.provideService(effect(tool, isIdempotent), SqlClient.SqlClient, sql);
    return drillToolkit.of({
      look: () => Effect.succeed("seen"),
      charge: () => run("charge", false),
      mark: () => run("mark", true),
      refund: () => run("refund", false),
      bundle: () => Effect.provideService(bundle, SqlClient.SqlClient, sql),
    });
  }),
);

/** What the provider answers about a charge: evidence only, an operator settles it. */
export const drillProbes = {
  charge: {
    ask: () =>
      Effect.gen(function* () {
        yield* (yield* ReachFailpoint)("probe:while-asked");
        return { _tag: "inconclusive", detail: "The drill's provider says nothing." } as const;
      }),
  },
} satisfies Readonly<Record<string, ToolProbe>>;

/** Answers by what the conversation already holds, so that it needs no memory across processes. */
export const drillScript = (request: RecordedRequest): ScriptedTurn => {
  const results = request.prompt.content.filter((message) => message.role === "tool").length;
  if (results === 0) {
    return toolCalls([
      { id: "look", name: "look" },
      { id: "charge", name: "charge", params: { amount: 1 } },
      { id: "mark", name: "mark", params: { amount: 2 } },
    ]);
  }
  if (results === 1) return toolCalls([{ id: "refund", name: "refund", params: { amount: 3 } }]);
  if (results === 2) return toolCalls([{ id: "bundle", name: "bundle" }]);
  return text("finished");
};
