/**
 * Serves the built console with contract-shaped answers and a live event stream, without the host:
 * `CONSOLE_BUILD_FOLDER=.scratch/next-console PORT=4310 npx tsx tests/support/console-fixture-server.ts`.
 * `POST /fixture/mode` with `{"mode": ...}` makes the API slow, empty, forbidden, failing or hanging.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import next from "next";
import { securityHeaders } from "#server/http/security-headers.ts";
import * as data from "./console-fixture-data.ts";

export type FixtureMode =
  | "normal"
  | "slow"
  | "empty"
  | "forbidden"
  | "failing"
  | "hanging"
  | "signed-out";

let mode: FixtureMode = "normal";
let sequence = 18_442;
const decided = new Map<number, string>();
const streams = new Set<ServerResponse>();
/** Frames by sequence, so that a stream resumes after its cursor. */
const log: Array<readonly [number, string]> = [];

const send = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
};

const page = (items: ReadonlyArray<unknown>, query: URLSearchParams, capped = false) => {
  const from = Number(query.get("cursor") ?? 0);
  const limit = Number(query.get("limit") ?? 50);
  const to = Math.min(items.length, from + limit);
  return {
    items: mode === "empty" ? [] : items.slice(from, to),
    ...(to < items.length && mode !== "empty" ? { next: String(to) } : {}),
    count:
      mode === "empty"
        ? { value: 0, capped: false }
        : { value: Math.min(items.length, 10_000), capped },
    asOf: sequence,
  };
};

const many = <Row>(count: number, row: (number: number) => Row): ReadonlyArray<Row> =>
  Array.from({ length: count }, (_, index) => row(index + 1));

const allRuns = Array.from({ length: 12_000 }, (_, index) => data.runRow(index));

const runsMatching = (query: URLSearchParams) => {
  const states = query.getAll("state");
  const text = (query.get("text") ?? "").toLowerCase();
  return allRuns.filter(
    (run) =>
      (states.length === 0 || states.includes(run.state)) &&
      (text === "" || run.runId.startsWith(text) || run.title.toLowerCase().includes(text)) &&
      (query.get("agentId") === null || run.agentId === query.get("agentId")) &&
      (query.get("failureTag") === null || run.failureTag === query.get("failureTag")),
  );
};

const stateOf = (number: number): string =>
  decided.get(number) ??
  (number > 200 ? ["approved", "denied", "expired", "withdrawn"][number % 4] : "pending") ??
  "pending";
const numberOf = (id: string | undefined): number => Number((id ?? "").slice(-5));

const emit = (event: object, runId = "run-00000"): void => {
  sequence += 1;
  const logged = {
    version: 1,
    sequence,
    tenantId: "main",
    at: Date.now(),
    agentId: "retail-desk",
    threadId: "thread-00000",
    runId,
    event,
  };
  const frame = `id: ${sequence}\ndata: ${JSON.stringify(logged)}\n\n`;
  log.push([sequence, frame]);
  for (const stream of streams) stream.write(frame);
};

const beat = (stream: ServerResponse): void => {
  stream.write(
    `event: heartbeat\ndata: ${JSON.stringify({ last: sequence, serverTime: Date.now() })}\n\n`,
  );
};

