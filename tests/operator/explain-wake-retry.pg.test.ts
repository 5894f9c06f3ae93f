/** Explain, wake and retry over real HTTP, on runs that the real ledger put where they are (OP-12). */
import { Effect } from "effect";
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import { WorkerId } from "#lib/contract/ids.ts";
import { EventLog } from "#lib/durable/EventLog.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { startApi, type TestApi, type TestOperator } from "#tests/support/api-server.ts";
import { gatedRun, startedRun, unknownRun } from "#tests/support/ledger-fixtures.ts";
import type { RunPlace } from "#tests/postgres/records.ts";

let api: TestApi;
let ann: TestOperator;
let bob: TestOperator;
let viewer: TestOperator;
let admin: TestOperator;
let ids = 0;
const newCommand = () => `steer-command-${(ids += 1)}`;

beforeAll(async () => {
  api = await startApi();
  ann = await api.addOperator("operator");
  bob = await api.addOperator("operator");
  viewer = await api.addOperator("viewer");
  admin = await api.addOperator("admin");
});
afterAll(() => api.close());

const explain = (place: RunPlace, by = viewer) =>
  api.request(`/runs/${place.runId}/explanation`, { token: by.token });
const act = (verb: "wake" | "retry", place: RunPlace, by: TestOperator, commandId = newCommand()) =>
  api.request(`/runs/${place.runId}/${verb}`, {
    token: by.token,
    body: { commandId, reason: "it should go on" },
  });

/** A run whose attempt was given back `times` times, due again in ten minutes. */
const backingOff = (times: number) =>
  Effect.gen(function* () {
    const ledger = yield* SubmissionLedger;
    const { place } = yield* startedRun();
    for (let lost = 1; lost <= times; lost += 1) {
      yield* ledger.postpone({
        ...place,
        epoch: lost,
        delaySeconds: lost === times ? 600 : 0,
        reason: "The model could not be reached.",
      });
      if (lost < times)
        yield* ledger.claim({ ...place, workerId: WorkerId.make("worker-fixture") });
    }
    return { place };
  });

const claimNow = (place: RunPlace) =>
  api.run(
    Effect.flatMap(SubmissionLedger, (ledger) =>
      ledger.claim({ ...place, workerId: WorkerId.make("worker-next") }),
    ),
  );

/** A run that was given up as poison; `started` has a call whose effect may have happened. */
const poisoned = (started: boolean) =>
  Effect.gen(function* () {
    const { place, records, append } = yield* startedRun();
    const settled = { ...records.runSettled("failed"), finishReason: "poisoned" as const };
    yield* append(
      started
        ? [records.turn(["call-1"]), records.prepared("call-1"), records.settled("call-1"), settled]
        : [settled],
    );
    return { place };
  });

const auditOf = async (target: string) => {
  const { body } = await api.request("/audit?limit=200", { token: admin.token });
  return body.items.filter((row: { target: string }) => row.target === target);
};

describe("explain", () => {
  it("[OP-12] says what holds the run up, when the next attempt is due, and each recorded decision with its meaning", async () => {
    const { place } = await api.run(backingOff(2));
    const { status, body } = await explain(place);
    assert.strictEqual(status, 200);
    assert.include(body.now, "The model could not be reached.");
    assert.deepStrictEqual([body.lostAttempts, body.maxLostAttempts], [2, 8]);
    assert.approximately(body.nextAt - body.serverTime, 600_000, 30_000);
    assert.isTrue(body.wake.possible);
    assert.isTrue(body.retry.possible);
    assert.deepStrictEqual(
      body.decisions.map((one: { decision: string; explanation: string; meaning: string }) => [
        one.decision,
        one.explanation,
        one.meaning,
      ]),
      [["first-attempt", "because", "Nothing of the run had happened before."]],
    );
  });

  it("[OP-12] a run behind another says whose turn it is; one that waits for people says so", async () => {
    const first = await api.run(startedRun());
    const second = await api.run(
      Effect.flatMap(SubmissionLedger, (ledger) =>
        ledger.admit({
          tenantId: first.place.tenantId,
          agentId: "desk" as never,
          threadId: first.place.threadId,
          principal: { kind: "operator", id: "ada", name: "Ada" },
          idempotencyKey: newCommand(),
          input: { text: "second" },
          title: "second",
        }),
      ),
    );
    const behind = await explain({ ...first.place, ...second });
    assert.include(behind.body.next, first.place.runId);
    assert.deepInclude(behind.body.wake, { possible: false });
    const gated = await api.run(gatedRun());
    const waiting = await explain(gated.place);
    assert.include(waiting.body.now, "1 approval is pending");
    assert.isFalse(waiting.body.wake.possible);
    assert.isNull(waiting.body.nextAt);
  });

  it("[OP-12] a foreign or missing run is not found", async () => {
    const stranger = await api.addOperator("operator", "elsewhere");
    const { place } = await api.run(startedRun());
    assert.strictEqual((await explain(place, stranger)).status, 404);
    assert.strictEqual((await act("wake", place, stranger)).status, 404);
    assert.strictEqual((await act("retry", place, stranger)).status, 404);
  });
});

