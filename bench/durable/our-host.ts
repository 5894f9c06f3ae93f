/** Our durable host without HTTP: admission, claim, run loop, journal and event assigner on one database. */
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Schema from "effect/Schema";
import * as Tool from "effect/unstable/ai/Tool";
import * as Toolkit from "effect/unstable/ai/Toolkit";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as Statement from "effect/unstable/sql/Statement";
import * as Agent from "#lib/agent/Agent.ts";
import { ToolExecutionClass } from "#lib/durable-step.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { register } from "#lib/host/AgentRegistry.ts";
import { ThreadDriver } from "#lib/host/ThreadDriver.ts";
import {
  type RecordedRequest,
  ScriptedModel,
  text,
  toolCalls,
  toolResultsOf,
} from "#lib/testing/ScriptedModel.ts";
import * as Migrations from "#server/postgres/Migrations.ts";
import { makeCallClock } from "./call-clock.ts";
import { driverLayer, storeLayer, submit, tenantId } from "#tests/support/durable-host.ts";

const parameters = Schema.Struct({ amount: Schema.Int });
const success = Schema.Struct({ charged: Schema.Int });
const Charge = Tool.make("charge", { parameters, success });
const Look = Tool.make("look", { parameters, success }).annotate(ToolExecutionClass, "readonly");
const toolkit = Toolkit.make(Charge, Look);
const clock = makeCallClock();
const work = ({ amount }: { readonly amount: number }) =>
  Effect.sync(() => {
    clock.mark();
    return { charged: amount };
  });
const handlers = toolkit.toLayer({ charge: work, look: work });

const agentOf = (name: string, toolConcurrency: number) =>
  Agent.make(name, {
    input: Schema.String,
    output: Schema.String,
    instructions: "Charge what is asked.",
    toolkit,
    policy: { maxToolCalls: 10_000, toolConcurrency },
  });

/** The input of a run says what it does: `charge 100 7` is 100 calls of `charge`; the last word makes it unique. */
const answer = (request: RecordedRequest) => {
  if (toolResultsOf(request.prompt).length > 0) return text("done");
  const [, tool = "none", count = "0"] = /(charge|look) (\d+)/.exec(inputOf(request)) ?? [];
  return Number(count) === 0
    ? text("done")
    : toolCalls(
        Array.from({ length: Number(count) }, (_, index) => ({
          id: `c${index}`,
          name: tool,
          params: { amount: index },
        })),
      );
};

const inputOf = (request: RecordedRequest): string =>
  request.prompt.content
    .filter((message) => message.role === "user")
    .map((message) => JSON.stringify(message.content))
    .join(" ");

