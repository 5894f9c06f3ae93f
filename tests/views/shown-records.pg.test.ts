/** A page reads its long records in another way than its short ones: what it shows must not depend on it. */
import { Effect, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import fc from "fast-check";
import { assert, describe, it } from "vitest";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { EpochMillis } from "#lib/contract/ids.ts";
import { RunRecord } from "#lib/contract/records.ts";
import { turnViews } from "#server/views/assemble-run.ts";
import { millis } from "#server/views/columns.ts";
import { readCalls } from "#server/views/run-rows.ts";
import { decodeRows } from "#server/views/snapshot.ts";
import { jsonValue } from "#tests/contract-json/arbitrary-json.ts";
import { adminApi } from "#tests/support/admin-api.ts";
import type { Answer } from "#tests/support/api-server.ts";
import { startedRun } from "#tests/support/ledger-fixtures.ts";

const admin = adminApi();
const { get } = admin;

const WholeRow = Schema.Struct({
  recordedAt: EpochMillis,
  record: Schema.fromJsonString(RunRecord),
});

/** The slow way: every record parsed as a whole, and its long values cut then. */
const slowTurns = (place: Effect.Success<ReturnType<typeof startedRun>>["place"]) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const { runId, tenantId } = place;
    const records = yield* decodeRows(WholeRow)(sql`
      SELECT ${sql.literal(millis("j.recorded_at"))} AS "recordedAt", j.body AS record
      FROM journal_records j WHERE j.tenant_id = ${tenantId} AND j.run_id = ${runId} ORDER BY j.sequence`);
    return turnViews(records, yield* readCalls(tenantId, runId, 1));
  });

/** As it is sent: keys in no order. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const long = (one: string, bytes: number): Json => ({ text: one.repeat(bytes), size: bytes });

/** Values around the bound of a page, of characters of every width, and hostile ones. */
const value = fc.oneof(
  jsonValue,
  fc
    .tuple(
      fc.constantFrom("a", "é", "€", "😀", "\u0000", "\ud800", '"\\', "\\u0000", "{["),
      fc.integer({ min: 5_000, max: 70_000 }),
    )
    .map(([one, bytes]) => long(one, bytes)),
  fc.constantFrom(...[-1, 0, 1].map((more) => "x".repeat(65_536 - 2 + more))),
);

describe("a run's page whose records are long", () => {
  it("[C051] shows what it would show had it parsed each record whole", async () => {
    const turns = fc.sample(fc.array(fc.record({ value, result: value }), { maxLength: 4 }), {
      numRuns: 40,
      seed: 2_112,
    });
    const { place } = await admin.api.run(
      Effect.gen(function* () {
        const run = yield* startedRun();
        for (const [place, calls] of turns.entries()) {
          const turn = place + 1;
          const ids = calls.map((_, index) => `c${index}`);
          const declared = run.records.turn(ids, { turn });
          yield* run.append([
            {
              ...declared,
              text: "A text that no page cuts. ".repeat(turn === 1 ? 10_000 : 1),
              response: calls.map((call) => call.result),
              calls: declared.calls.map((call, index) => ({
                ...call,
                parameters: calls[index]?.value ?? null,
                ...(index % 2 === 0 ? { effectiveParameters: calls[index]?.result ?? null } : {}),
              })),
            },
            ...ids.map((id, index) => ({
              ...run.records.settled(id, calls[index]?.result ?? null),
              turn,
            })),
          ]);
        }
        return run;
      }),
    );
    const slow = sent(await admin.api.run(slowTurns(place)));
    const shown: Array<unknown> = [];
    for (let first = 1; first <= turns.length; first += 10)
      shown.push(...(await get(`/runs/${place.runId}/turns?first=${first}`)).items);
    assert.deepStrictEqual(shown, slow);
    assert.include(JSON.stringify(shown), '"cut":true');
    const page = await get(`/runs/${place.runId}`);
    assert.deepStrictEqual(page.turnViews, shown.slice(page.earlier.turns));
    // And the whole of each is what was written, byte for byte.
    for (const [at, calls] of turns.entries())
      for (const [index, { result, value: parameters }] of calls.entries()) {
        const path = `/runs/${place.runId}/turns/${at + 1}/body?callId=c${index}&body=`;
        const text = async (body: string) =>
          (await admin.api.request(`${path}${body}`, { token: admin.ann.token })).text;
        assert.strictEqual(await text("parameters"), canonicalJson(parameters));
        assert.strictEqual(await text("result"), canonicalJson(result));
        if (index % 2 === 0)
          assert.strictEqual(await text("effectiveParameters"), canonicalJson(result));
      }
  });

  it("[C051] tells the true size of a value that was cut, also where the page's values together are too long", async () => {
    const run = await admin.api.run(startedRun());
    const ids = Array.from({ length: 90 }, (_, index) => `c${index}`);
    const declared = run.records.turn(ids);
    // The first is cut by itself, and its beginning alone is longer than what each of too many may have.
    const values = ids.map((_, index) => long(index === 0 ? "€" : "y", 60_000));
    await admin.api.run(
      run.append([
        {
          ...declared,
          calls: declared.calls.map((call, index) => ({
            ...call,
            parameters: values[index] ?? null,
          })),
        },
      ]),
    );
    const [turn] = (await get(`/runs/${run.place.runId}`)).turnViews;
    assert.deepStrictEqual(
      turn.calls.map((call: Answer) => call.parameters.originalBytes),
      values.map((one) => Buffer.byteLength(JSON.stringify(one))),
    );
  });
});
