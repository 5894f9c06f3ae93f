/** The database as the proofs see it: submissions in, operators' commands, and what became of both. */
import { Effect, Layer, ManagedRuntime, Redacted, Schema } from "effect";
import { SqlClient, SqlSchema } from "effect/unstable/sql";
import * as Agent from "#lib/agent/Agent.ts";
import {
  AgentId,
  ApprovalRequestId,
  CommandId,
  Digest,
  OperatorId,
  RunId,
  TenantId,
  ThreadId,
  UnknownId,
} from "#lib/contract/ids.ts";
import { type ResolutionKind, RunState } from "#lib/contract/status.ts";
import type { Actor } from "#lib/contract/records.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { Wakes } from "#lib/durable/Wakes.ts";
import { AgentRegistry, register } from "#lib/host/AgentRegistry.ts";
import { toolSchemasLayer } from "#server/agents/RegistryCatalogue.ts";
import { abortRun } from "#server/operator/abort-run.ts";
import { decideApproval } from "#server/operator/decide-approval.ts";
import { resolveUnknown } from "#server/operator/resolve-unknown.ts";
import { wakeRun } from "#server/operator/wake-run.ts";
import * as Database from "#server/postgres/Database.ts";
import { EventHints } from "#server/postgres/EventHints.ts";
import { peopleLayer } from "#server/postgres/ports.ts";
import * as SubmissionLedgerPg from "#server/postgres/SubmissionLedgerPg.ts";
import { fleetAgent, fleetHandlers, type Script } from "./agent.ts";

export const tenantId = TenantId.make("default");
const requester: Actor = { kind: "operator", id: "op-requester", name: "Requester" };
const operator = {
  tenantId,
  operatorId: OperatorId.make("opr_fleet"),
  name: "Fleet",
  email: "fleet@localhost",
  role: "admin",
  proof: "bearer",
  credentialDigest: "0".repeat(64),
} as const;

const Pending = Schema.Struct({ requestId: ApprovalRequestId, digest: Digest, runId: RunId });
export type Pending = typeof Pending.Type;
const Open = Schema.Struct({
  unknownId: UnknownId,
  digest: Digest,
  key: Schema.String,
  tool: Schema.String,
  runId: RunId,
  afterSettlement: Schema.Boolean,
});
export type Open = typeof Open.Type;
const State = Schema.Struct({ runId: RunId, threadId: ThreadId, state: RunState });

/** Wakes get lost here: the sweeper of a host must find whatever these commands made due. */
const layer = (url: string) =>
  Layer.mergeAll(
    SubmissionLedgerPg.layer,
    peopleLayer,
    toolSchemasLayer,
    Layer.succeed(Wakes, { wake: () => Effect.void }),
  ).pipe(
    Layer.provide(
      AgentRegistry.layer(Effect.all([register(Agent.bind(fleetAgent, fleetHandlers("")))])),
    ),
    Layer.provide(EventHints.layer),
    Layer.provideMerge(
      Database.layer({ url: Redacted.make(url), maxConnections: 4, applicationName: "proof" }),
    ),
  );

type Services = Layer.Success<ReturnType<typeof layer>>;

const pendingApprovals = SqlSchema.findAll({
  Request: Schema.Void,
  Result: Pending,
  execute: () =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) =>
        sql`SELECT request_id AS "requestId", parameters_digest AS digest, run_id AS "runId" FROM approval_requests
          WHERE state = 'pending' ORDER BY request_id`,
    ),
});
const openUnknowns = SqlSchema.findAll({
  Request: Schema.Void,
  Result: Open,
  execute: () =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) =>
        sql`SELECT unknown_id AS "unknownId", parameters_digest AS digest, idempotency_key AS key, tool_name AS tool,
          run_id AS "runId", after_settlement AS "afterSettlement" FROM unknown_outcomes
          WHERE state = 'open' ORDER BY unknown_id`,
    ),
});
const runStates = SqlSchema.findAll({
  Request: Schema.Void,
  Result: State,
  execute: () =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) =>
        sql`SELECT run_id AS "runId", thread_id AS "threadId", state FROM runs ORDER BY run_id`,
    ),
});

