/** What is asked about a run that was put away is answered by every route as the run itself answers. */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Effect } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { OpenApi } from "effect/unstable/httpapi";
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import { Api, apiPrefix } from "#lib/contract/http/api.ts";
import { restoreArchive } from "#server/retention/restore-archive.ts";
import { retain } from "#server/retention/retain.ts";
import { startApi, type TestApi, type TestOperator } from "#tests/support/api-server.ts";
import { DiagnosticId } from "#lib/contract/ids.ts";
import { decide, resolve } from "#tests/postgres/people.ts";
import { startedRun } from "#tests/support/ledger-fixtures.ts";

interface Route {
  readonly name: string;
  readonly method: string;
  /** Which id the path is about. */
  readonly about: string;
  /** With that id where it belongs and something plausible in every other place. */
  readonly path: (id: string) => string;
}

/** What is asked for by an id that leads to no run by itself. */
const itemParameters = ["requestId", "unknownId", "denialId", "diagnosticId"] as const;

/** What a route needs besides the run, by the name of its parameter. */
const plausible: Readonly<Record<string, string>> = {
  turn: "1",
  sequence: "1",
  first: "1",
  before: "1",
  callId: "call-1",
  body: "parameters",
  tool: "refund",
};

/** Bodies of acts; one that is missing here fails below as input that is not understood. */
const bodyOf = ({ method, name }: Route, at: number): unknown => {
  if (method === "GET") return undefined;
  const act = { commandId: `archived-command-${at}`, reason: "looked at" };
  const digest = "0".repeat(64);
  if (name.endsWith("/decision")) return { ...act, decision: "approved", parametersDigest: digest };
  if (name.endsWith("/extend")) return { ...act, seconds: 3_600 };
  if (name.endsWith("/look")) return { looking: true };
  if (name.endsWith("/resolution"))
    return {
      ...act,
      resolution: "never-happened",
      parametersDigest: digest,
      evidence: "the ledger",
    };
  return name.endsWith("/acknowledge") ? { ...act, note: "seen" } : act;
};

/** The audit outlives the runs it tells of. */
const keepsItsRows = new Set([`GET ${apiPrefix}/audit`]);

const methods = ["get", "post", "put", "patch", "delete"] as const;

/** Every route of the API that is about one run, by its path or by a filter; a new one is here by itself. */
const routesOfOneRun = (): ReadonlyArray<Route> =>
  Object.entries(OpenApi.fromApi(Api).paths).flatMap(([template, operations]) =>
    methods.flatMap((verb): ReadonlyArray<Route> => {
      const operation = operations[verb];
      if (operation === undefined) return [];
      const method = verb.toUpperCase();
      const name = `${method} ${template}`;
      const query = (operation.parameters ?? []).filter((parameter) => parameter.in === "query");
      const isFilter = query.some((parameter) => parameter.name === "runId");
      const item = itemParameters.find((parameter) => template.includes(`{${parameter}}`));
      if (!(template.includes("{runId}") || isFilter || item !== undefined)) return [];
      if (keepsItsRows.has(name)) return [];
      const about = item ?? "runId";
      const asked = (id: string) =>
        query
          .filter((parameter) => parameter.required || parameter.name === "runId")
          .map(
            (parameter) =>
              `${parameter.name}=${parameter.name === "runId" ? id : plausible[parameter.name]}`,
          );
      const path = (id: string) =>
        `${template
          .slice(apiPrefix.length)
          .replaceAll(/\{(\w+)\}/g, (_, key: string) =>
            key === about ? id : (plausible[key] ?? "1"),
          )}?${asked(id).join("&")}`;
      return [{ name, method, about, path }];
    }),
  );

