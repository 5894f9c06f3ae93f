/** The API over real HTTP on a loopback port, on a database of its own, with operators of every role. */
import { createHash, randomBytes } from "node:crypto";
import { Effect, Exit, Layer, ManagedRuntime, Option, Redacted, Result, Scope } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { AgentView } from "#lib/contract/agent-views.ts";
import { AgentId, Digest, type TenantId, type ThreadId } from "#lib/contract/ids.ts";
import { InvalidInput } from "#lib/contract/errors.ts";
import { parseJson } from "#lib/contract/json/secure-parse.ts";
import type { OperatorRole } from "#lib/contract/status.ts";
import { Wakes } from "#lib/durable/Wakes.ts";
import { apiRoutes } from "#server/http/routes.ts";
import { StuckMillis } from "#server/http/sse.ts";
import type { LostCall, ProbeRule } from "#lib/tool-probe.ts";
import { startServer } from "#server/http/Server.ts";
import { seedInstallation } from "#server/operator/seed-installation.ts";
import { type ProbeOutcome, ToolProbes } from "#server/operator/ToolProbes.ts";
import { type CallStanding, ToolSchemas } from "#server/operator/ToolSchemas.ts";
import { AgentCatalogue } from "#server/views/AgentCatalogue.ts";
import * as Database from "#server/postgres/Database.ts";
import { EventHints } from "#server/postgres/EventHints.ts";
import { portsLayer } from "#server/postgres/ports.ts";
import { makeTestDatabase } from "#tests/support/postgres.ts";

/** The one agent these tests know; its only tool answers `{ ok: boolean }`. */
export const deskAgent: AgentView = {
  agentId: AgentId.make("desk"),
  instructions: "Serve the customer.",
  definitionDigest: Digest.make("d".repeat(64)),
  inputSchema: {},
  toolCount: 1,
  tools: [],
  exposure: null,
  policyInstalled: false,
  budgets: { maxTurns: 12, maxToolCalls: 24, maxDurationMillis: 300_000, toolConcurrency: 4 },
  visibilityInstalled: false,
  examples: [],
};

/** What the registry answers about a pending call; a test that changes it puts it back. */
export const standing: { now: CallStanding } = {
  now: {
    toolDigest: Digest.make("b".repeat(64)),
    definitionDigest: Digest.make("d".repeat(64)),
    approvalRule: "1 person, the requester may be one, a denial is recoverable, risk high",
    authorization: "asked",
    visibility: "visible",
    maxToolCalls: 24,
  },
};

const catalogue = Layer.succeed(AgentCatalogue, {
  list: () => Effect.succeed([deskAgent]),
  checkInput: ({ input }) =>
    typeof input === "object" && input !== null && "forbidden" in input
      ? Effect.fail(
          new InvalidInput({
            message: "forbidden is no field of the input.",
            path: "body.input.forbidden",
          }),
        )
      : Effect.void,
  policyOf: () =>
    Effect.succeed({
      maxTurns: 12,
      maxToolCalls: 24,
      maxDurationMillis: 300_000,
      toolConcurrency: 4,
    }),
  unknownPolicyOf: () => Effect.succeed("block"),
  model: Effect.succeed({ modelId: "scripted", rehearsal: true }),
});

const isOkShape = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "ok" in value && typeof value.ok === "boolean";

const refusedArguments = (message: string) =>
  Effect.fail(new InvalidInput({ message, path: "body.suggestion" }));

const toolSchemas = Layer.succeed(ToolSchemas, {
  standingOf: () => Effect.sync(() => standing.now),
  // The desk's tool takes a whole `amount`.
  checkArguments: ({ text }) => {
    const parsed = parseJson(text);
    if (Result.isFailure(parsed)) return refusedArguments(parsed.failure.message);
    const value = parsed.success;
    return typeof value === "object" &&
      value !== null &&
      "amount" in value &&
      Number.isInteger(value.amount)
      ? Effect.succeed(value)
      : refusedArguments("The tool needs a whole amount.");
  },
  validateResult: ({ result }) =>
    isOkShape(result)
      ? Effect.void
      : Effect.fail(
          new InvalidInput({ message: "The result needs ok: boolean.", path: "body.result" }),
        ),
  resultSchemas: () => Effect.succeed({ success: { type: "object" }, failure: null }),
});

/** What the desk's destination answers and what its rule settles; a test sets both, and reads who was asked. */
export const destination: {
  rule: ProbeRule;
  answer: Effect.Effect<ProbeOutcome>;
  readonly asked: Array<LostCall>;
} = {
  rule: {},
  answer: Effect.succeed({ report: { finding: "inconclusive", detail: "" }, settles: undefined }),
  asked: [],
};