const get = (path: ReadonlyArray<string>, query: URLSearchParams): unknown => {
  const [noun, id, part] = path;
  const now = { asOf: sequence, serverTime: Date.now() };
  switch (noun) {
    case "me":
      return {
        operatorId: "op-1",
        tenantId: "main",
        name: "Ana Sofia Lima",
        email: "ana@example.com",
        role: "admin",
        hasPassword: true,
        rehearsal: true,
        modelId: "rehearsal-1",
        serverTime: Date.now(),
      };
    case "counts":
      return {
        pendingApprovals: 200 - decided.size,
        openUnknowns: 3,
        openDenials: 8,
        activeRuns: 1_500,
        ...now,
      };
    case "agents":
      return {
        items: mode === "empty" ? [] : [data.agentView("retail-desk"), data.agentView("warehouse")],
      };
    case "workers":
      return { items: mode === "empty" ? [] : [0, 1, 2].map(data.workerRow) };
    case "runs":
      if (id === undefined) {
        const runs = runsMatching(query);
        return page(runs, query, runs.length > 10_000);
      }
      if (part === "records") return page(many(120, data.recordRow), query);
      if (part === "exposure-explanation") {
        return {
          toolName: query.get("tool"),
          turn: Number(query.get("turn")),
          verdict: "not-selected",
          explanation:
            "The tool is eligible, but the discovery result of turn 2 did not select it.",
        };
      }
      return numberOf(id) >= 12_000 ? undefined : { ...data.runDetail(id), ...now };
    case "approvals": {
      if (id !== undefined)
        return {
          ...data.approvalDetail(numberOf(id), stateOf(numberOf(id))),
          serverTime: Date.now(),
        };
      const wanted = query.get("state") ?? "pending";
      return page(
        many(260, (number) => number)
          .filter((number) => stateOf(number) === wanted)
          .map((number) => data.approvalRow(number, wanted)),
        query,
      );
    }
    case "unknowns":
      if (id !== undefined)
        return {
          ...data.unknownDetail(numberOf(id), numberOf(id) > 50 ? "resolved" : "open"),
          serverTime: Date.now(),
        };
      return page(
        query.get("state") === "resolved"
          ? [data.unknownRow(51, "resolved")]
          : many(3, (number) => data.unknownRow(number)),
        query,
      );
    case "denials":
      if (id !== undefined) return data.denialRow(numberOf(id));
      return page(
        many(12, data.denialRow).filter(
          (row) =>
            (query.get("kind") === null || row.kind === query.get("kind")) &&
            (query.get("acknowledged") === null ||
              (row.acknowledgedAt !== null) === (query.get("acknowledged") === "yes")),
        ),
        query,
      );
    case "diagnostics":
      if (id !== undefined)
        return { ...data.diagnosticRow(numberOf(id)), diagnostic: data.diagnosticEvidence };
      return page(many(14, data.diagnosticRow), query);
    case "obligations":
      return page(many(18, data.obligationRow), query);
    case "audit":
      return page(many(140, data.auditRow), query);
    default:
      return undefined;
  }
};

const post = (
  path: ReadonlyArray<string>,
  body: Readonly<Record<string, unknown>>,
): readonly [number, unknown] => {
  const [noun, id, verb] = path;
  if (noun === "session") {
    if (body["token"] === "bad" || body["password"] === "bad")
      return [
        401,
        { _tag: "Unauthenticated", message: "The e-mail or the password is not right." },
      ];
    return [200, get(["me"], new URLSearchParams())];
  }
  if (noun === "submissions")
    return [
      202,
      {
        submissionId: "submission-00000",
        runId: "run-00000",
        threadId: "thread-00000",
        queueSequence: 1,
      },
    ];
  if (noun === "approvals" && id !== undefined) {
    const number = numberOf(id);
    if (verb === "look")
      return [200, { lookers: data.approvalDetail(number, stateOf(number)).lookers }];
    if (verb === "decision") {
      if (number === 10 && body["basis"] !== undefined && body["decision"] === "approved")
        return [
          409,
          {
            _tag: "ApprovalChanged",
            message:
              "The arguments are the ones you were shown, but what the call is judged by has changed since. Look at it again.",
            seenDigest: body["parametersDigest"],
            currentDigest: body["parametersDigest"],
            changes: [
              { part: "authorization", before: "no policy is installed", now: "a policy is asked" },
              { part: "callsLeft", before: "21", now: "3" },
            ],
          },
        ];
      if (typeof body["suggestion"] === "string" && !body["suggestion"].includes('"amount": "'))
        return [
          422,
          {
            _tag: "InvalidInput",
            message:
              'The suggested arguments are none for issue_refund: Expected string, got 5\n  at ["amount"]',
            path: "body.suggestion",
          },
        ];
      if (number === 9)
        return [
          409,
          {
            _tag: "ApprovalAlreadyDecided",
            message: "Ben Okoro denied this call 4 s before you.",
            decision: "denied",
            decidedBy: "Ben Okoro",
            decidedAt: Date.now() - 4_000,
          },
        ];
      const decision = String(body["decision"]);
      decided.set(number, decision);
      emit({
        _tag: "ApprovalDecided",
        turn: 3,
        callId: "call_3_0",
        toolName: "issue_refund",
        requestId: id,
        decision,
        actor: { kind: "operator", id: "op-1", name: "Ana Sofia Lima" },
        reason: String(body["reason"]),
      });
    }
    return [200, get(["approvals", id], new URLSearchParams())];
  }
  if (noun === "unknowns" && id !== undefined)
    return [200, { ...data.unknownDetail(numberOf(id), "resolved"), serverTime: Date.now() }];
  if (noun === "denials" && id !== undefined)
    return [
      200,
      {
        ...data.denialRow(numberOf(id)),
        acknowledgedAt: Date.now(),
        acknowledgedBy: "Ana Sofia Lima",
        note: String(body["note"]),
      },
    ];
  if (noun === "runs" && id !== undefined)
    return [200, { ...data.runDetail(id), asOf: sequence, serverTime: Date.now() }];
  return [404, { _tag: "NotFound", message: "There is nothing here.", what: "route" }];
};