/** One of everything that is asked for by its own id, in a run that has settled. */
const runWithItems = Effect.fnUntraced(function* () {
  const { append, place, records } = yield* startedRun();
  const asked = records.approvalRequested("c1");
  const doubt = records.unknown("c2");
  const denied = records.denied("c3");
  const diagnosticId = DiagnosticId.make("dia_archived");
  const evidence = { fingerprint: "f", title: "t", toolName: null, callId: null, encoded: {} };
  yield* append([records.turn(["c1", "c2", "c3"]), asked, records.prepared("c2"), doubt]);
  yield* append([denied], [{ ...evidence, diagnosticId }]);
  yield* decide(place, "c1", "denied");
  yield* resolve(place, "c2");
  yield* append([records.runSettled()]);
  return {
    runId: place.runId,
    requestId: asked.requestId,
    unknownId: doubt.unknownId,
    denialId: denied.denialId,
    diagnosticId,
  };
});

const routes = routesOfOneRun();
let api: TestApi;
let admin: TestOperator;
let folder: string;
let archived: string;
/** The run's id and those of what it held, by the name of the parameter. */
let ids: Readonly<Record<string, string>>;
let archive: string;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addOperator("admin");
  folder = mkdtempSync(path.join(os.tmpdir(), "effect-agent-archived-"));
  const made = await api.run(runWithItems());
  ids = made;
  archived = made.runId;
  const look = { token: admin.token, method: "POST" };
  assert.strictEqual((await api.request(`/runs/${archived}/verification`, look)).status, 200);
  await api.run(
    Effect.gen(function* () {
      const sql = yield* SqlClient;
      yield* sql`UPDATE submissions SET settled_at = now() - interval '100 days'
        WHERE run_id = ${archived}`;
      yield* retain({ olderThanSeconds: 86_400, folder, onProgress: () => Effect.void });
    }),
  );
  const rows = await api.run(
    Effect.flatMap(
      SqlClient,
      (sql) => sql`SELECT archive FROM archived_runs WHERE run_id = ${archived}`,
    ),
  );
  archive = String(rows[0]?.["archive"]);
});
afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (route: Route, id: string, at: number) =>
  api.request(route.path(id), {
    token: admin.token,
    method: route.method,
    body: bodyOf(route, at),
  });

describe("a run that was put away because of its age", () => {
  it("[PG-01] is asked about by all that there is: the list of routes is not empty or short", () => {
    assert.isAtLeast(routes.length, 18);
    for (const parameter of itemParameters)
      assert.isTrue(
        routes.some(({ about }) => about === parameter),
        parameter,
      );
    assert.match(archive, /./);
  });

  it.each(routes)("[PG-01] $name answers 410 with the archive's name", async (route) => {
    const answer = await ask(route, ids[route.about] ?? "", routes.indexOf(route));
    assert.strictEqual(answer.status, 410, answer.text);
    assert.strictEqual(answer.body._tag, "RunArchived");
    assert.strictEqual(answer.body.runId, archived);
    assert.strictEqual(answer.body.archive, archive);
    assert.strictEqual(answer.body.outcome, "completed");
  });

  it.each(routes)("[PG-01] $name says of a run that never was no such thing", async (route) => {
    const answer = await ask(route, "run_never", routes.indexOf(route) + routes.length);
    assert.include([200, 404], answer.status, answer.text);
  });

  it("[PG-01][C042] what it held is no such thing to another tenant, and is there again once its archive is back", async () => {
    const stranger = await api.addOperator("admin", "elsewhere");
    const asked = { token: stranger.token };
    assert.strictEqual((await api.request(`/approvals/${ids["requestId"]}`, asked)).status, 404);
    await api.run(restoreArchive(path.join(folder, archive)));
    const again = await api.request(`/approvals/${ids["requestId"]}`, { token: admin.token });
    assert.strictEqual(again.status, 200, again.text);
    const left = await api.run(
      Effect.flatMap(
        SqlClient,
        (sql) => sql`SELECT FROM archived_items WHERE run_id = ${archived}`,
      ),
    );
    assert.deepStrictEqual(left, []);
  });

  it("[PG-01] keeps its audit rows", async () => {
    const answer = await api.request(`/audit?runId=${archived}`, { token: admin.token });
    assert.strictEqual(answer.status, 200);
    assert.isAbove(answer.body.items.length, 0);
  });
});
