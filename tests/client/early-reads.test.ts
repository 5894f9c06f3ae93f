import { assert, describe, it } from "@effect/vitest";
import * as Schema from "effect/Schema";
import { type EarlyReads, earlyReadsScript, takeEarlyRead } from "#lib/client/early-reads.ts";
import { request, type Surroundings } from "#lib/client/request.ts";
import { makeServerClock } from "#lib/client/server-clock.ts";

interface Asked {
  readonly url: string;
  readonly init: RequestInit;
}

/** Runs the document's script as a browser at this address would, with a server that answers `{}`. */
const openedAt = (pathname: string, search = "", fails = false) => {
  const asked: Array<Asked> = [];
  const window: EarlyReads = {};
  const fetch = (url: string, init: RequestInit) => {
    asked.push({ url, init });
    return fails
      ? Promise.reject(new TypeError("offline"))
      : Promise.resolve(new Response('{"ok":true}'));
  };
  // The script is text for a document's head; this is the only way to run it as one.
  // oxlint-disable-next-line no-new-func
  new Function("window", "location", "performance", "fetch", earlyReadsScript)(
    window,
    { pathname, search },
    { timeOrigin: 1_000, now: () => 5 },
    fetch,
  );
  return { asked, window };
};

const answer = Schema.Struct({ ok: Schema.Boolean });

const surroundings = (early: Surroundings["early"], fetched: Array<string>): Surroundings => ({
  fetch: (url) => {
    fetched.push(String(url));
    return Promise.resolve(new Response('{"ok":false}'));
  },
  now: () => 2_000,
  clock: makeServerClock(() => 2_000),
  randomId: () => "id",
  ...(early === undefined ? {} : { early }),
});

describe("what a page asks before its scripts run", () => {
  it("[C080] a run's page asks for who is there, the badges and its run; others for the first two; sign-in for nothing", () => {
    const urls = (at: ReturnType<typeof openedAt>) => at.asked.map(({ url }) => url);
    const shell = ["/api/v1/me", "/api/v1/counts"];
    assert.deepStrictEqual(urls(openedAt("/runs/run_1a")), [...shell, "/api/v1/runs/run_1a"]);
    assert.deepStrictEqual(urls(openedAt("/runs/run_1a", "?at=12")), shell);
    for (const path of ["/approvals", "/runs", "/runs/new", "/runs/run_a/b", '/runs/run_"><x'])
      assert.deepStrictEqual(urls(openedAt(path)), shell, path);
    assert.deepStrictEqual(urls(openedAt("/sign-in", "?next=/runs")), []);
  });

  it("[C080] the first request takes the early answer with its own times, the second asks the server", async () => {
    const { window } = openedAt("/approvals");
    const fetched: Array<string> = [];
    const early = (path: string) => takeEarlyRead(window, path, 2_000);
    const read = () => request(surroundings(early, fetched), { path: "/me", answer });
    assert.deepStrictEqual((await read()).value, { ok: true });
    assert.deepStrictEqual(fetched, []);
    assert.deepStrictEqual((await read()).value, { ok: false });
    assert.deepStrictEqual(fetched, ["/api/v1/me"]);
  });

  it("[C080] one that failed, one with a filter and a command are asked as ever", async () => {
    const { window } = openedAt("/approvals", "", true);
    const fetched: Array<string> = [];
    const from = surroundings((path) => takeEarlyRead(window, path, 2_000), fetched);
    assert.deepStrictEqual((await request(from, { path: "/me", answer })).value, { ok: false });
    await request(from, { path: "/counts", answer, query: { limit: 1 } });
    await request(from, { path: "/counts", answer, method: "POST" });
    assert.deepStrictEqual(fetched, ["/api/v1/me", "/api/v1/counts?limit=1", "/api/v1/counts"]);
  });

  it("[C080] an early answer is left when the page took too long to start, and no name of an object is one", () => {
    const { window } = openedAt("/approvals");
    assert.isUndefined(takeEarlyRead(window, "toString", 2_000));
    assert.isUndefined(takeEarlyRead(window, "/me", 60_000));
    assert.isUndefined(takeEarlyRead({}, "/me", 2_000));
  });

  it("[C039] whoever gives up waiting for an early answer hears of it", async () => {
    const stop = new AbortController();
    const never = { sentAt: 0, answer: new Promise<undefined>(() => {}) };
    const waiting = request(
      surroundings(() => never, []),
      { path: "/me", answer, signal: stop.signal },
    );
    stop.abort();
    const failure = await waiting.catch((error: unknown) => error);
    assert.strictEqual(failure instanceof DOMException ? failure.name : "", "AbortError");
  });
});