const readBody = async (request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> => {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  const body: unknown = text === "" ? {} : JSON.parse(text);
  return typeof body === "object" && body !== null ? { ...body } : {};
};

const api = async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> => {
  const path = url.pathname.replace("/api/v1/", "").split("/").map(decodeURIComponent);
  if (path[0] === "events") {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    const after = Number(url.searchParams.get("after") ?? sequence);
    for (const [at, frame] of log) if (at > after) response.write(frame);
    beat(response);
    if (url.searchParams.get("runId") !== null) return;
    streams.add(response);
    request.on("close", () => streams.delete(response));
    return;
  }
  const body = await readBody(request);
  if (mode === "signed-out" && path[0] !== "session")
    return send(response, 401, { _tag: "Unauthenticated", message: "Your sign-in has ended." });
  if (mode === "hanging" && request.method === "POST") return;
  if (mode === "slow") await new Promise((resolve) => setTimeout(resolve, 4_000));
  const shell = path[0] === "me" || path[0] === "counts";
  if (mode === "failing" && !shell)
    return send(response, 503, {
      _tag: "StoreUnavailable",
      message: "The database refused the connection.",
    });
  if (mode === "forbidden" && !shell)
    return send(response, 403, {
      _tag: "Forbidden",
      message: "Your role may not look at this.",
      needs: "operator",
    });
  if (request.method === "POST") return send(response, ...post(path, body));
  const answer = get(path, url.searchParams);
  if (answer === undefined)
    return send(response, 404, {
      _tag: "NotFound",
      message: `There is no run ${path[1]}.`,
      what: "run",
    });
  send(response, 200, answer);
};

const port = Number(process.env["PORT"] ?? 4310);
const app = next({
  dev: process.env["NODE_ENV"] === "development",
  dir: process.cwd(),
  customServer: true,
  quiet: true,
});
await app.prepare();
const pages = app.getRequestHandler();
const server = createServer((request, response) => {
  const url = new URL(request.url ?? "/", `http://127.0.0.1:${port}`);
  if (url.pathname === "/fixture/mode") {
    void readBody(request).then((body) => {
      mode = (body["mode"] as FixtureMode) ?? "normal";
      if (body["emit"] !== undefined)
        emit(body["emit"] as object, String(body["runId"] ?? "run-00000"));
      send(response, 200, { mode });
    });
    return;
  }
  if (url.pathname.startsWith("/api/")) return void api(request, response, url);
  const headers = securityHeaders(process.env["NODE_ENV"] === "development");
  request.headers["content-security-policy"] = headers.contentSecurityPolicy;
  for (const [name, value] of headers.all) response.setHeader(name, value);
  void pages(request, response);
});
const upgrade = app.getUpgradeHandler();
server.on("upgrade", (request, socket, head) => void upgrade(request, socket, head));
server.listen(port, "127.0.0.1", () => console.log(`console fixtures on http://127.0.0.1:${port}`));

let tick = 0;
setInterval(() => {
  for (const stream of streams) beat(stream);
}, 5_000);
setInterval(() => {
  tick += 1;
  emit({
    _tag: "ToolProgress",
    turn: 3,
    callId: "call_3_1",
    toolName: "create_return_label",
    index: tick,
    value: { page: tick, status: "rendering" },
    dropped: 0,
  });
}, 1_500);
