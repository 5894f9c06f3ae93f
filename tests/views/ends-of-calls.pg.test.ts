/** What a run's page says of calls that no record of their own has ended: in doubt, broken, or beside a broken one. */
import { Cause, Effect } from "effect";
import { assert, describe, it } from "vitest";
import { authorizeBatch } from "#lib/authorization/authorize-batch.ts";
import { DiagnosticId } from "#lib/contract/ids.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { RunRecord } from "#lib/contract/records.ts";
import { capture } from "#lib/failure-diagnostic.ts";
import { callId } from "#tests/postgres/records.ts";
import { adminApi } from "#tests/support/admin-api.ts";
import type { Answer } from "#tests/support/api-server.ts";
import { gatedRun, startedRun, unknownRun } from "#tests/support/ledger-fixtures.ts";

const admin = adminApi();
const { get } = admin;

const callsOf = async (path: string): Promise<ReadonlyArray<Answer>> =>
  (await get(path)).turnViews.flatMap(({ calls }: Answer) => calls);

/** The run after its last event; the log gives places to events a moment after the facts. */
const settledMoment = async (path: string): Promise<Answer> => {
  for (;;) {
    const { run } = await get(`${path}/moments/999999999`);
    if (run.settledAt !== null) return run;
    await new Promise((done) => setTimeout(done, 30));
  }
};

const resolve = async (unknownId: string, resolution: string) => {
  const { parametersDigest } = await get(`/unknowns/${unknownId}`);
  const answer = await admin.api.request(`/unknowns/${unknownId}/resolution`, {
    method: "POST",
    token: admin.ann.token,
    body: {
      commandId: `c-${unknownId}`,
      resolution,
      parametersDigest,
      reason: "Enough of it.",
      evidence: "Their ledger.",
    },
  });
  assert.strictEqual(answer.status, 200, JSON.stringify(answer.body));
};

type Started = Effect.Success<ReturnType<typeof startedRun>>;

/** The turn of a run with calls of the readonly class. */
const readonlyTurn = ({ records }: Pick<Started, "records">, ids: ReadonlyArray<string>) => {
  const turn = records.turn(ids);
  return {
    ...turn,
    calls: turn.calls.map((call) => ({ ...call, executionClass: "readonly" as const })),
  };
};

let broken = 0;

/** A defect that ended the run, as the engine records it of the call. */
const defect = ({ records }: Pick<Started, "records">, id: string, cause: Cause.Cause<unknown>) => {
  const diagnosticId = DiagnosticId.make(`dia_${(broken += 1).toString(16).padStart(32, "0")}`);
  const settled: RunRecord = {
    ...records.runSettled("failed"),
    finishReason: "defect",
    failure: { errorTag: "Defect", message: "safe words", diagnosticId },
  };
  const diagnostic = {
    diagnosticId,
    fingerprint: "0123456789abcdef",
    title: "Defect: Error: bug",
    toolName: "refund",
    callId: callId(id),
    // A captured diagnostic is JSON, of which its own type says less.
    encoded: capture(cause) as unknown as Json,
  };
  return { settled, diagnostic, diagnosticId };
};

const bug = Cause.die(new Error("bug"));

/** What a policy's own defect ends a run with. */
const brokenPolicyCause = async () => {
  const exit = await Effect.runPromiseExit(
    authorizeBatch({ authorize: () => Effect.die(new Error("policy bug")) }, [
      {
        threadId: "thr",
        runId: "run",
        turnId: "turn-1",
        turnNumber: 1,
        input: null,
        call: { toolCallId: "a", toolName: "refund", parameters: {}, executionClass: "readonly" },
      },
    ]),
  );
  if (exit._tag === "Success") throw new Error("a broken policy allowed a call");
  return exit.cause;
};

