import * as Effect from "effect/Effect";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import { assert, layer } from "@effect/vitest";
import { rows, store } from "#tests/postgres/store.ts";

const write = (tenant: string, writer: string, count: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      INSERT INTO event_inbox (tenant_id, agent_id, thread_id, run_id, kind, at, body)
      SELECT ${tenant}, 'a', ${writer}, 'r', 'k', now(), n::text FROM generate_series(1, ${count}::int) n`,
  );

const assign = (tenant: string, limit: number) =>
  Effect.map(
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) =>
        sql<{
          assigned: number;
        }>`SELECT assigned FROM assign_event_sequences(${tenant}, ${limit})`,
    ),
    ([row]) => row?.assigned,
  );

const logOf = (tenant: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ sequence: number; writer: string; body: string }>`
      SELECT sequence::int AS sequence, thread_id AS writer, body FROM events
      WHERE tenant_id = ${tenant} ORDER BY sequence`,
  );

layer(store, { excludeTestServices: true })("events on their way to the log", (it) => {
  for (const [waiting, moved] of [
    [0, [0]],
    [4, [4, 0]],
    [5, [5, 0]],
    [6, [5, 1]],
    [11, [5, 5, 1]],
  ] as const)
    it.effect(`[PG-04] of ${waiting} at most five move at once, in their order`, () =>
      Effect.gen(function* () {
        const tenant = `moves-${waiting}`;
        yield* write("beside", "w", 9);
        yield* write(tenant, "w", waiting);
        for (const count of moved) assert.strictEqual(yield* assign(tenant, 5), count);
        assert.deepStrictEqual(
          yield* logOf(tenant),
          Array.from({ length: waiting }, (_, index) => ({
            sequence: index + 1,
            writer: "w",
            body: String(index + 1),
          })),
        );
      }),
    );

  it.effect(
    "[PG-04] writers that commit out of order, and two assigners at once, lose, double and reorder nothing",
    () =>
      Effect.gen(function* () {
        const tenant = "out-of-order";
        const sql = yield* SqlClient.SqlClient;
        const writers = Array.from({ length: 5 }, (_, index) => `w${index}`);
        let left = writers.length;
        const writing = Effect.forEach(
          writers,
          (writer, index) =>
            Effect.gen(function* () {
              for (let round = 0; round < 40; round++)
                // Its ids are drawn long before others see them.
                yield* sql.withTransaction(
                  Effect.gen(function* () {
                    yield* write(tenant, writer, 3);
                    yield* sql`SELECT pg_sleep(${((round * 7 + index * 3) % 5) / 400})`;
                  }),
                );
              left -= 1;
            }),
          { concurrency: "unbounded", discard: true },
        );
        // Keeps what it moved to itself for a moment, so that the other meets it.
        const move = sql.withTransaction(
          Effect.tap(assign(tenant, 20), () => sql`SELECT pg_sleep(0.003)`),
        );
        const assigning = Effect.gen(function* () {
          while (left > 0) yield* move;
          while ((yield* move) !== 0);
        });
        yield* Effect.all([writing, assigning, assigning], { concurrency: "unbounded" });
        const log = yield* logOf(tenant);
        assert.deepStrictEqual(
          log.map(({ sequence }) => sequence),
          Array.from({ length: writers.length * 120 }, (_, index) => index + 1),
        );
        for (const name of writers)
          assert.deepStrictEqual(
            log.filter(({ writer }) => writer === name).map(({ body }) => body),
            Array.from({ length: 120 }, (_, index) => String((index % 3) + 1)),
          );
        assert.deepStrictEqual(
          yield* rows(
            `SELECT last_sequence::int AS last FROM event_tails WHERE tenant_id = '${tenant}'`,
          ),
          [{ last: writers.length * 120 }],
        );
      }),
    30_000,
  );
});