const owned = SqlSchema.findAll({
  Request: Schema.String,
  Result: Schema.Struct({ runId: RunId }),
  execute: (prefix) =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`SELECT s.run_id AS "runId" FROM submissions s
        JOIN threads t ON t.tenant_id = s.tenant_id AND t.thread_id = s.thread_id
        WHERE s.state = 'running' AND starts_with(t.worker_id, ${prefix}) ORDER BY s.run_id`,
    ),
});
/** Sessions that hold shard locks in this database, each with how many. */
const shardHolders = SqlSchema.findAll({
  Request: Schema.Void,
  Result: Schema.Struct({ pid: Schema.Int, shards: Schema.Int }),
  execute: () =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`SELECT l.pid, count(*)::int AS shards FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
          AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        GROUP BY l.pid`,
    ),
});
/** By the database's clock. */
const approvalTimes = SqlSchema.findAll({
  Request: Schema.Void,
  Result: Schema.Struct({ askedSecondsAgo: Schema.Finite, openForSeconds: Schema.Finite }),
  execute: () =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (
        sql,
      ) => sql`SELECT extract(epoch FROM clock_timestamp() - requested_at)::float8 AS "askedSecondsAgo",
          extract(epoch FROM expires_at - clock_timestamp())::float8 AS "openForSeconds"
        FROM approval_requests WHERE state = 'pending'`,
    ),
});
const callKeys = SqlSchema.findAll({
  Request: Schema.Void,
  Result: Schema.Struct({ key: Schema.String }),
  execute: () =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`SELECT idempotency_key AS key FROM tool_calls WHERE idempotency_key IS NOT NULL`,
    ),
});
/** The results of a run's calls as its records have them, in order. */
const settledResults = SqlSchema.findAll({
  Request: Schema.String,
  Result: Schema.Struct({
    body: Schema.fromJsonString(Schema.Struct({ toolName: Schema.String, result: Schema.Json })),
  }),
  execute: (runId) =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`SELECT body FROM journal_records
        WHERE run_id = ${runId} AND kind = 'ToolCallSettled' ORDER BY sequence`,
    ),
});
const digests = SqlSchema.findAll({
  Request: Schema.Void,
  Result: Schema.Struct({ digest: Schema.String }),
  execute: () =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`SELECT digest FROM journal_records ORDER BY thread_id, sequence`,
    ),
});

/** One connection to the database of a proof; `close` it. */
export const openStore = (url: string) => {
  const runtime = ManagedRuntime.make(layer(url));
  const run = <A, E>(effect: Effect.Effect<A, E, Services>): Promise<A> =>
    runtime.runPromise(effect);
  let commands = 0;
  const command = () => {
    commands += 1;
    return { commandId: CommandId.make(`fleet-${process.pid}-${commands}`), reason: "proof" };
  };
  const resolveAs = (open: Open, resolution: ResolutionKind) =>
    run(
      resolveUnknown(operator, open.unknownId, {
        ...command(),
        parametersDigest: open.digest,
        evidence: "the provider's own book",
        resolution,
        ...(resolution === "completed-with-result"
          ? { result: `${open.tool} done`, isFailure: false }
          : {}),
      }),
    );
  return {
    run,
    close: () => runtime.dispose(),
    prepare: () =>
      run(
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient;
          yield* sql`INSERT INTO tenants (tenant_id, name) VALUES ('default', 'Default') ON CONFLICT DO NOTHING`;
          yield* sql`INSERT INTO operators (tenant_id, operator_id, name, email, role)
            VALUES ('default', 'opr_fleet', 'Fleet', 'fleet@localhost', 'admin') ON CONFLICT DO NOTHING`;
        }),
      ),
    /** Submits; the same key twice is one submission. */
    submit: (script: Script, key: string, threadId?: ThreadId) =>
      run(
        Effect.flatMap(SubmissionLedger, (ledger) =>
          ledger.admit({
            tenantId,
            agentId: AgentId.make("fleet"),
            threadId,
            principal: requester,
            idempotencyKey: key,
            input: script,
            title: key,
          }),
        ),
      ),
    pending: () => run(pendingApprovals()),
    unknowns: () => run(openUnknowns()),
    states: () => run(runStates()),
    /** Runs that a worker drives whose id starts so. */
    ownedBy: (prefix: string) =>
      run(Effect.map(owned(prefix), (rows) => rows.map((row) => row.runId))),
    /** Whether that many members share all 64 shards evenly: threads stay where they are from then on. */
    isShared: (members: number) =>
      run(
        Effect.map(
          shardHolders(),
          (holders) =>
            holders.length === members &&
            holders.reduce((sum, { shards }) => sum + shards, 0) === 64 &&
            holders.every(({ shards }) => shards >= Math.floor(32 / members)),
        ),
      ),
    /** When the pending requests were made and until when they are open. */
    approvalTimes: () => run(approvalTimes()),
    results: (runId: string) =>
      run(Effect.map(settledResults(runId), (rows) => rows.map(({ body }) => body))),
    /** Idempotency keys of every call that the records say may have run. */
    callKeys: () => run(Effect.map(callKeys(), (rows) => new Set(rows.map((row) => row.key)))),
    /** The digest of every record, in order. */
    digests: () => run(Effect.map(digests(), (rows) => rows.map((row) => row.digest))),
    decide: (request: Pending, decision: "approved" | "denied") =>
      run(
        decideApproval(operator, request.requestId, {
          ...command(),
          decision,
          parametersDigest: request.digest,
        }),
      ),
    /** What an operator does who has read the provider's book. */
    resolve: (open: Open, happened: boolean) =>
      resolveAs(open, happened ? "completed-with-result" : "never-happened"),
    resolveAs,
    /** What an operator does with a run that was held after a restore. */
    wake: (runId: RunId) => run(wakeRun(operator, runId, command())),
    abort: (runId: RunId) => run(abortRun(operator, runId, command())),
  };
};
export type Store = ReturnType<typeof openStore>;
