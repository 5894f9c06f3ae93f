import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer } from "effect";
import { AgentToolAuthorizationCheckError } from "#lib/agent-error.ts";
import { RunToolAuthorization, type ToolAuthorizationRequest } from "#lib/run-options.ts";
import { toolCalls } from "#lib/testing/ScriptedModel.ts";
import { RunToolVisibility } from "#lib/tool-exposure.ts";
import {
  call,
  caught,
  makeDesk,
  makeHandlers,
  type Program,
  Refused,
  runProgram,
} from "#tests/broker/desk.ts";
import { errorTagOf, eventsOfKind, watch } from "#tests/engine/run-agent.ts";

describe("calls inside a call", () => {
  it.effect(
    "[CM-01][CM-02] run other tools under identities of the broker: outer id and an index from 0 in the order of the calls",
    () =>
      Effect.gen(function* () {
        const run = yield* runProgram((broker) =>
          Effect.gen(function* () {
            const one = yield* broker.invoke(call("look", "a"));
            const two = yield* broker.invoke(call("send", "b"));
            return [one, two];
          }),
        );
        assert.deepStrictEqual(run.log, ["outer", "look a", "send b"]);
        assert.strictEqual(run.told, '["did a","did b"]');
        const inner = run.declared.filter((event) => event.parentCallId !== undefined);
        assert.deepStrictEqual(
          inner.map(({ index, parentCallId, toolName }) => [index, parentCallId, toolName]),
          [
            [0, "o", "look"],
            [1, "o", "send"],
          ],
        );
        assert.deepStrictEqual(
          run.identities.map(({ programmatic }) => programmatic),
          [
            { parentToolCallId: "o", sequenceIndex: 0 },
            { parentToolCallId: "o", sequenceIndex: 1 },
          ],
        );
        assert.strictEqual(
          new Set(run.identities.map(({ idempotencyKey }) => idempotencyKey)).size,
          2,
        );
        assert.strictEqual(new Set([...run.identities.map(({ callId }) => callId), "o"]).size, 3);
      }),
  );

  it.effect(
    "[CM-02] the arguments of a call cannot name an identity, and a model cannot declare one of the broker's form",
    () =>
      Effect.gen(function* () {
        const forgery = { sequenceIndex: 7, parentToolCallId: "other", callId: "mine" };
        const forged = yield* runProgram((broker) =>
          broker.invoke({
            toolName: "send",
            encodedArguments: { id: "x" },
            ...forgery,
          }),
        );
        assert.deepStrictEqual(forged.identities[0]?.programmatic, {
          parentToolCallId: "o",
          sequenceIndex: 0,
        });
        const desk = makeDesk();
        const { layer, log } = makeHandlers(desk, () => Effect.succeed(""));
        const run = yield* watch(desk.agent, layer(), [
          toolCalls([{ id: `inner_${"0".repeat(32)}`, name: "outer" }]),
        ]);
        assert.strictEqual(errorTagOf(run), "ModelProtocolError");
        assert.deepStrictEqual(log, []);
      }),
  );

  it.effect(
    "[CM-01][T-03][T-04] arguments are decoded strictly by the tool's own codec and results come back encoded",
    () =>
      Effect.gen(function* () {
        const run = yield* runProgram((broker) =>
          Effect.gen(function* () {
            const good = yield* broker.invoke({
              toolName: "count",
              encodedArguments: { from: "41" },
            });
            const bad = yield* caught(
              broker.invoke({ toolName: "count", encodedArguments: { from: "41", more: 1 } }),
            );
            const none = yield* caught(broker.invoke({ toolName: "count" }));
            const cyclic: Record<string, unknown> = { from: "1" };
            cyclic["self"] = cyclic;
            const odd = yield* caught(
              broker.invoke({ toolName: "count", encodedArguments: cyclic }),
            );
            return [good, bad, none, odd].map((one) =>
              typeof one === "object" && one !== null && "_tag" in one ? one._tag : one,
            );
          }),
        );
        const invalid = "ProgrammaticToolParametersInvalid";
        assert.strictEqual(run.told, JSON.stringify(["42", invalid, invalid, invalid]));
        assert.deepStrictEqual(
          run.failed.map(({ failureHandling, rejected }) => `${rejected} ${failureHandling}`),
          Array.from({ length: 3 }, () => "true returned-to-caller"),
        );
      }),
  );

  it.effect("[CM-04][T-05] a tool that returns nothing gives null", () =>
    Effect.gen(function* () {
      const run = yield* runProgram((broker) =>
        Effect.map(broker.invoke(call("note", "n")), (value) => String(value === null)),
      );
      assert.strictEqual(run.told, "true");
    }),
  );

  it.effect(
    "[CM-01][CM-06][X-20] what is not allowed, not visible or needs approval is refused by reason, and nothing of it runs",
    () =>
      Effect.gen(function* () {
        const reasons: Array<unknown> = [];
        const asked: Array<string> = [];
        const run = yield* runProgram(
          (broker) =>
            Effect.gen(function* () {
              const names = yield* broker.toolNames;
              for (const name of [
                "alien",
                "toString",
                "y".repeat(200),
                "gated",
                "ruled",
                "put",
                "look",
              ])
                reasons.push(yield* caught(broker.invoke(call(name, "x"))));
              return names.join(" ");
            }),
          {
            run: {
              run: {
                toolAuthorization: {
                  authorize: ({ call: { toolName } }) =>
                    Effect.sync(() => {
                      asked.push(toolName);
                      return { _tag: "allowed" };
                    }),
                },
              },
            },
          },
        ).pipe(
          Effect.provide(
            Layer.succeed(RunToolVisibility, {
              visible: ({ toolNames }) =>
                Effect.succeed(toolNames.filter((name) => name !== "put")),
            }),
          ),
        );
        assert.deepStrictEqual(
          reasons.map((one) =>
            typeof one === "string" ? one : Reflect.get(Object(one), "reason"),
          ),
          [
            "not-in-allowlist",
            "not-in-allowlist",
            "not-in-allowlist",
            "needs-approval",
            "needs-approval",
            "not-visible",
            "did x",
          ],
        );
        assert.deepStrictEqual(run.log, ["outer", "look x"]);
        assert.deepStrictEqual(asked, ["outer", "look"]);
        assert.strictEqual(run.told, "look send soft note count broken");
      }),
  );

  it.effect(
    "[Z-11][CM-03] a denied inner call is caught by its program, costs no budget, and a policy of the program's own changes nothing",
    () =>
      Effect.gen(function* () {
        const asked: Array<ToolAuthorizationRequest> = [];
        const policy = {
          authorize: (request: ToolAuthorizationRequest) =>
            Effect.sync(() => {
              asked.push(request);
              return request.programmatic?.sequenceIndex === 1
                ? ({ _tag: "denied", reason: "Not this one." } as const)
                : ({ _tag: "allowed" } as const);
            }),
        };
        const run = yield* runProgram(
          (broker) =>
            Effect.forEach(["a", "b", "c"], (id) => caught(broker.invoke(call("send", id)))).pipe(
              Effect.map((all) =>
                all.map((one) =>
                  typeof one === "string" ? one : Reflect.get(Object(one), "_tag"),
                ),
              ),
              Effect.provideService(RunToolAuthorization, {
                authorize: () => Effect.succeed({ _tag: "allowed" }),
              }),
            ),
          // Outer, a and c: exactly three; a fourth would be one too many.
          { desk: { policy: { maxToolCalls: 3 } }, run: { run: { toolAuthorization: policy } } },
        );
        assert.strictEqual(run.told, '["did a","ProgrammaticToolAuthorizationDenied","did c"]');
        assert.deepStrictEqual(run.log, ["outer", "send a", "send c"]);
        assert.deepStrictEqual(
          asked.map(({ call: { toolName }, programmatic }) => [
            toolName,
            programmatic?.sequenceIndex,
          ]),
          [
            ["outer", undefined],
            ["send", 0],
            ["send", 1],
            ["send", 2],
          ],
        );
        assert.strictEqual(asked[1]?.programmatic?.parentToolCallId, "o");
        assert.deepStrictEqual(
          eventsOfKind(run.events, "ToolCallDenied").map(({ by, reason }) => [by, reason]),
          [["policy", "Not this one."]],
        );
      }),
  );

  it.effect(
    "[CM-03] a call with wrong arguments is not asked about, and a refused one has no budget taken",
    () =>
      Effect.gen(function* () {
        const asked: Array<string> = [];
        const run = yield* runProgram(
          (broker) =>
            Effect.gen(function* () {
              for (let time = 0; time < 3; time++)
                yield* caught(broker.invoke({ toolName: "send", encodedArguments: { id: "" } }));
              return yield* broker.invoke(call("send", "a"));
            }),
          {
            desk: { policy: { maxToolCalls: 2 } },
            run: {
              run: {
                toolAuthorization: {
                  authorize: (request) =>
                    Effect.sync(() => {
                      asked.push(request.call.toolName);
                      return { _tag: "allowed" };
                    }),
                },
              },
            },
          },
        );
        assert.deepStrictEqual(asked, ["outer", "send"]);
        assert.strictEqual(run.told, "did a");
      }),
  );

  it.effect(
    "[CM-05] an exhausted budget is the next call's outcome: of the run, and of the outer call",
    () =>
      Effect.gen(function* () {
        const twice: Program = (broker) =>
          Effect.forEach(["a", "b", "c"], (id) => caught(broker.invoke(call("send", id)))).pipe(
            Effect.map((all) =>
              all.map((one) =>
                typeof one === "string" ? one : Reflect.get(Object(one), "dimension"),
              ),
            ),
          );
        const ofRun = yield* runProgram(twice, { desk: { policy: { maxToolCalls: 3 } } });
        assert.strictEqual(ofRun.told, '["did a","did b","toolCalls"]');
        const ofCall = yield* runProgram(twice, {
          desk: { allow: { toolNames: ["send"], maxCalls: 1 } },
        });
        assert.strictEqual(ofCall.told, '["did a","programmaticCalls","programmaticCalls"]');
        assert.deepStrictEqual(ofCall.log, ["outer", "send a"]);
      }),
  );

  it.effect(
    "[CM-07][F-10][F-12] a declared failure goes back to the program in either mode, encoded, and the run goes on",
    () =>
      Effect.gen(function* () {
        const failures: Array<unknown> = [];
        const run = yield* runProgram(
          (broker) =>
            Effect.gen(function* () {
              failures.push(yield* caught(broker.invoke(call("send", "no"))));
              failures.push(yield* caught(broker.invoke(call("soft", "no"))));
              return "went on";
            }),
          { behave: () => Effect.fail(new Refused({ message: "Not today." })) },
        );
        assert.strictEqual(run.told, "went on");
        for (const failure of failures) {
          assert.deepInclude(failure as object, {
            _tag: "ProgrammaticToolFailed",
            errorTag: "Refused",
            failure: { _tag: "Refused", message: "Not today." },
          });
        }
        assert.deepStrictEqual(
          run.failed.map(({ failureHandling, failureMode }) => [failureMode, failureHandling]),
          [
            ["error", "returned-to-caller"],
            ["return", "returned-to-caller"],
          ],
        );
      }),
  );

  it.effect(
    "[CM-07][F-03][F-04] a defect or an encoding failure inside ends the run, even where the program catches everything",
    () =>
      Effect.gen(function* () {
        const swallow: (name: string) => Program = (name) => (broker) =>
          Effect.catchCause(broker.invoke(call(name, "x")), () => Effect.succeed("swallowed"));
        const defect = yield* runProgram(swallow("send"), {
          behave: () => Effect.die(new Error("bug")),
        });
        assert.instanceOf(defect.error, Error);
        assert.strictEqual((defect.error as Error).message, "bug");
        assert.strictEqual(eventsOfKind(defect.events, "RunFailed")[0]?.finishReason, "defect");
        const encoding = yield* runProgram(swallow("broken"));
        assert.strictEqual(errorTagOf(encoding), "AgentToolResultEncodingError");
        assert.deepInclude(encoding.failed[0] as object, { failureHandling: "propagated" });
        assert.strictEqual(defect.requests.length, 1);
      }),
  );

  it.effect(
    "[Z-06][Z-11] a policy that cannot be asked about an inner call ends the run as a check error, not as a denial",
    () =>
      Effect.gen(function* () {
        const run = yield* runProgram((broker) => caught(broker.invoke(call("send", "a"))), {
          run: {
            run: {
              toolAuthorization: {
                authorize: (request) =>
                  request.programmatic === undefined
                    ? Effect.succeed({ _tag: "allowed" })
                    : Effect.fail(
                        new AgentToolAuthorizationCheckError({
                          ...request.call,
                          message: "The store is away.",
                          cause: "test",
                        }),
                      ),
              },
            },
          },
        });
        assert.strictEqual(errorTagOf(run), "AgentToolAuthorizationCheckError");
        assert.strictEqual(eventsOfKind(run.events, "RunFailed")[0]?.finishReason, "check-failed");
        assert.deepStrictEqual(run.log, ["outer"]);
      }),
  );

  it.effect(
    "[T-18][CM-01] a result over the bound is the same envelope for the program as in the event",
    () =>
      Effect.gen(function* () {
        const run = yield* runProgram((broker) => broker.invoke(call("look", "big")), {
          behave: () => Effect.succeed("x".repeat(100_000)),
        });
        const [inner] = eventsOfKind(run.events, "ToolCallSucceeded");
        assert.notStrictEqual(inner?.callId, "o");
        assert.strictEqual(inner?.originalBytes, 100_002);
        assert.isBelow(String(run.told).length, 60_000);
      }),
  );
});
