/** The seeded database from beside the product: operators for the bench, events in storms, what a row says. */
import * as PgConnection from "@effect/sql-pg/PgConnection";
import { Effect, Exit, Redacted, Scope } from "effect";
import { secretDigest } from "#server/operator/secrets.ts";

export interface BenchDatabase {
  readonly rows: (
    statement: string,
    parameters?: ReadonlyArray<unknown>,
  ) => Promise<ReadonlyArray<Record<string, unknown>>>;
  /** Bearer tokens of operators of the bench's own. */
  readonly operators: (count: number) => Promise<ReadonlyArray<string>>;
  /** A sign-in secret for a browser's cookie. */
  readonly signIn: () => Promise<string>;
  /** Events of a run, as its own transaction would announce them; `at` is the bench's clock. */
  readonly announce: (run: BenchRun, count: number, at: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface BenchRun {
  readonly runId: string;
  readonly threadId: string;
  readonly agentId: string;
}

const tenant = "default";

export const openDatabase = async (url: string): Promise<BenchDatabase> => {
  const scope = Scope.makeUnsafe();
  const connection = await Effect.runPromise(
    PgConnection.make({ url: Redacted.make(url) }).pipe(Scope.provide(scope)),
  );
  const rows: BenchDatabase["rows"] = async (statement, parameters = []) => {
    const answer = await Effect.runPromise(
      // Only values that the driver writes by itself go in.
      connection.query(statement, parameters as never),
    );
    return (answer as unknown as { rows: ReadonlyArray<Record<string, unknown>> }).rows ?? answer;
  };
  const addOperator = async (name: string): Promise<string> => {
    const id = `opr_bench_${name}`;
    await rows(
      `INSERT INTO operators (tenant_id, operator_id, name, email, role)
       VALUES ($1, $2, $2, $2 || '@bench.test', 'admin') ON CONFLICT DO NOTHING`,
      [tenant, id],
    );
    return id;
  };
  return {
    rows,
    operators: async (count) => {
      const tokens: Array<string> = [];
      for (let at = 0; at < count; at++) {
        const id = await addOperator(String(at));
        const token = `eat_bench_${at}_${Date.now().toString(36)}`;
        await rows(
          `INSERT INTO bearer_tokens (tenant_id, token_id, token_digest, operator_id, name)
           VALUES ($1, $2, $3, $4, 'bench')`,
          [tenant, `tok_${token}`, secretDigest(token), id],
        );
        tokens.push(token);
      }
      return tokens;
    },
    signIn: async () => {
      const secret = `eas_bench_${Date.now().toString(36)}`;
      await rows(
        `INSERT INTO sign_in_sessions (tenant_id, session_digest, operator_id, expires_at)
         VALUES ($1, $2, $3, now() + interval '2 hours')`,
        [tenant, secretDigest(secret), await addOperator("browser")],
      );
      return secret;
    },
    announce: async (run, count, at) => {
      await rows(
        `WITH written AS (
           INSERT INTO event_inbox (tenant_id, agent_id, thread_id, run_id, kind, at, body)
           SELECT $1, $2, $3, $4, 'ModelText', to_timestamp($5::float8 / 1000),
             '{"_tag":"ModelText","text":".","turn":100000}' FROM generate_series(1, $6::int) RETURNING 1)
         SELECT pg_notify('effect_agent', 'inbox ' || $1) FROM (SELECT count(*) FROM written) AS counted`,
        [tenant, run.agentId, run.threadId, run.runId, at, count],
      );
    },
    close: () => Effect.runPromise(Scope.close(scope, Exit.void)),
  };
};

/** The newest seeded run whose title begins so. */
export const runTitled = async (database: BenchDatabase, title: string): Promise<BenchRun> => {
  const [row] = await database.rows(
    `SELECT r.run_id, r.thread_id, r.agent_id FROM runs r JOIN idempotency_keys k
       ON k.tenant_id = r.tenant_id AND k.run_id = r.run_id
     WHERE r.tenant_id = $1 AND k.key LIKE 'seed-l%' AND r.title LIKE $2 || '%'
     ORDER BY r.created_at DESC LIMIT 1`,
    [tenant, title],
  );
  if (row === undefined)
    throw new Error(`No seeded run is titled "${title}": run npm run seed first.`);
  return {
    runId: String(row["run_id"]),
    threadId: String(row["thread_id"]),
    agentId: String(row["agent_id"]),
  };
};
