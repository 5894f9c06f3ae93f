/** What a host of the drill works with: the drill's own agent, or one around a tool that the person named. */
import { pathToFileURL } from "node:url";
import { Context, Effect } from "effect";
import { SqlClient, SqlSchema } from "effect/unstable/sql";
import { Schema, type Scope } from "effect";
import type { Tool } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { handlerOf, type ToolHandler } from "#lib/engine/tool-handler.ts";
import { register, type RegisteredAgent } from "#lib/host/AgentRegistry.ts";
import type { DrillTarget } from "#lib/testing/DrillTarget.ts";
import { ReachFailpoint } from "#lib/testing/failpoints.ts";
import type { RecordedRequest } from "#lib/testing/recorded-request.ts";
import { type ScriptedTurn, text, toolCalls } from "#lib/testing/scripted-turn.ts";
import { drillAgent, drillHandlers, drillProbes, drillScript } from "./drill-agent.ts";

/** The target's own types end where its module is loaded by name. */
export type AnyTarget = DrillTarget<Record<string, Tool.Any>>;

export interface DrillSubject {
  readonly agent: Effect.Effect<RegisteredAgent, unknown, SqlClient.SqlClient | Scope.Scope>;
  readonly script: (request: RecordedRequest) => ScriptedTurn;
  /** The call that the policies of the `deny` and `check-fail` stories speak about. */
  readonly guardedCallId: string;
  readonly timesDone: (key: string) => Effect.Effect<number, unknown, SqlClient.SqlClient>;
  /** What an operator says that a call gave whose effect was found. */
  readonly resultOf: (toolName: string) => typeof Schema.Json.Type;
}

const Times = Schema.Struct({ times: Schema.Int });

const ownSubject: DrillSubject = {
  agent: register(Agent.bind(drillAgent, drillHandlers), { probes: drillProbes }),
  script: drillScript,
  guardedCallId: "refund",
  timesDone: (key) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.map(
        SqlSchema.findOne({
          Request: Schema.String,
          Result: Times,
          execute: (one) =>
            sql`SELECT count(*)::int AS times FROM drill_effects WHERE key = ${one}`,
        })(key),
        ({ times }) => times,
      ),
    ),
  resultOf: (toolName) => `${toolName} done`,
};

/** How long the target's handler works before the place in its middle is reached. */
const duringMillis = 20;

/** Says the places around a handler that knows nothing of them. */
const around = ({ handler, ...registered }: ToolHandler) => ({
  ...registered,
  handler: (...call: Parameters<ToolHandler["handler"]>) =>
    Effect.gen(function* () {
      const reach = yield* ReachFailpoint;
      yield* reach("handler:before-effect");
      yield* Effect.forkDetach(Effect.delay(reach("handler:during-effect"), duringMillis));
      const result: unknown = yield* handler(...call);
      yield* reach("handler:after-effect");
      return result;
    }),
});

const withPlaces = (agent: RegisteredAgent): RegisteredAgent => ({
  ...agent,
  services: Object.values(agent.definition.toolkit.tools).reduce(
    (services, tool) => Context.addUnsafe(services, tool.id, around(handlerOf(services, tool))),
    agent.services,
  ),
});

const subjectOf = (target: AnyTarget): DrillSubject => {
  const agent = Agent.make("drill", {
    input: Schema.String,
    output: Schema.String,
    instructions: "Follow the script.",
    toolkit: target.toolkit,
  });
  return {
    agent: Effect.map(register(Agent.bind(agent, target.handlers)), withPlaces),
    script: (request) => {
      const turns = request.prompt.content.filter((message) => message.role === "tool").length;
      const { toolName: name, parameters: params } = target;
      // Twice: what is killed in the second call must not touch the first one's result.
      if (turns < 2) return toolCalls([{ id: turns === 0 ? "first" : "second", name, params }]);
      return text("finished");
    },
    guardedCallId: "second",
    timesDone: (key) => target.timesDone(key),
    resultOf: () => target.result,
  };
};

/** Loads `FILE#export`, where the file is a bundled module; without one the drill is its own subject. */
export const loadSubject = async (named: string | undefined): Promise<DrillSubject> =>
  named === undefined || named === "" ? ownSubject : subjectOf(await loadTarget(named));

export const loadTarget = async (named: string): Promise<AnyTarget> => {
  const split = named.lastIndexOf("#");
  const module: Record<string, unknown> = await import(pathToFileURL(named.slice(0, split)).href);
  const name = named.slice(split + 1);
  const target = module[name];
  if (
    typeof target !== "object" ||
    target === null ||
    !("toolkit" in target && "timesDone" in target)
  )
    throw new Error(
      `${named} is no drill target: the export ${JSON.stringify(name)} must be made with drillTarget of lib/testing/DrillTarget.ts.`,
    );
  // The module was type-checked where it was written; here only its shape is known.
  return target as AnyTarget;
};