describe("a call whose handler broke", () => {
  it("[F-03][DX-07] a readonly call that broke has failed, with its evidence; of one beside it nobody knows whether it began", async () => {
    const run = await admin.api.run(startedRun());
    const { diagnostic, diagnosticId, settled } = defect(run, "b", bug);
    await admin.api.run(
      run.append(
        [readonlyTurn(run, ["a", "b", "c"]), run.records.settled("a"), settled],
        [diagnostic],
      ),
    );
    const path = `/runs/${run.place.runId}`;
    const calls = await callsOf(path);
    assert.deepStrictEqual(
      calls.map(({ state, broke }) => [state, broke]),
      [
        ["succeeded", undefined],
        ["failed", true],
        ["aborted", undefined],
      ],
    );
    const [, b, c] = calls;
    assert.strictEqual(b?.failure.diagnosticId, diagnosticId);
    assert.strictEqual(b?.failure.errorTag, "Defect");
    assert.include(b?.failure.message, "broke while it ran");
    assert.isTrue(b?.isFailure);
    assert.isNotNull(b?.endedAt);
    assert.include(c?.failure.message, "no record says whether this one had begun");
    const { items } = await get(`${path}/turns?first=1`);
    assert.deepStrictEqual(items[0].calls, calls, "however the turn is read");
    const last = await settledMoment(path);
    assert.deepStrictEqual(
      last.turnViews[0].calls.map(({ state, broke }: Answer) => [state, broke]),
      calls.map(({ state, broke }) => [state, broke]),
      "the past of its last event is the present",
    );
  });

  it("[Z-06] where the policy broke that was asked about it, the call was never executed", async () => {
    const cause = await brokenPolicyCause();
    const run = await admin.api.run(startedRun());
    const { diagnostic, settled } = defect(run, "a", cause);
    await admin.api.run(run.append([readonlyTurn(run, ["a"]), settled], [diagnostic]));
    const [call] = await callsOf(`/runs/${run.place.runId}`);
    assert.deepStrictEqual([call?.state, call?.failure], ["not-executed", null]);
  });

  it("[Z-06][CM-03] where the policy broke that was asked about a program's call, the program's own was running, and nobody knows of those beside it", async () => {
    const cause = await brokenPolicyCause();
    const run = await admin.api.run(startedRun());
    // The inner call was never declared: the policy is asked before.
    const { diagnostic, settled } = defect(run, "inner", cause);
    await admin.api.run(run.append([readonlyTurn(run, ["a", "b"]), settled], [diagnostic]));
    const calls = await callsOf(`/runs/${run.place.runId}`);
    assert.deepStrictEqual(
      calls.map(({ state, failure }) => [state, failure.errorTag]),
      [
        ["aborted", "RunEnded"],
        ["aborted", "RunEnded"],
      ],
    );
    assert.include(calls[0]?.failure.message, "policy");
  });

  it("[F-03] a call that makes a promise first, and has none, never began", async () => {
    const run = await admin.api.run(startedRun());
    const { diagnostic, settled } = defect(run, "a", bug);
    await admin.api.run(run.append([run.records.turn(["a", "b"]), settled], [diagnostic]));
    const calls = await callsOf(`/runs/${run.place.runId}`);
    assert.deepStrictEqual(
      calls.map(({ state, failure }) => [state, failure]),
      [
        ["not-executed", null],
        ["not-executed", null],
      ],
    );
  });

  /** A readonly call that one of the model's made, as it is declared when it may start. */
  const innerOf = (run: Started, parent: string, id: string, turn: number): RunRecord => {
    const [declared] = readonlyTurn(run, [id]).calls;
    if (declared === undefined) throw new Error("no call");
    return {
      _tag: "InnerCallDeclared",
      runId: run.place.runId,
      turn,
      declared: { ...declared, parentCallId: callId(parent) },
    };
  };

  it("[F-03][CM-03] one inside another had it under way; calls of earlier turns, ids alike, are not of its batch", async () => {
    const run = await admin.api.run(startedRun());
    const { diagnostic, settled } = defect(run, "inner", bug);
    await admin.api.run(
      run.append(
        [
          readonlyTurn(run, ["p"]),
          // Its program went on without them.
          innerOf(run, "p", "inner", 1),
          innerOf(run, "p", "other", 1),
          run.records.settled("p"),
          { ...readonlyTurn(run, ["p", "q"]), turn: 2 },
          innerOf(run, "p", "inner", 2),
          settled,
        ],
        [diagnostic],
      ),
    );
    const calls = await callsOf(`/runs/${run.place.runId}`);
    const told = ({ callId: id, failure, state, turn }: Answer) => [
      `${turn} ${id}`,
      state,
      failure?.message.slice(0, 30) ?? null,
    ];
    assert.deepStrictEqual(
      calls.flatMap((call) => [told(call), ...(call.inner ?? []).map(told)]),
      [
        [`1 ${callId("p")}`, "succeeded", null],
        [`1 ${callId("inner")}`, "not-executed", null],
        [`1 ${callId("other")}`, "not-executed", null],
        [`2 ${callId("p")}`, "aborted", "A call that this one had made "],
        [`2 ${callId("inner")}`, "failed", "The tool broke while it ran, i"],
        [`2 ${callId("q")}`, "aborted", "The run ended because another "],
      ],
    );
  });

  it("[OP-05] an approved readonly call that broke has failed on its card too", async () => {
    const run = await admin.api.run(startedRun());
    const { place, records } = run;
    const asked = records.approvalRequested("a");
    const { diagnostic, settled } = defect(run, "a", bug);
    await admin.api.run(
      run.append([readonlyTurn(run, ["a"]), asked, records.decided("a"), settled], [diagnostic]),
    );
    const card = await get(`/approvals/${asked.requestId}`);
    assert.strictEqual(card.runId, place.runId);
    assert.strictEqual(card.delivery.effect, "failed");
    assert.deepStrictEqual(
      card.batch.map(({ state }: Answer) => state),
      ["failed"],
    );
  });
});