describe("wake", () => {
  it("[OP-12] a run that backs off is due now, is woken once per command, and keeps its lost attempts", async () => {
    const { place } = await api.run(backingOff(2));
    assert.strictEqual((await claimNow(place))._tag, "None");
    const woken = api.woken.length;
    const commandId = newCommand();
    const first = await act("wake", place, ann, commandId);
    assert.strictEqual(first.status, 200);
    assert.isNull(first.body.nextAt);
    assert.strictEqual((await act("wake", place, ann, commandId)).status, 200);
    assert.deepStrictEqual(api.woken.slice(woken), [
      { tenantId: place.tenantId, threadId: place.threadId },
    ]);
    const claim = await claimNow(place);
    assert.strictEqual(claim._tag === "Some" ? claim.value.lostAttempts : -1, 2);
    assert.deepInclude((await auditOf(place.runId))[0], {
      verb: "wake-run",
      accepted: true,
      reason: "it should go on",
    });
  });

  it("[OP-12] what waits for a person, runs or is settled is refused, saying why, and is in the audit", async () => {
    const unknown = await api.run(unknownRun());
    const waiting = await act("wake", unknown.place, ann);
    assert.deepStrictEqual([waiting.status, waiting.body._tag], [409, "WakeRefused"]);
    assert.include(waiting.body.message, "effect in doubt");
    assert.deepInclude((await auditOf(unknown.place.runId))[0], {
      verb: "wake-run",
      accepted: false,
    });
    const running = await api.run(startedRun());
    assert.strictEqual((await act("wake", running.place, ann)).body._tag, "WakeRefused");
    const ended = await api.run(poisoned(false));
    assert.strictEqual((await act("wake", ended.place, ann)).body._tag, "RunAlreadySettled");
  });

  it("[Z-12] a viewer may read the explanation, not wake or retry", async () => {
    const { place } = await api.run(backingOff(1));
    assert.strictEqual((await explain(place)).status, 200);
    assert.strictEqual((await act("wake", place, viewer)).status, 403);
    assert.strictEqual((await act("retry", place, viewer)).status, 403);
    assert.strictEqual((await claimNow(place))._tag, "None");
  });
});

describe("what other browsers hear", () => {
  it("[OP-11][OP-12] putting off, waking and retrying are events of the run, each with its time or who did it", async () => {
    const { place } = await api.run(backingOff(1));
    await act("wake", place, ann);
    const retried = await api.run(backingOff(1));
    await act("retry", retried.place, bob);
    const eventsOf = async ({ runId, tenantId }: RunPlace) => {
      const events = await api.run(
        Effect.flatMap(EventLog, (log) =>
          log
            .read({ tenantId, runId, after: 0, limit: 100 })
            .pipe(
              Effect.repeat({ until: (page) => page.at(-1)?.event._tag === "RunWoken" }),
              Effect.timeout("20 seconds"),
            ),
        ),
      );
      return events.slice(-2).map(({ event }) => event);
    };
    const [putOff, woken] = await eventsOf(place);
    assert.deepInclude(putOff, {
      _tag: "AttemptPutOff",
      reason: "The model could not be reached.",
    });
    assert.deepInclude(woken, { _tag: "RunWoken" });
    assert.strictEqual(woken?._tag === "RunWoken" ? woken.actor.id : "", ann.operatorId);
    const [, again] = await eventsOf(retried.place);
    assert.strictEqual(again?._tag === "RunWoken" ? again.actor.id : "", bob.operatorId);
  });
});

describe("retry", () => {
  it("[OP-12] a run that backs off gets its next attempt now, counted from zero, on the same records", async () => {
    const { place } = await api.run(backingOff(3));
    const { status, body } = await act("retry", place, ann);
    assert.deepStrictEqual([status, body.kind, body.runId], [200, "new-attempt", place.runId]);
    const claim = await claimNow(place);
    assert.isTrue(claim._tag === "Some");
    if (claim._tag === "Some") {
      assert.strictEqual(claim.value.lostAttempts, 0);
      assert.strictEqual(claim.value.records.length, 2);
    }
  });

  it("[OP-12] a poisoned run is submitted again once, in the requester's name, however many people ask", async () => {
    const { place } = await api.run(poisoned(false));
    const commandId = newCommand();
    const first = await act("retry", place, ann, commandId);
    assert.deepStrictEqual([first.status, first.body.kind], [200, "new-submission"]);
    assert.notStrictEqual(first.body.runId, place.runId);
    const again = await act("retry", place, ann, commandId);
    assert.deepStrictEqual(again.body, first.body);
    const other = await act("retry", place, bob);
    assert.strictEqual(other.body.runId, first.body.runId);
    const { body } = await api.request(`/runs/${first.body.runId}`, { token: ann.token });
    assert.deepInclude(body, { requester: "Ada", threadId: place.threadId, state: "queued" });
    assert.deepStrictEqual(body.input, { text: "hello" });
  });

  it("[OP-12] [DU-04] a run in which a call with an effect had started is never submitted again", async () => {
    const { place } = await api.run(poisoned(true));
    const { status, body } = await act("retry", place, ann);
    assert.deepStrictEqual([status, body._tag], [409, "RetryRefused"]);
    assert.include(body.message, "had started in this run");
    assert.strictEqual((await claimNow(place))._tag, "None");
    assert.isFalse((await explain(place)).body.retry.possible);
  });

  it("[OP-12] nothing that has not failed is retried", async () => {
    const gated = await api.run(gatedRun());
    assert.strictEqual((await act("retry", gated.place, ann)).body._tag, "RetryRefused");
    const done = await api.run(
      Effect.gen(function* () {
        const run = yield* startedRun();
        yield* run.append([run.records.runSettled()]);
        return run;
      }),
    );
    assert.include((await act("retry", done.place, ann)).body.message, "completed");
  });
});
