/** A run's page in parts: its newest turns, the older ones, the times of all, whole values, and its past. */
import { Effect, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { assert, describe, it } from "vitest";
import { adminApi } from "#tests/support/admin-api.ts";
import type { Answer } from "#tests/support/api-server.ts";
import { RunTimes } from "#lib/contract/http/run-parts.ts";
import { sha256Hex } from "#lib/contract/json/digest.ts";
import { largeResult } from "#lib/testing/conformance/result-cases.ts";
import { readRunTimes } from "#server/views/run-times.ts";
import { startedRun } from "#tests/support/ledger-fixtures.ts";

const admin = adminApi();
const { get } = admin;

/** The text of the times, read by the schema that the route promises: no key more, none less. */
const decodeTimes = Schema.decodeUnknownSync(Schema.fromJsonString(RunTimes), {
  onExcessProperty: "error",
});

const callsPerTurn = 25;

/** Turn `t` calls `c0` to `c24`, and each has succeeded. */
const writeTurns = (turns: number) =>
  Effect.gen(function* () {
    const run = yield* startedRun();
    const ids = Array.from({ length: callsPerTurn }, (_, index) => `c${index}`);
    for (let turn = 1; turn <= turns; turn++) {
      yield* run.append([
        run.records.turn(ids, { turn, parameters: { turn } }),
        ...ids.map((id) => ({ ...run.records.settled(id, { turn, id }), turn })),
      ]);
    }
    return run;
  });

describe("a long run in parts", () => {
  it("[C080] [OP-07] comes with its newest turns and its first; the turns before come ten at a time and all of them are one whole", async () => {
    const { place } = await admin.api.run(writeTurns(37));
    const run = await get(`/runs/${place.runId}`);
    assert.deepStrictEqual(run.earlier, { turns: 34, calls: 850 });
    assert.strictEqual(run.turnViews[0].turn, 35);
    const turns: Array<Answer> = [];
    for (const first of [1, 11, 21, 31])
      turns.push(...(await get(`/runs/${place.runId}/turns?first=${first}`)).items);
    assert.deepStrictEqual(
      turns.slice(0, 34).map(({ turn }) => turn),
      Array.from({ length: 34 }, (_, index) => index + 1),
    );
    const all = [...turns.slice(0, 34), ...run.turnViews];
    for (const { turn, calls } of all) {
      assert.strictEqual(calls.length, callsPerTurn);
      for (const call of calls) {
        assert.deepStrictEqual(call.parameters, { turn });
        assert.deepStrictEqual(call.result, { turn, id: call.callId });
      }
    }
    assert.deepStrictEqual(run.opening, [turns[0]]);
    const times = await get(`/runs/${place.runId}/times?before=35`);
    assert.deepStrictEqual(
      times.items.map(({ turn, calls }: Answer) => [turn, calls.length]),
      turns.slice(0, 34).map(({ turn }) => [turn, callsPerTurn]),
    );
    assert.strictEqual(times.left, 0);
    const [one] = times.items[0].calls;
    const same = turns[0].calls[0];
    for (const key of Object.keys(one)) assert.deepStrictEqual(one[key], same[key], key);
    assert.deepStrictEqual(decodeTimes(JSON.stringify(times)), times);
  });

  it("[C080] times that one answer does not hold are its newest turns, whole, and how many calls come before them", async () => {
    const { place } = await admin.api.run(writeTurns(6));
    const read = async (before: number, most: number) => {
      const { items, left } = decodeTimes(
        await admin.api.run(readRunTimes(place.tenantId, place.runId, before, most)),
      );
      return [items.map(({ turn, calls }) => [turn, calls.length]), left];
    };
    assert.deepStrictEqual(await read(6, 2 * callsPerTurn), [
      [
        [4, 25],
        [5, 25],
      ],
      75,
    ]);
    assert.deepStrictEqual(await read(4, 26), [
      [
        [2, 25],
        [3, 25],
      ],
      25,
    ]);
    assert.deepStrictEqual(await read(2, 1), [[[1, 25]], 0]);
    assert.deepStrictEqual(await read(1, 1), [[], 0]);
  });

  it("[C080] a short run comes whole, and its first turn once", async () => {
    const { place } = await admin.api.run(writeTurns(3));
    const run = await get(`/runs/${place.runId}`);
    assert.deepStrictEqual(run.earlier, { turns: 0, calls: 0 });
    assert.deepStrictEqual(run.opening, []);
    assert.strictEqual(run.turnViews.length, 3);
  });

  it("[C051] a value that is too long for the page is cut with its size, and its whole is a download", async () => {
    const run = await admin.api.run(startedRun());
    const long = { note: "é".repeat(100_000) };
    await admin.api.run(
      run.append([
        run.records.turn(["a"], { parameters: long }),
        run.records.settled("a", { text: "r".repeat(70_000) }),
      ]),
    );
    const [turn] = (await get(`/runs/${run.place.runId}`)).turnViews;
    const [call] = turn.calls;
    assert.strictEqual(call.parameters.cut, true);
    assert.strictEqual(call.parameters.originalBytes, 200_011);
    const path = `/runs/${run.place.runId}/turns/1/body?callId=a&body=`;
    const whole = await admin.api.request(`${path}parameters`, { token: admin.ann.token });
    assert.deepStrictEqual(whole.body, long);
    assert.match(whole.headers.get("content-disposition") ?? "", /^attachment; filename="run_/);
    const result = await get(`${path}result`);
    assert.strictEqual(result.text.length, 70_000);
    const none = await admin.api.request(`${path}effectiveParameters`, { token: admin.ann.token });
    assert.strictEqual(none.status, 404);
  });

  it("[R52] [C042] a result that the model got a bounded copy of is a download of the whole, byte for byte, for its own tenant", async () => {
    const run = await admin.api.run(startedRun());
    const hostile = { html: "<script>alert(1)</script>\u0000\ud800 ß".repeat(5_000) };
    const whole = largeResult(run.place, run.records, "a", hostile);
    const part = largeResult(run.place, run.records, "b", "€".repeat(3_000_000));
    await admin.api.run(
      run.append(
        [run.records.turn(["a", "b"]), whole.record, part.record],
        [],
        [whole.result, part.result],
      ),
    );
    const [turn] = (await get(`/runs/${run.place.runId}`)).turnViews;
    assert.deepStrictEqual(
      turn.calls.map(({ keptBytes, originalBytes }: Answer) => [keptBytes, originalBytes]),
      [
        [whole.result.bytes, whole.result.bytes],
        [part.result.bytes, 9_000_002],
      ],
    );
    const path = `/runs/${run.place.runId}/turns/1/body?body=wholeResult&callId=`;
    const file = await fetch(`${admin.api.origin}/api/v1${path}a`, {
      headers: { authorization: `Bearer ${admin.ann.token}` },
    });
    assert.strictEqual(sha256Hex(await file.text()), whole.result.digest);
    assert.match(file.headers.get("content-disposition") ?? "", /^attachment; filename="run_/);
    assert.strictEqual(file.headers.get("content-type"), "application/json");
    assert.strictEqual(file.headers.get("x-content-type-options"), "nosniff");
    const beginning = await fetch(`${admin.api.origin}/api/v1${path}b`, {
      headers: { authorization: `Bearer ${admin.ann.token}` },
    });
    assert.strictEqual(sha256Hex(await beginning.text()), part.result.digest);
    assert.match(beginning.headers.get("content-disposition") ?? "", /\.part\.txt"$/);
    assert.match(beginning.headers.get("content-type") ?? "", /^text\/plain/);
    // What the model saw is still there under its own name, and is what a small result's whole is.
    assert.deepStrictEqual(await get(`${path.replace("wholeResult", "result")}a`), {
      truncated: true,
    });
    const stranger = await admin.api.addOperator("admin", "other");
    assert.strictEqual(
      (await admin.api.request(`${path}a`, { token: stranger.token })).status,
      404,
    );
    // A text that is not the recorded one is not given out as if it were.
    await admin.api.run(
      Effect.flatMap(
        SqlClient,
        (sql) => sql`UPDATE kept_results SET body = replace(body, 'alert', 'other')
          WHERE run_id = ${run.place.runId}`,
      ),
    );
    assert.strictEqual(
      (await admin.api.request(`${path}a`, { token: admin.ann.token })).status,
      404,
    );
  });
});

describe("the past of a run", () => {
  it("[OP-01] after its last event it is the run of today, and at each event before it what the page showed then", async () => {
    const run = await admin.api.run(startedRun());
    const { records } = run;
    const seen: Array<Answer> = [];
    const look = async () => {
      for (;;) {
        const page = await get(`/runs/${run.place.runId}`);
        const moment = await get(`/runs/${run.place.runId}/moments/999999999`);
        // The log gives places to events a moment after the facts.
        const isWhole =
          moment.run.state === page.state &&
          moment.run.turns === page.turns &&
          JSON.stringify(states(moment.run)) === JSON.stringify(states(page));
        if (isWhole) {
          const records = await recordsOf(run.place.runId);
          return void seen.push({ page, records, sequence: moment.sequence });
        }
        await new Promise((done) => setTimeout(done, 30));
      }
    };
    await look();
    await admin.api.run(run.append([records.turn(["a", "b"]), records.approvalRequested("a")]));
    await look();
    await admin.api.run(run.append([records.prepared("b"), records.settled("b", { ok: "b" })]));
    await look();
    await admin.api.run(run.append([records.suspended("approval")]));
    await look();
    for (const { page, records: stored, sequence } of seen) {
      assert.deepStrictEqual(await recordsOf(run.place.runId, sequence), stored);
      const { run: then } = await get(`/runs/${run.place.runId}/moments/${sequence}`);
      for (const key of [
        "state",
        "turns",
        "toolCalls",
        "pendingApprovals",
        "openUnknowns",
        "inputTokens",
        "input",
        "modelId",
        "settledAt",
      ])
        assert.deepStrictEqual(then[key], page[key], `${key} at ${sequence}`);
      assert.deepStrictEqual(calls(then), calls(page));
      assert.deepStrictEqual(then.attempts, page.attempts);
    }
    const last = await get(`/runs/${run.place.runId}/moments/999999999`);
    assert.isNull(last.next);
    const before = await get(`/runs/${run.place.runId}/moments/${last.previous}`);
    assert.strictEqual(before.next, last.sequence);
    const early = await admin.api.request(`/runs/${run.place.runId}/moments/0`, {
      token: admin.ann.token,
    });
    assert.strictEqual(early.status, 404);
  });
});

/** The numbers of the run's records, today or as they stood. */
const recordsOf = async (runId: string, at?: number): Promise<ReadonlyArray<number>> =>
  (await get(`/runs/${runId}/records?limit=200${at === undefined ? "" : `&at=${at}`}`)).items.map(
    ({ sequence }: Answer) => sequence,
  );

describe("what a past says of exposure", () => {
  it("[OP-02] a turn that had not been recorded by then is not there, and one that had says what it says today", async () => {
    const run = await admin.api.run(startedRun());
    await admin.api.run(run.append([run.records.turn(["a"])]));
    const { sequence } = await untilRecorded(run.place.runId, 1);
    await admin.api.run(run.append([run.records.turn(["b"], { turn: 2 })]));
    await untilRecorded(run.place.runId, 2);
    const explained = (turn: number, at: number) =>
      admin.api.request(
        `/runs/${run.place.runId}/exposure-explanation?tool=refund&turn=${turn}&at=${at}`,
        {
          token: admin.ann.token,
        },
      );
    const today = await get(`/runs/${run.place.runId}/exposure-explanation?tool=refund&turn=1`);
    assert.deepStrictEqual((await explained(1, sequence)).body, today);
    assert.strictEqual((await explained(2, sequence)).status, 404);
    assert.strictEqual((await explained(2, sequence + 1_000)).status, 200);
    const shown = (at: number) =>
      admin.api.request(`/runs/${run.place.runId}/turns/2/exposure?at=${at}`, {
        token: admin.ann.token,
      });
    assert.deepStrictEqual(
      [(await shown(sequence)).status, (await shown(sequence + 1_000)).status],
      [404, 200],
    );
  });
});

describe("the records of a past", () => {
  it("[OP-01][OP-02] end where they ended then, also when a call of it was made again since", async () => {
    const run = await admin.api.run(startedRun());
    const { records } = run;
    await admin.api.run(run.append([records.turn(["a"])]));
    await admin.api.run(run.append([records.prepared("a")]));
    await admin.api.run(run.append([records.unknown("a"), records.suspended("unknown")]));
    const stood = await recordsOf(run.place.runId);
    const { sequence } = await untilPast(
      run.place.runId,
      ({ openUnknowns, state }) => openUnknowns === 1 && state === "unknown",
    );
    await admin.api.run(run.append([records.resolved("a", "safe-to-retry")]));
    await admin.api.run(run.append([records.attempt(2)]));
    await admin.api.run(run.append([records.prepared("a", 2)]));
    await admin.api.run(run.append([{ ...records.settled("a"), turn: 1 }]));
    const last = await untilPast(run.place.runId, ({ turnViews }) =>
      turnViews[0].calls.every(({ state }: Answer) => state === "succeeded"),
    );
    assert.deepStrictEqual(await recordsOf(run.place.runId, sequence), stood);
    assert.deepStrictEqual(
      await recordsOf(run.place.runId, last.sequence),
      await recordsOf(run.place.runId),
    );
  });
});

describe("a past whose first events are gone", () => {
  it("[OP-02] is refused for records and exposure as for the run itself, and told by nothing that was left of it", async () => {
    const run = await admin.api.run(startedRun());
    await admin.api.run(run.append([run.records.turn(["a"])]));
    await admin.api.run(run.append([run.records.turn(["b"], { turn: 2 })]));
    const { sequence, previous } = await untilRecorded(run.place.runId, 2);
    const whole = await recordsOf(run.place.runId, sequence);
    assert.deepStrictEqual(whole, await recordsOf(run.place.runId));
    // As retention trims: the log's front, here through the first turn's event.
    await admin.api.run(
      Effect.flatMap(
        SqlClient,
        (sql) => sql`
        DELETE FROM events WHERE tenant_id = ${run.place.tenantId} AND sequence <= ${previous}`,
      ),
    );
    for (const path of [
      `moments/${sequence}`,
      `records?at=${sequence}`,
      `turns/1/exposure?at=${sequence}`,
      `exposure-explanation?tool=refund&turn=1&at=${sequence}`,
    ]) {
      const { body, status } = await admin.api.request(`/runs/${run.place.runId}/${path}`, {
        token: admin.ann.token,
      });
      assert.strictEqual(status, 422, `${path}: ${JSON.stringify(body)}`);
      assert.include(body.message, "not kept any more");
    }
    assert.deepStrictEqual(await recordsOf(run.place.runId), whole);
  });
});

/** The newest event of the run once the log tells of so many turns. */
const untilRecorded = (runId: string, turns: number): Promise<Answer> =>
  untilPast(runId, (run) => run.turns === turns);

/** The newest event of the run once the log tells of this state. */
const untilPast = async (runId: string, isThere: (run: Answer) => boolean): Promise<Answer> => {
  for (;;) {
    const answer = await admin.api.request(`/runs/${runId}/moments/999999999`, {
      token: admin.ann.token,
    });
    if (answer.status === 200 && isThere(answer.body.run)) return answer.body;
    await new Promise((done) => setTimeout(done, 30));
  }
};

const states = (run: Answer) => calls(run).map(({ callId, state }: Answer) => [callId, state]);

/** What a page shows of its calls; times of events and of rows differ by their own clocks' rounding. */
const calls = (run: Answer): ReadonlyArray<Answer> =>
  run.turnViews.flatMap((turn: Answer) =>
    turn.calls.map((call: Answer) => ({
      callId: call.callId,
      state: call.state,
      parameters: call.parameters,
      parametersDigest: call.parametersDigest,
      result: call.result,
      hasResult: call.hasResult,
      approvalRequestId: call.approvalRequestId,
      idempotencyKey: call.idempotencyKey,
      turn: turn.turn,
    })),
  );
