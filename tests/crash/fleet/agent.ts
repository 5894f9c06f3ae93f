/**
 * The agent of the process proofs: one tool of every execution class, two gated
 * ones, and a model that follows the script in its input. The script is data, so
 * a plan of another process decides what a host will be asked to do.
 */
import { Effect, Layer, Schema } from "effect";
import { type Prompt, Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { ReadOn } from "#lib/contract/json/bounded-result.ts";
import { CurrentToolCall } from "#lib/current-tool-call.ts";
import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ReachFailpoint } from "#lib/testing/failpoints.ts";
import { type ScriptedTurn, text, toolCalls } from "#lib/testing/scripted-turn.ts";
import { toolResultsOf } from "#lib/testing/recorded-request.ts";
import * as ToolResults from "#lib/tool-results.ts";
import { approvalRule } from "#lib/tool-approval.ts";
import { unknownOutcome } from "#lib/unknown-outcome.ts";

/** What a call asks of the provider; the waits are the provider's, before and after it commits. */
const EffectParams = Schema.Struct({
  amount: Schema.Int,
  beforeMs: Schema.Int,
  afterMs: Schema.Int,
  decline: Schema.Boolean,
});
export type EffectParams = typeof EffectParams.Type;

class Declined extends Schema.TaggedError<Declined>()("Declined", { message: Schema.String }) {}

const effectTool = { parameters: EffectParams, success: Schema.String, failure: Declined } as const;
const Look = Tool.make("look", { success: Schema.String }).annotate(ToolExecutionClass, "readonly");
/** Uncertain, and its failure goes back to the model. */
const Charge = Tool.make("charge", { ...effectTool, failureMode: "return" });
/** Uncertain, and its failure ends the run while siblings are in flight. */
const Transfer = Tool.make("transfer", { ...effectTool, failureMode: "error" });
const Mark = Tool.make("mark", { ...effectTool, failureMode: "return" }).annotate(
  ToolExecutionClass,
  "idempotent",
);
const Refund = Tool.make("refund", {
  ...effectTool,
  failureMode: "return",
  needsApproval: true,
});
const Payout = approvalRule(
  Tool.make("payout", { ...effectTool, failureMode: "return", needsApproval: true }),
  { denial: "terminal" },
);

/** More than a model gets to see at once. */
const Survey = Tool.make("survey", { success: Schema.String }).annotate(
  ToolExecutionClass,
  "readonly",
);
export const survey = Array.from(
  { length: 3_000 },
  (_, line) => `${line}: "größe" ß€👍 \u0000 ${"x".repeat(line % 60)}`,
).join("\n");
const reading = ToolResults.make();

const own = Toolkit.make(Look, Survey, Charge, Transfer, Mark, Refund, Payout);
const toolkit = Toolkit.make(Look, Survey, Charge, Transfer, Mark, Refund, Payout, reading.tool);
/** Tools with an effect; all but `mark` must act at most once whatever dies. */
export const effectTools = ["charge", "transfer", "mark", "refund", "payout"] as const;
/** Tools that ask the provider for nothing. */
export const readingTools: ReadonlySet<string> = new Set(["look", "survey", "read_tool_result"]);
export type EffectTool = (typeof effectTools)[number];

export const ScriptedCall = Schema.Union([
  Schema.Struct({ tool: Schema.Literals(["look", "survey"]) }),
  /** The next page of the large result before it; an answer when there is none. */
  Schema.Struct({ tool: Schema.Literal("read-on") }),
  /** A charge whose arguments no decoder takes. */
  Schema.Struct({ tool: Schema.Literal("malformed") }),
  Schema.Struct({ tool: Schema.Literals(effectTools), params: EffectParams }),
]);
export type ScriptedCall = typeof ScriptedCall.Type;

/** One run: the calls of each turn, then an answer. */
export const Script = Schema.Struct({
  modelMs: Schema.Int,
  turns: Schema.Array(Schema.Array(ScriptedCall)),
});
export type Script = typeof Script.Type;

export const fleetAgent = Agent.make("fleet", {
  input: Script,
  output: Schema.String,
  instructions: "Follow the script.",
  toolkit,
  policy: { maxTurns: 50, maxToolCalls: 1_000, repeatedFailureLimit: 0, toolConcurrency: 2 },
});

const answerOf = Schema.Struct({ ok: Schema.Boolean });

/** One request to the provider of the proof; without an answer nobody knows what happened. */
const ask = (provider: string, tool: string, params: EffectParams) =>
  Effect.gen(function* () {
    const reach = yield* ReachFailpoint;
    const call = yield* CurrentToolCall;
    yield* reach("handler:before-effect");
    const answer = yield* Effect.tryPromise(async (signal) => {
      const response = await fetch(`${provider}/effects`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ key: call?.idempotencyKey, runId: call?.runId, tool, params }),
        signal,
      });
      return Schema.decodeUnknownSync(answerOf)(await response.json());
    }).pipe(Effect.catch(() => unknownOutcome(`The provider did not answer ${tool}.`)));
    yield* reach("handler:after-effect");
    return yield* answer.ok
      ? Effect.succeed(`${tool} done`)
      : new Declined({ message: `The provider declined ${tool}.` });
  });

export const fleetHandlers = (provider: string) =>
  Layer.merge(
    reading.handlers,
    own.toLayer({
      look: () => Effect.succeed("seen"),
      survey: () => Effect.succeed(survey),
      charge: (params) => ask(provider, "charge", params),
      transfer: (params) => ask(provider, "transfer", params),
      mark: (params) => ask(provider, "mark", params),
      refund: (params) => ask(provider, "refund", params),
      payout: (params) => ask(provider, "payout", params),
    }),
  );

const Envelope = Schema.Struct({ readOn: ReadOn });
const isEnvelope = Schema.is(Envelope);
const isPage = Schema.is(ToolResults.ResultPage);

/** Where the run has read to, as its conversation shows it. */
const nextPage = (prompt: Prompt.Prompt): ReadOn["parameters"] | undefined =>
  toolResultsOf(prompt).reduce<ReadOn["parameters"] | undefined>((at, { result }) => {
    if (isEnvelope(result)) return result.readOn.parameters;
    if (!isPage(result) || at === undefined) return at;
    return result.nextOffset === null ? undefined : { ...at, offset: result.nextOffset };
  }, undefined);

const decodeScript = Schema.decodeUnknownSync(Schema.fromJsonString(Script));

/** Answers from what the conversation holds, so that it needs no memory across processes. */
export const followScript = (request: { readonly prompt: Prompt.Prompt }): ScriptedTurn => {
  const { content } = request.prompt;
  const place = content.findLastIndex((message) => message.role === "user");
  const input = content[place];
  const said =
    input?.role === "user"
      ? input.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
      : "";
  const script = decodeScript(said);
  const turn = content.slice(place).filter((message) => message.role === "tool").length;
  const calls = script.turns[turn];
  const options = { delay: `${script.modelMs} millis` } as const;
  if (calls === undefined) return text("finished", options);
  if (calls.some(({ tool }) => tool === "read-on")) {
    const params = nextPage(request.prompt);
    return params === undefined
      ? text("finished", options)
      : toolCalls([{ id: "call_0", name: "read_tool_result", params }], options);
  }
  // Ids come again in every turn, as small models really do it (R32).
  return toolCalls(
    calls.map((call, index) => ({
      id: `call_${index}`,
      name: call.tool === "malformed" ? "charge" : call.tool,
      ...("params" in call ? { params: call.params } : {}),
    })),
    options,
  );
};
