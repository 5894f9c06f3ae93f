/**
 * A host that is told to stop while its appends are under way and PostgreSQL is slow.
 * The test holds the append of one kind of record at the database itself for as long
 * as it needs: what had begun is written, nothing is doubted that need not be, and the
 * next start goes on from there.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/unstable/sql";
import { afterEach, assert, beforeEach, describe, it } from "vitest";
import type { RunRecordKind } from "#lib/contract/records.ts";
import { makeTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import type { Script } from "./fleet/agent.ts";
import { bundleFleetHost, freePorts, type Host, startHost, untilReady } from "./fleet/hosts.ts";
import { checkInvariants } from "./fleet/invariants.ts";
import { type Provider, startProvider } from "./fleet/provider.ts";
import { openStore, type Store } from "./fleet/store.ts";
import { until } from "./fleet/until.ts";

const patience = 60_000;
/** As long as a host of these proofs waits for its calls in flight. */
const drainMillis = 1_500;

let database: TestDatabase;
let provider: Provider;
let store: Store;
/** Sessions that hold appends; of their own, since each is in a transaction meanwhile. */
let holder: Store;
let hosts: Array<Host> = [];

const sleep = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis));

const launch = async (): Promise<Host> => {
  const [port = 0] = await freePorts(1);
  const host = startHost({
    databaseUrl: database.url,
    provider: provider.url,
    port,
    isAlone: true,
  });
  hosts.push(host);
  await untilReady(host);
  return host;
};

/** From now on appends of that kind wait at the database, until the answer is called. */
const holdAppendsOf = async (kind: RunRecordKind): Promise<() => Promise<void>> => {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let isHeld = false;
  const holding = holder.run(
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SELECT pg_advisory_xact_lock(hashtext(${kind}))`;
          isHeld = true;
          yield* Effect.promise(() => released);
        }),
      ),
    ),
  );
  await until("the appends are held", patience, () => isHeld);
  return async () => {
    release();
    await holding;
  };
};

const isWaiting = () =>
  store.run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient;
      const found = yield* sql`SELECT FROM pg_locks
        WHERE locktype = 'advisory' AND mode = 'ShareLock' AND NOT granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      return found.length > 0;
    }),
  );

const charging: Script = {
  modelMs: 0,
  turns: [
    [{ tool: "charge", params: { amount: 1, beforeMs: 0, afterMs: 0, decline: false } }],
    [{ tool: "charge", params: { amount: 2, beforeMs: 0, afterMs: 0, decline: false } }],
  ],
};

beforeEach(async () => {
  hosts = [];
  database = await makeTestDatabase();
  provider = await startProvider();
  store = openStore(database.url);
  holder = openStore(database.url);
  await store.prepare();
  await store.run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient;
      yield* sql`CREATE FUNCTION wait_for_the_test() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_advisory_xact_lock_shared(hashtext(NEW.kind)); RETURN NEW; END $$`;
      yield* sql`CREATE TRIGGER wait_for_the_test BEFORE INSERT ON journal_records
        FOR EACH ROW EXECUTE FUNCTION wait_for_the_test()`;
    }),
  );
  await bundleFleetHost();
}, 120_000);
afterEach(async () => {
  await Promise.all(hosts.map((host) => host.end("SIGKILL")));
  await holder?.close();
  await store?.close();
  await provider?.close();
  await database?.drop();
});

const appends = [
  // What becomes of the call is known; only its record is late, and later than the drain is long.
  { kind: "ToolCallSettled", millis: drainMillis + 1_000 },
  // The call is promised and has not started: it belongs to what a stopping host waits for.
  { kind: "ToolCallPrepared", millis: 500 },
  // Promised too late to be started: the host takes the promise back before it goes.
  { kind: "ToolCallPrepared", millis: drainMillis + 1_000 },
  { kind: "TurnRecorded", millis: drainMillis + 1_000 },
  { kind: "RunSettled", millis: drainMillis + 1_000 },
] as const;

describe("SIGTERM while PostgreSQL is slow", () => {
  for (const { kind, millis } of appends)
    it(`[DU-04][DU-10][PG-03] at the append of ${kind} for ${millis} ms: it is written before the host is gone, nothing is in doubt, and the next start completes the run with each effect once`, async () => {
      const first = await launch();
      const release = await holdAppendsOf(kind);
      const { runId } = await store.submit(charging, "slow");
      await until("the append waits", patience, isWaiting);
      first.signal("SIGTERM");
      await sleep(millis);
      assert.isTrue(first.isAlive(), "it left an append behind");
      await release();
      await until("the host is gone", 10_000, () => !first.isAlive());
      await first.gone;
      assert.notInclude(first.output(), "ERROR");
      assert.deepStrictEqual(await store.unknowns(), []);
      const written = await store.run(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`SELECT FROM journal_records WHERE run_id = ${runId} AND kind = ${kind}`,
        ),
      );
      assert.isAbove(written.length, 0);

      const second = await launch();
      await until("the run has ended or is in doubt", patience, async () =>
        (await store.states()).every(({ state }) => state === "completed" || state === "unknown"),
      );
      assert.deepStrictEqual(
        (await store.states()).map(({ state }) => state),
        ["completed"],
      );
      assert.strictEqual(provider.effects.length, 2);
      assert.strictEqual(new Set(provider.effects.map(({ key }) => key)).size, 2);
      assert.deepStrictEqual(second.refused(), []);
      const { findings } = await checkInvariants(store, provider, false);
      assert.deepStrictEqual(findings, []);
    }, 120_000);
});
