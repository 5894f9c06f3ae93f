/** Tools whose calls say how long they take and how they end, with a log of what really ran. */
import { Effect, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import type { RunPolicyOptions } from "#lib/agent/policy.ts";
import { ToolExecutionClass } from "#lib/durable-step.ts";

export class WorkFailed extends Schema.TaggedError<WorkFailed>()("WorkFailed", {
  message: Schema.String,
  code: Schema.Int,
}) {}

const parameters = Schema.Struct({ millis: Schema.Number });

export const Work = Tool.make("work", { parameters, success: Schema.String });
export const Read = Tool.make("read", { parameters, success: Schema.String }).annotate(
  ToolExecutionClass,
  "readonly",
);
export const Mutate = Tool.make("mutate", { parameters, success: Schema.String });
export const Fail = Tool.make("fail", { parameters, failure: WorkFailed });
export const Try = Tool.make("try", {
  parameters,
  success: Schema.String,
  failure: WorkFailed,
  failureMode: "return",
});
export const Die = Tool.make("die", { parameters, failure: WorkFailed, failureMode: "return" });
export const Hang = Tool.make("hang", { parameters: Schema.Struct({}) });

export const toolkit = Toolkit.make(Work, Read, Mutate, Fail, Try, Die, Hang);

export const workerAgent = (policy: RunPolicyOptions = {}) =>
  Agent.make("worker", {
    input: Schema.String,
    output: Schema.String,
    instructions: "Do the work.",
    toolkit,
    policy: { repeatedFailureLimit: 0, ...policy },
  });

/** Handlers that note `start <id>`, `end <id>` and, always, `over <id>`; `try` fails with odd milliseconds. */
export const makeWorker = (extraMillis: (callId: string) => number = () => 0) => {
  const log: Array<string> = [];
  const note = (entry: string) => Effect.sync(() => void log.push(entry));
  let open = 0;
  let highest = 0;
  const work = <A, E>(millis: number, id: string | undefined, ending: Effect.Effect<A, E>) =>
    Effect.gen(function* () {
      open += 1;
      highest = Math.max(highest, open);
      yield* note(`start ${id}`);
      const duration = millis + extraMillis(String(id));
      if (duration > 0) yield* Effect.sleep(duration);
      const ended = yield* ending;
      yield* note(`end ${id}`);
      return ended;
    }).pipe(
      Effect.ensuring(
        Effect.suspend(() => {
          open -= 1;
          return note(`over ${id}`);
        }),
      ),
    );
  const failure = new WorkFailed({ message: "broken", code: 7 });
  const layer = toolkit.toLayer({
    work: ({ millis }, { toolCallId }) =>
      work(millis, toolCallId, Effect.succeed(`done ${toolCallId}`)),
    read: ({ millis }, { toolCallId }) =>
      work(millis, toolCallId, Effect.succeed(`read ${toolCallId}`)),
    mutate: ({ millis }, { toolCallId }) =>
      work(millis, toolCallId, Effect.succeed(`mutated ${toolCallId}`)),
    fail: ({ millis }, { toolCallId }) => work(millis, toolCallId, Effect.fail(failure)),
    try: ({ millis }, { toolCallId }) =>
      work(
        millis,
        toolCallId,
        millis % 2 === 1 ? Effect.fail(failure) : Effect.succeed(`tried ${toolCallId}`),
      ),
    die: ({ millis }, { toolCallId }) => work(millis, toolCallId, Effect.die(new Error("bug"))),
    hang: (_, { toolCallId }) => work(0, toolCallId, Effect.never),
  });
  return { layer, log, highest: () => highest, failure };
};