const toolProbes = Layer.succeed(ToolProbes, {
  ruleOf: ({ toolName }) =>
    toolName === "no-probe" ? Option.none() : Option.some(destination.rule),
  ask: ({ call }) =>
    Effect.suspend(() => {
      destination.asked.push(call);
      return Effect.asSome(destination.answer);
    }),
});

/** A decoded answer that tests look into freely: a wrong path is undefined, and the assertion fails. */
// oxlint-disable-next-line typescript/no-explicit-any -- the contract's schemas are tested elsewhere; here any shape may come
export type Answer = any;

/** A bearer token for a new operator; there is no route that makes one, so the rows are written here. */
export interface TestOperator {
  readonly operatorId: string;
  readonly token: string;
  readonly role: OperatorRole;
}

export const startApi = async (options: { readonly stuckMillis?: number } = {}) => {
  const database = await makeTestDatabase();
  const woken: Array<{ readonly tenantId: TenantId; readonly threadId: ThreadId }> = [];
  const wakes = Layer.succeed(Wakes, {
    wake: (thread) => Effect.sync(() => void woken.push(thread)),
  });
  const services = Layer.mergeAll(portsLayer, wakes, catalogue, toolSchemas, toolProbes).pipe(
    Layer.provideMerge(EventHints.layer),
    Layer.provideMerge(Database.layer({ url: Redacted.make(database.url), maxConnections: 16 })),
  );
  const runtime = ManagedRuntime.make(services);
  const scope = Scope.makeUnsafe();
  await runtime.runPromise(seedInstallation(Option.none()));
  const server = await runtime.runPromise(
    startServer(
      {
        host: "127.0.0.1",
        port: 0,
        development: false,
        pages: {
          handle: (request, response) => {
            response.setHeader("content-type", "text/html");
            response.end(`page ${request.url}`);
          },
        },
        graceMillis: 500,
      },
      options.stuckMillis === undefined
        ? apiRoutes
        : apiRoutes.pipe(Layer.provide(Layer.succeed(StuckMillis, options.stuckMillis))),
    ).pipe(Scope.provide(scope)),
  );
  let dropping: Promise<void> | undefined;
  let closing: Promise<void> | undefined;
  const dropDatabase = () => (dropping ??= database.drop());
  const closeServer = () => (closing ??= Effect.runPromise(Scope.close(scope, Exit.void)));
  const origin = `http://127.0.0.1:${server.port}`;

  const addOperator = (role: OperatorRole, tenantId = "default"): Promise<TestOperator> =>
    runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient;
        const operatorId = `opr_${randomBytes(6).toString("hex")}`;
        const token = `eat_${randomBytes(24).toString("base64url")}`;
        yield* sql`INSERT INTO tenants (tenant_id, name) VALUES (${tenantId}, ${tenantId}) ON CONFLICT DO NOTHING`;
        yield* sql`INSERT INTO operators (tenant_id, operator_id, name, email, role)
          VALUES (${tenantId}, ${operatorId}, ${`Name of ${operatorId}`}, ${`${operatorId}@example.test`}, ${role})`;
        yield* sql`INSERT INTO bearer_tokens (tenant_id, token_id, token_digest, operator_id, name)
          VALUES (${tenantId}, ${`tok_${operatorId}`}, ${createHash("sha256").update(token).digest("hex")},
            ${operatorId}, 'test')`;
        return { operatorId, token, role };
      }),
    );

  const request = async (
    path: string,
    options: {
      readonly method?: string;
      readonly token?: string;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ) => {
    const response = await fetch(`${origin}/api/v1${path}`, {
      method: options.method ?? (options.body === undefined ? "GET" : "POST"),
      headers: {
        ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
        ...(options.body === undefined ? {} : { "content-type": "application/json" }),
        ...options.headers,
      },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
    const body: Answer = isJson && text !== "" ? JSON.parse(text) : undefined;
    return { status: response.status, body, text, headers: response.headers };
  };

  return {
    origin,
    run: runtime.runPromise.bind(runtime),
    url: database.url,
    woken,
    addOperator,
    request,
    /** Takes the database away under the running server. */
    dropDatabase,
    /** Closes the server only. */
    closeServer,
    close: async () => {
      await closeServer();
      await runtime.dispose();
      await dropDatabase();
    },
  };
};

export type TestApi = Awaited<ReturnType<typeof startApi>>;
