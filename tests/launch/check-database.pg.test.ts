/** Whether a database may be used is asked before anything is written to it. */
import net from "node:net";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer, Redacted } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { checkDatabase } from "#server/launch/check-database.ts";
import { newestMigration } from "#server/launch/migrations.ts";
import * as Database from "#server/postgres/Database.ts";
import { makeTestDatabase } from "#tests/support/postgres.ts";

const database = Effect.acquireRelease(
  Effect.promise(() => makeTestDatabase()),
  (made) => Effect.promise(() => made.drop()),
);

/** The real server, but for its version: the six digits of `server_version_num` are others on the way to the client. */
const asVersion = (url: string, version: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const target = new URL(url);
      const server = net.createServer((client) => {
        const upstream = net.connect(Number(target.port), target.hostname);
        client.pipe(upstream);
        upstream.on("data", (chunk) => {
          // Latin-1 keeps every byte as it is.
          const text = chunk.toString("latin1");
          client.write(Buffer.from(text.replace(/(?<!\d)1[5-9]00\d\d(?!\d)/, version), "latin1"));
        });
        for (const socket of [client, upstream]) {
          socket.on("error", () => undefined);
          socket.on("close", () => (client.destroy(), upstream.destroy()));
        }
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const address = server.address();
      if (address === null || typeof address === "string") throw new Error("no port");
      const through = new URL(url);
      through.hostname = "127.0.0.1";
      through.port = String(address.port);
      return { url: Redacted.make(through.toString()), close: () => server.close() };
    }),
    (proxy) => Effect.sync(proxy.close),
  );

const tablesOf = (url: string) =>
  Effect.provide(
    Effect.flatMap(
      SqlClient,
      (sql) => sql`
        SELECT count(*)::int AS tables FROM pg_class WHERE relnamespace = 'public'::regnamespace`,
    ),
    Layer.fresh(Database.layer({ url: Redacted.make(url), maxConnections: 1 })),
  );

describe("the database at the start", () => {
  it.live(
    "[PG-07] a server older than 15 is refused in one sentence that says what to do, and nothing is written to it",
    () =>
      Effect.gen(function* () {
        const { url } = yield* database;
        const before = yield* tablesOf(url);
        const { url: old } = yield* asVersion(url, "140012");
        const refused = yield* Effect.flip(checkDatabase(old, yield* newestMigration));
        assert.strictEqual(refused.reason, "database-too-old");
        assert.match(
          refused.message,
          /is PostgreSQL 14, and 15 or newer is needed: upgrade it, or unset DATABASE_URL/,
        );
        assert.deepStrictEqual(yield* tablesOf(url), before);
      }).pipe(Effect.scoped),
  );

  it.live(
    "[PG-07] version 15 is old enough, and a database of a newer release is refused as it is",
    () =>
      Effect.gen(function* () {
        const { url } = yield* database;
        const { url: fifteen } = yield* asVersion(url, "150000");
        yield* checkDatabase(fifteen, yield* newestMigration);
        const refused = yield* Effect.flip(checkDatabase(Redacted.make(url), 3));
        assert.strictEqual(refused.reason, "database-newer");
        assert.include(refused.message, "this release knows 3");
      }).pipe(Effect.scoped),
  );

  it.live("[PG-07] a server that does not answer is named without its password", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(
        checkDatabase(Redacted.make("postgres://ada:canary@127.0.0.1:1/books"), 3),
      );
      assert.strictEqual(refused.reason, "database-unreachable");
      assert.include(refused.message, "127.0.0.1:1/books");
      assert.notInclude(refused.message, "canary");
    }),
  );
});