describe("a call in doubt", () => {
  it("[C074][C102][DU-07] stands still since its doubt, which says how and by whom it ended when the run is aborted instead", async () => {
    const { append, place, records, unknownId } = await admin.api.run(unknownRun());
    const path = `/runs/${place.runId}`;
    const [open] = await callsOf(path);
    assert.strictEqual(open?.state, "unknown");
    assert.isNull(open?.endedAt);
    assert.isAtLeast(open?.doubt.since, open?.startedAt);
    assert.deepStrictEqual(
      [open?.doubt.resolution, open?.doubt.actor, open?.doubt.resolvedAt],
      [null, null, null],
    );
    await resolve(unknownId, "abort-submission");
    await admin.api.run(
      append([
        {
          ...records.resolved("call-1", "abort-submission"),
          actor: { kind: "operator", id: admin.ann.operatorId, name: "Ann" },
        },
        {
          ...records.runSettled("aborted"),
          failure: { errorTag: "RunAborted", message: "Enough of it." },
        },
      ]),
    );
    const [left] = await callsOf(path);
    assert.strictEqual(left?.state, "unknown", "that the run ended says nothing of the effect");
    assert.strictEqual(left?.doubt.since, open?.doubt.since);
    assert.strictEqual(left?.doubt.resolution, "abort-submission");
    assert.strictEqual(left?.doubt.actor.id, admin.ann.operatorId);
    const run = await get(path);
    assert.deepStrictEqual(run.abort, {
      actor: left?.doubt.actor,
      reason: "Enough of it.",
      at: left?.doubt.resolvedAt,
    });
    const { abort } = await settledMoment(path);
    assert.deepStrictEqual(
      [abort?.actor, abort?.reason],
      [run.abort.actor, run.abort.reason],
      "the past of its last event names them too",
    );
  });

  it("[OP-05][C103] is in doubt on its approval's card too: its effect is not known, and that is said", async () => {
    const { append, place, records, requestIds } = await admin.api.run(gatedRun());
    await admin.api.run(
      append([
        records.decided("call-1"),
        records.prepared("call-1"),
        records.unknown("call-1"),
        records.suspended("unknown"),
      ]),
    );
    const { delivery, runId } = await get(`/approvals/${requestIds[0]}`);
    assert.strictEqual(runId, place.runId);
    assert.deepStrictEqual([delivery.effect, delivery.effectAt], ["unknown", null]);
  });

  it("[DU-09] is answered also after its run has ended, though the call itself stays unknown", async () => {
    const run = await admin.api.run(startedRun());
    const unknown = run.records.unknown("a", true);
    await admin.api.run(
      run.append([
        run.records.turn(["a"]),
        run.records.prepared("a"),
        unknown,
        run.records.runSettled("failed"),
      ]),
    );
    await resolve(unknown.unknownId, "never-happened");
    const [call] = await callsOf(`/runs/${run.place.runId}`);
    assert.strictEqual(call?.state, "unknown");
    assert.strictEqual(call?.doubt.resolution, "never-happened");
    assert.strictEqual((await get(`/runs/${run.place.runId}`)).abort, null);
  });
});
