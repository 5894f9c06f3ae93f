/** What is asked about a run that was put away is answered by every route as the run itself answers. */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Effect } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { OpenApi } from "effect/unstable/httpapi";
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import { Api, apiPrefix } from "#lib/contract/http/api.ts";
import { retain } from "#server/retention/retain.ts";
import { startApi, type TestApi, type TestOperator } from "#tests/support/api-server.ts";
import { startedRun } from "#tests/support/ledger-fixtures.ts";

interface Route {
  readonly name: string;
  readonly method: string;
  /** With the run where it belongs and something plausible in every other place. */
  readonly path: (runId: string) => string;
}

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
const bodyOf = (method: string, at: number): unknown =>
  method === "GET" ? undefined : { commandId: `archived-command-${at}`, reason: "looked at" };

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
      if (!(template.includes("{runId}") || isFilter) || keepsItsRows.has(name)) return [];
      const asked = (runId: string) =>
        query
          .filter((parameter) => parameter.required || parameter.name === "runId")
          .map(
            (parameter) =>
              `${parameter.name}=${parameter.name === "runId" ? runId : plausible[parameter.name]}`,
          );
      const path = (runId: string) =>
        `${template
          .slice(apiPrefix.length)
          .replaceAll(/\{(\w+)\}/g, (_, key: string) =>
            key === "runId" ? runId : (plausible[key] ?? "1"),
          )}?${asked(runId).join("&")}`;
      return [{ name, method, path }];
    }),
  );

const routes = routesOfOneRun();
let api: TestApi;
let admin: TestOperator;
let folder: string;
let archived: string;
let archive: string;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addOperator("admin");
  folder = mkdtempSync(path.join(os.tmpdir(), "effect-agent-archived-"));
  archived = await api.run(
    Effect.gen(function* () {
      const { append, place, records } = yield* startedRun();
      yield* append([records.runSettled()]);
      return place.runId;
    }),
  );
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

const ask = ({ method, path }: Route, runId: string, at: number) =>
  api.request(path(runId), { token: admin.token, method, body: bodyOf(method, at) });

describe("a run that was put away because of its age", () => {
  it("[PG-01] is asked about by all that there is: the list of routes is not empty or short", () => {
    assert.isAtLeast(routes.length, 18);
    assert.match(archive, /./);
  });

  it.each(routes)("[PG-01] $name answers 410 with the archive's name", async (route) => {
    const answer = await ask(route, archived, routes.indexOf(route));
    assert.strictEqual(answer.status, 410, answer.text);
    assert.strictEqual(answer.body._tag, "RunArchived");
    assert.strictEqual(answer.body.archive, archive);
    assert.strictEqual(answer.body.outcome, "completed");
  });

  it.each(routes)("[PG-01] $name says of a run that never was no such thing", async (route) => {
    const answer = await ask(route, "run_never", routes.indexOf(route) + routes.length);
    assert.include([200, 404], answer.status, answer.text);
  });

  it("[PG-01] keeps its audit rows", async () => {
    const answer = await api.request(`/audit?runId=${archived}`, { token: admin.token });
    assert.strictEqual(answer.status, 200);
    assert.isAbove(answer.body.items.length, 0);
  });
});
