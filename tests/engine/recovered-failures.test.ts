import { assert, describe, it } from "@effect/vitest";
import { Effect, Exit } from "effect";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { type RecoveredFailure, RecoveredFailureObserver } from "#lib/recovered-failure.ts";
import { attempt, makeStore } from "#tests/engine/durable-harness.ts";
import { eventsOfKind, inVirtualTime, watch } from "#tests/engine/run-agent.ts";
import { makeWorker, workerAgent } from "#tests/engine/worker-tools.ts";

const call = (id: string, name: string, millis: unknown) => ({ id, name, params: { millis } });
const script = [
  toolCalls([
    call("wrong", "try", "soon"),
    call("failed", "try", 1),
    call("fine", "try", 2),
    call("work", "work", 0),
  ]),
  text("ok"),
];

describe("failures that a run survives (F-16)", () => {
  it.effect(
    "[F-16] the host's observer is told of each returned failure once, with its safe words, and of nothing else",
    () =>
      Effect.gen(function* () {
        const told: Array<RecoveredFailure> = [];
        const run = yield* watch(workerAgent(), makeWorker().layer, script).pipe(
          Effect.provideService(RecoveredFailureObserver, {
            observe: (failure) => Effect.sync(() => void told.push(failure)),
          }),
          inVirtualTime,
        );
        assert.isTrue(Exit.isSuccess(run.exit));
        assert.deepStrictEqual(
          told.map(({ errorTag, failureHandling, message, toolCallId, toolName, turn }) => [
            toolCallId,
            toolName,
            turn,
            failureHandling,
            errorTag,
            message,
          ]),
          [
            [
              "wrong",
              "try",
              1,
              "returned-to-model",
              "ToolParameterValidationError",
              "The arguments of try are invalid.",
            ],
            ["failed", "try", 1, "returned-to-model", "WorkFailed", "broken"],
          ],
        );
      }),
  );

  it.effect("[F-16] a failure that ends the run is not reported as survived", () =>
    Effect.gen(function* () {
      const told: Array<string> = [];
      const run = yield* watch(workerAgent(), makeWorker().layer, [
        toolCalls([call("ends", "fail", 0)]),
      ]).pipe(
        Effect.provideService(RecoveredFailureObserver, {
          observe: ({ toolCallId }) => Effect.sync(() => void told.push(toolCallId)),
        }),
      );
      assert.isTrue(Exit.isFailure(run.exit));
      assert.deepStrictEqual(told, []);
    }),
  );

  const broken = [
    ["dies", () => Effect.die(new Error("observer down"))],
    ["interrupts itself", () => Effect.interrupt],
    ["never answers", () => Effect.never],
    [
      "throws",
      () => {
        throw new Error("observer down");
      },
    ],
  ] as const;
  for (const [name, observe] of broken) {
    it.effect(`[F-16] an observer that ${name} changes nothing of the run`, () =>
      Effect.gen(function* () {
        const observed = yield* watch(workerAgent(), makeWorker().layer, script).pipe(
          Effect.provideService(RecoveredFailureObserver, { observe }),
          inVirtualTime,
        );
        const plain = yield* watch(workerAgent(), makeWorker().layer, script).pipe(inVirtualTime);
        assert.isTrue(Exit.isSuccess(observed.exit));
        assert.deepStrictEqual(
          eventsOfKind(observed.events, "ToolCallFailed").map(({ callId }) => callId as string),
          eventsOfKind(plain.events, "ToolCallFailed").map(({ callId }) => callId as string),
        );
        assert.deepStrictEqual(
          observed.requests[1]?.encodedPrompt,
          plain.requests[1]?.encodedPrompt,
        );
      }),
    );
  }

  it.effect("[F-16] a resumed run reports no failure twice", () =>
    Effect.gen(function* () {
      const told: Array<string> = [];
      const recoveredFailures = {
        observe: ({ toolCallId }: RecoveredFailure) =>
          Effect.sync(() => void told.push(toolCallId)),
      };
      const store = makeStore();
      const worker = makeWorker();
      const context = { recoveredFailures };
      // Appends: the start, the turn, the preparation and the result of "failed".
      const lost = yield* attempt(store, workerAgent(), () => worker.layer, {
        context,
        crash: { append: 4, landed: true },
      });
      assert.strictEqual(lost._tag, "lost");
      const end = yield* attempt(store, workerAgent(), () => worker.layer, { context });
      assert.strictEqual(end._tag, "settled");
      assert.deepStrictEqual(told, ["wrong"]);
    }).pipe(
      Effect.provide(
        ScriptedModel.layer([
          toolCalls([call("wrong", "try", "soon"), call("failed", "try", 1)]),
          text("ok"),
        ]),
      ),
      inVirtualTime,
    ),
  );
});
