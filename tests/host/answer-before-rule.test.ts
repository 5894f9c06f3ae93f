import { assert, describe, it } from "@effect/vitest";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Schema from "effect/Schema";
import * as Tool from "effect/unstable/ai/Tool";
import * as Toolkit from "effect/unstable/ai/Toolkit";
import * as Agent from "#lib/agent/Agent.ts";
import type { ResolveUnknown } from "#lib/contract/commands.ts";
import { AgentId, TenantId, WorkerId } from "#lib/contract/ids.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { layerMemory } from "#lib/durable/memory/layer.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { Unknowns } from "#lib/durable/Unknowns.ts";
import { AgentRegistry, register } from "#lib/host/AgentRegistry.ts";
import { ThreadDriver } from "#lib/host/ThreadDriver.ts";
import { bob } from "#lib/testing/conformance/harness.ts";
import { ada } from "#lib/testing/conformance/run-records.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import type { ToolProbe } from "#lib/tool-probe.ts";
import { unknownOutcome } from "#lib/unknown-outcome.ts";

const tenantId = TenantId.make("acme");

/** A run whose only effect is in doubt, and whose destination is being asked while Bob answers. */
const answeredWhileAsked = Effect.fnUntraced(function* (
  said: Pick<ResolveUnknown, "resolution" | "result" | "isFailure">,
) {
  let ran = 0;
  const Send = Tool.make("send", { success: Schema.String });
  const toolkit = Toolkit.make(Send);
  const agent = Agent.make("sender", {
    input: Schema.Json,
    output: Schema.String,
    instructions: "Send.",
    toolkit,
  });
  const handlers = toolkit.toLayer({
    send: () =>
      Effect.suspend(() => {
        ran += 1;
        return ran === 1 ? unknownOutcome("no reply") : Effect.succeed("sent again");
      }),
  });
  const ask: ToolProbe["ask"] = () =>
    Effect.gen(function* () {
      const { runId } = receipt;
      const [doubt] = yield* unknowns.ofRun({ tenantId, runId });
      if (doubt === undefined) return yield* Effect.die("The doubt is on record by now.");
      yield* unknowns.resolve({
        tenantId,
        unknownId: doubt.unknownId,
        actor: bob,
        ...said,
        parametersDigest: doubt.parametersDigest,
        reason: "looked",
        evidence: "ledger",
        commandId: null,
      });
      return { _tag: "not-found" as const, detail: "no entry" };
    });
  const unknowns = yield* Unknowns;
  const probes = { send: { ask, settles: { notFound: "safe-to-retry" } } } as const;
  const host = ThreadDriver.layer(WorkerId.make("worker-1")).pipe(
    Layer.provideMerge(
      AgentRegistry.layer(Effect.all([register(Agent.bind(agent, handlers), { probes })])),
    ),
    Layer.provideMerge(ScriptedModel.layer([toolCalls([{ id: "a", name: "send" }]), text("done")])),
  );
  const receipt = yield* (yield* SubmissionLedger).admit({
    tenantId,
    agentId: AgentId.make("sender"),
    threadId: undefined,
    principal: ada,
    idempotencyKey: "key",
    input: "send",
    title: "send",
  });
  const { threadId, runId } = receipt;
  yield* Effect.provide(
    Effect.flatMap(ThreadDriver, (driver) => driver.drive({ tenantId, threadId })),
    host,
  );
  const stored = yield* (yield* Journal).read({
    tenantId,
    threadId,
    runId,
    after: 0,
    limit: 1_000,
  });
  const records = stored.map(({ record }) => record);
  const resolvedBy = records.flatMap((record) =>
    record._tag === "UnknownResolved" ? [record.actor.id] : [],
  );
  const settled = records.findLast((record) => record._tag === "RunSettled");
  return { ran, resolvedBy, outcome: settled?.outcome };
});

describe("a person who answers while an attempt asks a probe", () => {
  it.effect("[DU-07] ends the run: the rule's retry does not run", () =>
    Effect.gen(function* () {
      const end = yield* answeredWhileAsked({ resolution: "abort-submission" });
      assert.deepStrictEqual(end, { ran: 1, resolvedBy: [bob.id], outcome: "aborted" });
    }).pipe(Effect.provide(layerMemory)),
  );

  it.effect("[DU-07] gives the result: nothing runs again and the run goes on in the attempt", () =>
    Effect.gen(function* () {
      const end = yield* answeredWhileAsked({
        resolution: "completed-with-result",
        result: "it was sent",
        isFailure: false,
      });
      assert.deepStrictEqual(end, { ran: 1, resolvedBy: [bob.id], outcome: "completed" });
    }).pipe(Effect.provide(layerMemory)),
  );
});
