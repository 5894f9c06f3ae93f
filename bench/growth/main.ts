/**
 * What a settled run leaves in the tables, and what retention leaves of it: bytes per run, by table, indexes
 * included, after VACUUM.
 *
 *     npm run bench -- growth [--runs 500]
 */
import { parseArgs } from "node:util";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Effect, Layer, Redacted, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { register } from "#lib/host/AgentRegistry.ts";
import { ThreadDriver } from "#lib/host/ThreadDriver.ts";
import { ScriptedModel, text, toolCalls } from "#lib/scripted-model.ts";
import * as Database from "#server/postgres/Database.ts";
import { EventHints } from "#server/postgres/EventHints.ts";
import * as Migrations from "#server/postgres/Migrations.ts";
import { portsLayer } from "#server/postgres/ports.ts";
import { retain } from "#server/retention/retain.ts";
import { driverLayer, submit, tenantId } from "#tests/support/durable-host.ts";
import { benchServer } from "../durable/server.ts";

const { values } = parseArgs({ options: { runs: { type: "string", default: "500" } } });
const runs = Math.max(50, Number(values.runs));

/** Two lookups at once, then one effect, then the answer: three turns, three calls, results of 1 KiB. */
const Find = Tool.make("find_order", {
  parameters: Schema.Struct({ id: Schema.String }),
  success: Schema.String,
});
const Refund = Tool.make("refund", {
  parameters: Schema.Struct({ id: Schema.String, amount: Schema.Int }),
  success: Schema.String,
});
const toolkit = Toolkit.make(Find, Refund);
const desk = Agent.make("desk", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Answer.",
  toolkit,
});
const handlers = toolkit.toLayer({
  find_order: ({ id }) => Effect.succeed(`${id} ${"order line ".repeat(93)}`),
  refund: ({ id }) => Effect.succeed(`${id} ${"receipt line ".repeat(78)}`),
});
const script = Array.from({ length: runs }, () => [
  toolCalls([
    { id: "c1", name: "find_order", params: { id: "o-1" } },
    { id: "c2", name: "find_order", params: { id: "o-2" } },
  ]),
  toolCalls([{ id: "c3", name: "refund", params: { id: "o-1", amount: 5 } }]),
  text("Five are on their way to you, and the other order is not affected by any of this."),
]).flat();

const Size = Schema.Struct({ name: Schema.String, bytes: Schema.Finite });

const sizes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* sql`VACUUM FULL`.unprepared;
  return yield* Effect.flatMap(
    sql`SELECT c.relname AS name, pg_total_relation_size(c.oid)::float8 AS bytes
      FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace`,
    Schema.decodeUnknownEffect(Schema.Array(Size)),
  );
});

const walPlace = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.flatMap(
    sql`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS bytes`,
    Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ bytes: Schema.Finite })])),
  ),
).pipe(Effect.map(([row]) => row.bytes));

const tell = (
  title: string,
  before: ReadonlyArray<typeof Size.Type>,
  after: ReadonlyArray<typeof Size.Type>,
) => {
  const was = new Map(before.map((row) => [row.name, row.bytes]));
  const grown = after
    .map((row) => ({ name: row.name, bytes: (row.bytes - (was.get(row.name) ?? 0)) / runs }))
    .filter((row) => row.bytes >= 1)
    .toSorted((a, b) => b.bytes - a.bytes);
  console.log(`\n${title}, bytes per run`);
  for (const row of grown)
    console.log(`  ${row.name.padEnd(24)} ${row.bytes.toFixed(0).padStart(8)}`);
  const sum = grown.reduce((total, row) => total + row.bytes, 0);
  console.log(`  ${"together".padEnd(24)} ${sum.toFixed(0).padStart(8)}`);
};

const measure = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const driver = yield* ThreadDriver;
  const ledger = yield* SubmissionLedger;
  const empty = yield* sizes;
  const walBefore = yield* walPlace;
  for (let run = 0; run < runs; run++) {
    const { threadId } = yield* submit("desk", "Where are my orders?", `growth-key-${run}`);
    yield* driver.drive({ tenantId, threadId });
  }
  const wal = ((yield* walPlace) - walBefore) / runs;
  const due = yield* ledger.due(10);
  if (due.length > 0) return yield* Effect.die(new Error("Not every run was settled."));
  yield* Effect.sleep("2 seconds");
  const full = yield* sizes;
  tell(`${runs} settled runs of three turns and three calls`, empty, full);
  console.log(`  ${"(write-ahead log)".padEnd(24)} ${wal.toFixed(0).padStart(8)}`);
  yield* sql`UPDATE submissions SET settled_at = now() - interval '100 days'`;
  yield* sql`UPDATE events SET at = now() - interval '100 days'`;
  const from = performance.now();
  const report = yield* retain({
    olderThanSeconds: 86_400,
    folder: undefined,
    onProgress: () => Effect.void,
  });
  const seconds = (performance.now() - from) / 1_000;
  tell("what retention leaves of them", empty, yield* sizes);
  console.log(
    `\nretention: ${report.runs} runs and ${report.events} events deleted in ${seconds.toFixed(1)} s`,
  );
});

const main = Effect.gen(function* () {
  const server = yield* benchServer;
  const url = yield* server.makeDatabase("growth");
  const database = Database.layer({ url: Redacted.make(url), maxConnections: 6 });
  yield* measure.pipe(
    Effect.provide(
      driverLayer(Effect.all([register(Agent.bind(desk, handlers))])).pipe(
        Layer.provideMerge(ScriptedModel.layer(script)),
        Layer.provideMerge(portsLayer),
        Layer.provide(EventHints.layer),
        Layer.provideMerge(Migrations.layer),
        Layer.provideMerge(database),
      ),
    ),
  );
}).pipe(Effect.scoped, Effect.provide(NodeServices.layer));

await Effect.runPromise(main);
