import { assert, describe, it } from "@effect/vitest";
import { Deferred, Effect } from "effect";
import type { RunContext } from "#lib/engine/RunContext.ts";
import { unknownOutcome } from "#lib/unknown-outcome.ts";
import { call } from "#tests/broker/desk.ts";
import {
  durableRun,
  losesOnce,
  sendTwice,
  told,
  unknownTools,
  withModel,
} from "#tests/broker/durable-run.ts";
import { abort, kindOf, openUnknowns, resolve } from "#tests/engine/durable-harness.ts";

describe("doubt inside a call", () => {
  for (const outerClass of ["uncertain", "idempotent"] as const) {
    it.effect(
      `[DU-04][CM-01] an inner call that its program interrupts is in doubt, and with it an ${outerClass} outer call: the model is told nothing invented`,
      () =>
        withModel(
          Effect.gen(function* () {
            let hangs = true;
            const started = yield* Deferred.make<void>();
            const run = durableRun(
              outerClass,
              (broker) =>
                Effect.raceFirst(
                  broker.invoke(call("send", "slow")),
                  Effect.as(Deferred.await(started), "timed out"),
                ),
              () =>
                hangs
                  ? Effect.andThen(Deferred.succeed(started, undefined), Effect.never)
                  : Effect.succeed("sent"),
            );
            assert.strictEqual(yield* run.next(), "suspended");
            assert.deepStrictEqual(
              unknownTools(run.store),
              outerClass === "uncertain" ? ["outer", "send"] : ["send"],
            );
            hangs = false;
            run.store.undelivered.push(
              ...openUnknowns(run.store).map((unknown) =>
                resolve(unknown, "completed-with-result", `resolved ${unknown.toolName}`),
              ),
            );
            assert.strictEqual(yield* run.next(), "completed answered");
            assert.deepStrictEqual(
              kindOf(run.store, "ToolCallSettled")
                .filter(({ toolName }) => toolName === "send")
                .map(({ failureHandling, result, source }) => [source, result, failureHandling]),
              [["resolution", "resolved send", undefined]],
            );
            assert.deepStrictEqual(
              run.log.filter((line) => line !== "outer"),
              ["send slow"],
            );
          }),
        ),
    );
  }

  it.effect(
    "[DU-04] an inner handler that does not know how it ended puts its outer call in doubt, even where the program catches it",
    () =>
      withModel(
        Effect.gen(function* () {
          const run = durableRun(
            "uncertain",
            (broker) =>
              Effect.catchCause(broker.invoke(call("send", "a")), () => Effect.succeed("fine")),
            () => unknownOutcome("sent, no answer"),
          );
          assert.strictEqual(yield* run.next(), "suspended");
          assert.deepStrictEqual(unknownTools(run.store), ["outer", "send"]);
          assert.deepStrictEqual(kindOf(run.store, "ToolCallSettled"), []);
        }),
      ),
  );

  it.effect(
    "[DU-04][DU-09] a lost idempotent inner call that the program does not make again is in doubt, not forgotten",
    () =>
      withModel(
        Effect.gen(function* () {
          let times = 0;
          const run = durableRun(
            "idempotent",
            (broker) => (times++ === 0 ? broker.invoke(call("put", "a")) : Effect.succeed("short")),
            losesOnce("a"),
          );
          yield* run.next();
          assert.strictEqual(yield* run.next(), "suspended");
          const [unknown] = openUnknowns(run.store);
          assert.deepInclude({ ...unknown }, { toolName: "put", reason: "process-lost" });
          run.store.undelivered.push(
            ...openUnknowns(run.store).map((one) => resolve(one, "never-happened")),
          );
          assert.strictEqual(yield* run.next(), "completed answered");
          assert.strictEqual(yield* told, "short");
        }),
      ),
  );

  const nowRefused: ReadonlyArray<readonly [string, Partial<RunContext>, string]> = [
    [
      "hidden",
      {
        visibility: {
          visible: ({ toolNames }) => Effect.succeed(toolNames.filter((name) => name !== "put")),
        },
      },
      "ProgrammaticToolNotAllowed",
    ],
    [
      "denied",
      {
        authorization: {
          authorize: ({ call: { toolName } }) =>
            Effect.succeed(
              toolName === "put" ? { _tag: "denied", reason: "not now" } : { _tag: "allowed" },
            ),
        },
      },
      "ProgrammaticToolAuthorizationDenied",
    ],
  ];
  for (const [how, context, tag] of nowRefused) {
    it.effect(
      `[DU-04][Z-07][X-14] a lost inner call that is ${how} today is not recorded as never made: first somebody says what became of it`,
      () =>
        withModel(
          Effect.gen(function* () {
            const run = durableRun(
              "idempotent",
              (broker) =>
                Effect.match(broker.invoke(call("put", "a")), {
                  onFailure: (error) => error._tag,
                  onSuccess: String,
                }),
              losesOnce("a"),
            );
            yield* run.next();
            assert.strictEqual(yield* run.next({ context }), "suspended");
            assert.deepStrictEqual(unknownTools(run.store), ["put"]);
            assert.deepStrictEqual(kindOf(run.store, "ToolCallSettled"), []);
            run.store.undelivered.push(
              ...openUnknowns(run.store).map((one) => resolve(one, "never-happened")),
            );
            assert.strictEqual(yield* run.next({ context }), "completed answered");
            assert.strictEqual(yield* told, tag);
            assert.deepStrictEqual(run.log, ["outer", "put a", "outer", "outer"]);
          }),
        ),
    );
  }

  it.effect(
    "[DU-09][DU-12] an abort in the middle of an inner call lists it and its outer call as unknown with the settlement",
    () =>
      withModel(
        Effect.gen(function* () {
          const run = durableRun("idempotent", sendTwice, losesOnce("b"));
          yield* run.next();
          run.store.undelivered.push(abort);
          assert.strictEqual(yield* run.next(), "aborted aborted");
          assert.deepStrictEqual(
            kindOf(run.store, "ToolCallUnknown").map(({ afterSettlement, toolName }) => [
              toolName,
              afterSettlement,
            ]),
            [
              ["outer", true],
              ["send", true],
            ],
          );
        }),
      ),
  );

  it.effect("[DU-09][F-03] a defect inside ends the run with every doubt on record", () =>
    withModel(
      Effect.gen(function* () {
        const run = durableRun("uncertain", sendTwice, (id) =>
          id === "b" ? Effect.die(new Error("bug")) : Effect.succeed("ok"),
        );
        assert.strictEqual(yield* run.next(), "failed defect");
        assert.deepStrictEqual(
          kindOf(run.store, "ToolCallUnknown").map(({ reason, toolName }) => [toolName, reason]),
          [
            ["outer", "handler-defect"],
            ["send", "handler-defect"],
          ],
        );
      }),
    ),
  );

  it.effect("[DU-07] aborting from an inner doubt ends the run", () =>
    withModel(
      Effect.gen(function* () {
        const run = durableRun("idempotent", sendTwice, losesOnce("b"));
        yield* run.next();
        yield* run.next();
        run.store.undelivered.push(
          ...openUnknowns(run.store).map((unknown) => resolve(unknown, "abort-submission")),
        );
        assert.strictEqual(yield* run.next(), "aborted aborted");
        assert.deepStrictEqual(run.log, ["outer", "send a", "send b"]);
      }),
    ),
  );

  it.effect(
    "[F-08] stored arguments of an inner call that do not match their digest stop the run before anything runs",
    () =>
      withModel(
        Effect.gen(function* () {
          const run = durableRun("idempotent", sendTwice, losesOnce("b"));
          yield* run.next();
          const { appends } = run.store;
          run.store.appends.splice(
            0,
            appends.length,
            ...appends.map((records) =>
              records.map((record) =>
                record._tag === "InnerCallDeclared"
                  ? {
                      ...record,
                      declared: { ...record.declared, effectiveParameters: { id: "tampered" } },
                    }
                  : record,
              ),
            ),
          );
          assert.strictEqual(yield* run.next(), "failed corrupt-evidence");
          assert.deepStrictEqual(run.log, ["outer", "send a", "send b"]);
        }),
      ),
  );
});
