import * as PgConnection from "@effect/sql-pg/PgConnection";
import { afterAll, beforeAll } from "vitest";
import { assert, it } from "@effect/vitest";
import { Effect, Redacted } from "effect";
import { makeTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await makeTestDatabase();
});
afterAll(() => database.drop());

const connect = Effect.suspend(() => PgConnection.make({ url: Redacted.make(database.url) }));

it.effect("the application's role is no superuser and cannot bypass row-level security", () =>
  Effect.gen(function* () {
    const connection = yield* connect;
    const { rows } = yield* connection.query(
      "SELECT rolsuper, rolbypassrls, current_database() LIKE 'test_%' AS own FROM pg_roles WHERE rolname = current_user",
    );
    assert.deepStrictEqual(rows, [{ rolsuper: false, rolbypassrls: false, own: true }]);
  }),
);

it.effect("the server listens on loopback only and folds letter case beyond ASCII", () =>
  Effect.gen(function* () {
    const connection = yield* connect;
    const { rows } = yield* connection.query(
      "SELECT current_setting('listen_addresses') AS address, lower('ÄÖ') AS folded, current_setting('TimeZone') AS zone",
    );
    assert.deepStrictEqual(rows, [{ address: "127.0.0.1", folded: "äö", zone: "UTC" }]);
  }),
);