/** Everything that is measured of ours. Times in milliseconds. */
export const ourHost = Effect.fnUntraced(function* (url: string) {
  const asked = new Map<string, Deferred.Deferred<number>>();
  const hold = { requestAfterResults: false, everyRequest: false };
  const tell = (request: RecordedRequest) => {
    const key = /k-\d+/.exec(inputOf(request))?.[0] ?? "";
    const waiting = asked.get(key);
    if (waiting !== undefined) Deferred.doneUnsafe(waiting, Effect.succeed(performance.now()));
    const turn = answer(request);
    // Held back, so that the process can be taken away from the run at this very point.
    return hold.everyRequest ||
      (hold.requestAfterResults && toolResultsOf(request.prompt).length > 0)
      ? { ...turn, delay: "1 hour" as const }
      : turn;
  };
  const layer = driverLayer(
    Effect.all([
      register(Agent.bind(agentOf("serial", 1), handlers)),
      register(Agent.bind(agentOf("batch", 50), handlers)),
    ]),
  ).pipe(
    Layer.provideMerge(ScriptedModel.layer([], { whenExhausted: tell })),
    Layer.provideMerge(storeLayer(url)),
  );
  const context = yield* Layer.build(layer);
  const provide = Effect.provideContext(context);
  const { drive } = yield* ThreadDriver.pipe(provide);
  yield* Migrations.run().pipe(provide);
  let runs = 0;
  const nextKey = () => `k-${++runs}`;

  const admit = (agent: "serial" | "batch", tool: string, count: number, key: string) =>
    submit(agent, `${tool} ${count} ${key}`, key).pipe(provide);

  /** One run with `count` calls: from one call to the next, and per call the whole from its submission to its settlement, as a peer's is begun and answered. */
  const perCall = (agent: "serial" | "batch", tool: "charge" | "look", count: number) =>
    Effect.gen(function* () {
      clock.reset();
      const from = performance.now();
      const { threadId } = yield* admit(agent, tool, count, nextKey());
      yield* drive({ tenantId, threadId });
      return { whole: (performance.now() - from) / count, toNext: clock.perCall() };
    });

  /** Statements that such a run sends, its submission included, each a round trip it waits for; per call. Assigner and scans are not its own. */
  const roundTrips = (...run: Parameters<typeof perCall>) =>
    Effect.suspend(() => {
      let statements = 0;
      const count: Statement.Transformer = (statement) =>
        Effect.sync(() => {
          statements++;
          return statement;
        });
      return perCall(...run).pipe(
        Effect.provideService(Statement.CurrentTransformer, count),
        Effect.map(() => statements / run[2]),
      );
    });

  /** When the next request of this run reaches the model. */
  const awaitRequest = (key: string) =>
    Effect.sync(() => {
      const request = Deferred.makeUnsafe<number>();
      asked.set(key, request);
      return Deferred.await(request);
    });

  /** From the claim of a run with `count` recorded calls to its next model request. */
  const resume = (count: number) =>
    Effect.gen(function* () {
      const key = nextKey();
      const { threadId } = yield* admit("batch", "charge", count, key);
      hold.requestAfterResults = true;
      const thread = { tenantId, threadId };
      const untilResults = yield* awaitRequest(key);
      const first = yield* Effect.forkChild(drive(thread));
      yield* untilResults;
      const untilSecond = yield* awaitRequest(key);
      // The first request was the one before any result.
      yield* untilSecond;
      yield* Fiber.interrupt(first);
      const untilResumed = yield* awaitRequest(key);
      const from = performance.now();
      const second = yield* Effect.forkChild(drive(thread));
      const millis = (yield* untilResumed) - from;
      yield* Fiber.interrupt(second);
      hold.requestAfterResults = false;
      yield* drive(thread);
      return millis;
    });

  /** `count` runs admitted and driven at once: from each admission's call to its first model request. */
  const starts = (count: number) =>
    Effect.forEach(
      Array.from({ length: count }, nextKey),
      (key) =>
        Effect.gen(function* () {
          const request = yield* awaitRequest(key);
          const from = performance.now();
          const { threadId } = yield* admit("serial", "none", 0, key);
          const driving = yield* Effect.forkChild(drive({ tenantId, threadId }));
          const millis = (yield* request) - from;
          yield* Fiber.join(driving);
          return millis;
        }),
      { concurrency: "unbounded" },
    );

  /** One run after the other is started, while `inFlight` others are held at their model. */
  const startsAmong = (inFlight: number, count: number) =>
    Effect.scoped(
      Effect.gen(function* () {
        const start = Effect.gen(function* () {
          const key = nextKey();
          const request = yield* awaitRequest(key);
          const from = performance.now();
          const { threadId } = yield* admit("serial", "none", 0, key);
          const driving = yield* Effect.forkScoped(drive({ tenantId, threadId }));
          return { millis: (yield* request) - from, driving };
        });
        hold.everyRequest = true;
        for (let index = 0; index < inFlight; index++) yield* start;
        hold.everyRequest = false;
        const times: Array<number> = [];
        for (let index = 0; index < count; index++) {
          const { millis, driving } = yield* start;
          yield* Fiber.join(driving);
          times.push(millis);
        }
        return times;
      }),
    );

  const spent = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    // The server tells what a connection did once it has been idle for ten seconds.
    yield* Effect.sleep("11 seconds");
    const [row] = yield* sql<{ bytes: number; commits: number }>`
      SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 AS bytes, xact_commit::int AS commits
      FROM pg_stat_database WHERE datname = current_database()`;
    return { bytes: Number(row?.bytes), commits: Number(row?.commits) };
  }).pipe(provide);

  return {
    perCall,
    roundTrips,
    resume,
    starts,
    startsAmong,
    spent,
    ledger: yield* SubmissionLedger.pipe(provide),
  };
});
