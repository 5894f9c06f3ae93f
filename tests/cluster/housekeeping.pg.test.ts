/** Tables that hold no history are bounded by age, and what is young or history stays. */
import { assert, layer } from "@effect/vitest";
import * as Effect from "effect/Effect";
import { commandDays, tidy, workerDays } from "#server/cluster/Housekeeping.ts";
import { rows, started, store } from "#tests/postgres/store.ts";

const count = (table: string) =>
  Effect.map(rows(`SELECT count(*)::int AS n FROM ${table}`), ([row]) => Number(row?.["n"]));

layer(store, { excludeTestServices: true })("housekeeping", (it) => {
  it.effect(
    "[OP-09] answers of old commands, old sign-in attempts and silent hosts go in bounded statements; young ones stay",
    () =>
      Effect.gen(function* () {
        const { place } = yield* started();
        const commands = (age: number, many: number) =>
          rows(
            `INSERT INTO operator_commands (tenant_id, command_id, operator_id, verb, target, payload_digest, answer, answered_at)
             SELECT 'acme', $1 || '-' || n, 'ada', 'wake-run', 'r', 'd', 'null', now() - $1 * interval '1 day'
             FROM generate_series(1, $2) AS n`,
            [age, many],
          );
        yield* commands(commandDays + 1, 12_000);
        yield* commands(commandDays - 1, 3);
        for (const days of [workerDays + 1, workerDays - 1])
          yield* rows(
            "INSERT INTO workers (worker_id, address, heartbeat_at) VALUES ($1, 'gone', now() - $2 * interval '1 day')",
            [`worker-${days}`, days],
          );
        yield* rows(
          "INSERT INTO sign_in_attempts (subject_digest, attempted_at) VALUES ('x', now() - interval '2 days'), ('x', now())",
        );
        assert.strictEqual(yield* tidy(), 12_002);
        assert.strictEqual(yield* count("operator_commands"), 3);
        assert.deepStrictEqual(
          yield* rows("SELECT worker_id FROM workers WHERE address = 'gone'"),
          [{ worker_id: `worker-${workerDays - 1}` }],
        );
        assert.strictEqual(yield* count("sign_in_attempts"), 1);
        assert.strictEqual(yield* count("runs"), 1);
        assert.strictEqual(yield* tidy(), 0);
        assert.isString(place.runId);
      }),
  );
});
