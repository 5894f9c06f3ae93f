/**
 * What an uncertain call costs on a database with fsync on: prepare and settle, beside two bare
 * commits on one connection, in alternating rounds.
 *
 *     npm run bench -- durable postgres://user@host/empty-database
 */
import * as PgConnection from "@effect/sql-pg/PgConnection";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Redacted from "effect/Redacted";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import { Journal } from "#lib/durable/Journal.ts";
import * as Migrations from "#server/postgres/Migrations.ts";
import { recordsOf } from "#tests/postgres/records.ts";
import { adapters, claimed, started, TestUrl } from "#tests/postgres/store.ts";

const callsPerRound = 100;
const callsPerTurn = 200;
const rounds = 9;

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const timed = <A, E, R>(times: number, effect: (index: number) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const millis: Array<number> = [];
    for (let index = 0; index < times; index++) {
      const from = performance.now();
      yield* effect(index);
      millis.push(performance.now() - from);
    }
    return median(millis);
  });

const measure = Effect.fnUntraced(function* (url: string) {
  const sql = yield* SqlClient.SqlClient;
  yield* Migrations.run();
  yield* sql`CREATE TABLE floor_rows (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text)`;
  const connection = yield* PgConnection.make({ url: Redacted.make(url) });
  const commit = connection.query("INSERT INTO floor_rows (body) VALUES ($1)", ["x".repeat(200)]);
  const { place, writer } = yield* started();
  const of = recordsOf(place);
  const idOf = (call: number) => ({
    id: `c${call % callsPerTurn}`,
    turn: 1 + Math.floor(call / callsPerTurn),
  });
  yield* writer.append([of.opened(), of.attempt()]);
  for (let turn = 1; turn <= Math.ceil(((rounds + 1) * callsPerRound) / callsPerTurn); turn++) {
    yield* writer.append([
      of.turn(
        Array.from({ length: callsPerTurn }, (_, index) => `c${index}`),
        { turn },
      ),
    ]);
  }
  let call = 0;
  const floor = timed(callsPerRound, () => Effect.andThen(commit, commit));
  const ours = timed(callsPerRound, () => {
    const { id, turn } = idOf(call++);
    return Effect.andThen(
      writer.append([of.prepared(id, 1, turn)]),
      writer.append([{ ...of.settled(id), turn }]),
    );
  });
  const ratios: Array<number> = [];
  for (let round = 0; round < rounds; round++) {
    const first = round % 2 === 0 ? yield* floor : yield* ours;
    const second = round % 2 === 0 ? yield* ours : yield* floor;
    const [bare, call_] = round % 2 === 0 ? [first, second] : [second, first];
    if (round > 0) ratios.push(call_ / bare);
    console.log(
      `round ${round}: two commits ${bare.toFixed(2)} ms, prepare + settle ${call_.toFixed(2)} ms`,
    );
  }
  console.log(`median ratio ${median(ratios).toFixed(2)}`);

  // The server flushes the counters of a connection that has been idle for ten seconds.
  const counters = Effect.andThen(
    Effect.sleep("11 seconds"),
    sql`SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 AS bytes, xact_commit::int AS commits
      FROM pg_stat_database WHERE datname = current_database()`,
  );
  const spent = Effect.fnUntraced(function* (
    what: string,
    calls: number,
    work: Effect.Effect<unknown, unknown, Journal>,
  ) {
    const [before] = yield* counters;
    const from = performance.now();
    yield* Effect.orDie(work);
    const millis = performance.now() - from;
    const [after] = yield* counters;
    const per = (column: "bytes" | "commits") =>
      (Number(after?.[column]) - Number(before?.[column])) / calls;
    console.log(
      `${what}: ${millis.toFixed(0)} ms, per call ${per("commits").toFixed(2)} commits (assigner and scans included) and ${per("bytes").toFixed(0)} bytes of WAL`,
    );
  });
  yield* spent("100 calls, prepare + settle", callsPerRound, ours);
  const batch = Array.from({ length: 50 }, (_, index) => of.prepared(`c${index}`));
  yield* spent("50 prepared in one append", 50, writer.append(batch));

  const resume = yield* timed(5, () => claimed(place));
  const { records } = yield* claimed(place);
  console.log(`claim with ${records.length} records: ${resume.toFixed(1)} ms`);
});

const [url] = process.argv.slice(2);
if (url === undefined) throw new Error("name a database");
const layer = adapters.pipe(Layer.provideMerge(Layer.succeed(TestUrl, url)));
await Effect.runPromise(Effect.scoped(measure(url)).pipe(Effect.provide(layer)));
