/** Signing in, the cookie, the origin of requests, and what guessing costs. */
import { connect } from "node:net";
import { Effect } from "effect";
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import { Audit } from "#lib/durable/Audit.ts";
import { startApi, type TestApi, type TestOperator } from "#tests/support/api-server.ts";

let api: TestApi;
let admin: TestOperator;

beforeAll(async () => {
  api = await startApi();
  admin = await api.addOperator("admin");
});
afterAll(() => api.close());

const own = () => ({ origin: api.origin });

const newLink = async (email: string, role = "operator") => {
  const { status, body } = await api.request("/operators/sign-in-links", {
    token: admin.token,
    body: { email, name: `Name of ${email}`, role },
  });
  assert.strictEqual(status, 200);
  return body as { token: string; path: string; operatorId: string; expiresAt: number };
};

const cookieOf = (headers: Headers): string => headers.getSetCookie()[0] ?? "";
const pairOf = (cookie: string): string => cookie.split(";", 1)[0] ?? "";

const signedIn = async (email: string): Promise<{ cookie: string }> => {
  const { token } = await newLink(email);
  const { headers } = await api.request("/session", { body: { token }, headers: own() });
  return { cookie: pairOf(cookieOf(headers)) };
};

describe("the sign-in link", () => {
  it("[OP-09] signs one operator in once, with a cookie that scripts and other sites cannot use", async () => {
    const link = await newLink("ada@example.test");
    assert.match(link.path, /^\/sign-in#token=eal_/);
    const first = await api.request("/session", { body: { token: link.token }, headers: own() });
    assert.strictEqual(first.status, 200);
    assert.strictEqual(first.body.email, "ada@example.test");
    assert.strictEqual(first.body.role, "operator");
    assert.isTrue(first.body.rehearsal);
    const cookie = cookieOf(first.headers);
    assert.match(cookie, /HttpOnly/);
    assert.match(cookie, /SameSite=Strict/);
    assert.match(cookie, /Path=\//);
    assert.notMatch(cookie, /Secure/);
    const me = await api.request("/me", { headers: { cookie: pairOf(cookie) } });
    assert.strictEqual(me.body.operatorId, link.operatorId);
    const second = await api.request("/session", { body: { token: link.token }, headers: own() });
    assert.strictEqual(second.status, 401);
  });

  it("[OP-09] 10 uses of one link at once sign in once", async () => {
    const { token } = await newLink("race@example.test");
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        api.request("/session", { body: { token }, headers: own() }),
      ),
    );
    assert.strictEqual(answers.filter(({ status }) => status === 200).length, 1);
  });

  it("the cookie is Secure when the browser came by https", async () => {
    const { token } = await newLink("tls@example.test");
    const answer = await api.request("/session", {
      body: { token },
      headers: { ...own(), "x-forwarded-proto": "https" },
    });
    assert.match(cookieOf(answer.headers), /Secure/);
  });

  it("for an address that exists keeps its operator's role", async () => {
    const first = await newLink("keeps@example.test", "viewer");
    const second = await newLink("KEEPS@example.test", "admin");
    assert.strictEqual(second.operatorId, first.operatorId);
    const { body } = await api.request("/session", {
      body: { token: second.token },
      headers: own(),
    });
    assert.strictEqual(body.role, "viewer");
  });
});

describe("the password", () => {
  it("[OP-09] is set by its owner, signs in, and ends the owner's other sign-ins", async () => {
    const one = await signedIn("pat@example.test");
    const two = await signedIn("pat@example.test");
    const short = await api.request("/me/password", {
      body: { password: "short" },
      headers: { cookie: one.cookie, ...own() },
    });
    assert.strictEqual(short.status, 422);
    assert.notInclude(JSON.stringify(short.body), 'short"');
    const set = await api.request("/me/password", {
      body: { password: "correct horse battery" },
      headers: { cookie: one.cookie, ...own() },
    });
    assert.isTrue(set.body.hasPassword);
    assert.strictEqual((await api.request("/me", { headers: { cookie: one.cookie } })).status, 200);
    assert.strictEqual((await api.request("/me", { headers: { cookie: two.cookie } })).status, 401);
    const by = (password: string) =>
      api.request("/session", { body: { email: "Pat@Example.test", password }, headers: own() });
    assert.strictEqual((await by("wrong horse battery")).status, 401);
    assert.strictEqual((await by("correct horse battery")).status, 200);
  });

  it("[C042] an unknown address and a wrong password read the same", async () => {
    await signedIn("known@example.test");
    const unknown = await api.request("/session", {
      body: { email: "nobody@example.test", password: "whatever it is" },
      headers: own(),
    });
    const known = await api.request("/session", {
      body: { email: "known@example.test", password: "whatever it is" },
      headers: own(),
    });
    assert.strictEqual(unknown.status, 401);
    assert.deepStrictEqual(unknown.body, known.body);
  });

  it("[C099] a failed sign-in of an address that nobody has is audited without the address, and at most 100 in an hour are", async () => {
    const rows = async () => {
      const { body } = await api.request("/audit?verb=sign-in&accepted=no&limit=200", {
        token: admin.token,
      });
      return body.items.filter(
        ({ actor }: { actor: { id: string } }) => actor.id === "nobody",
      ) as ReadonlyArray<{ target: string }>;
    };
    const attempt = (email: string) =>
      api.request("/session", { body: { email, password: "whatever it is" }, headers: own() });
    const before = (await rows()).length;
    await attempt("stranger@example.test");
    await attempt("Stranger@example.test");
    await attempt("other@example.test");
    const [other, second, first] = await rows();
    assert.strictEqual((await rows()).length, before + 3);
    assert.strictEqual(first?.target, second?.target, "the same address, the same digest");
    assert.notStrictEqual(other?.target, first?.target);
    assert.notInclude(JSON.stringify(await rows()).toLowerCase(), "stranger");
    await api.run(
      Effect.gen(function* () {
        const audit = yield* Audit;
        for (let row = 0; row < 98; row++)
          yield* audit.append({
            tenantId: "default",
            actor: { kind: "system", id: "nobody", name: "Nobody" },
            verb: "sign-in",
            target: `unknown-account-${row}`,
            runId: null,
            accepted: false,
            reason: "x",
            before: null,
            after: null,
            commandId: null,
          });
      }),
    );
    const full = (await rows()).length;
    assert.strictEqual((await attempt("one-more@example.test")).status, 401);
    assert.strictEqual((await rows()).length, full);
  });

  it("[OP-09] guessing is stopped even when all guesses are sent at once, and each failure of a known account is audited", async () => {
    const { cookie } = await signedIn("guess@example.test");
    await api.request("/me/password", {
      body: { password: "the right password" },
      headers: { cookie, ...own() },
    });
    const guess = (password: string) =>
      api.request("/session", { body: { email: "guess@example.test", password }, headers: own() });
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, at) => guess(`guess number ${at}`)),
    );
    const tooMany = answers.filter(({ status }) => status === 429);
    assert.isAtLeast(tooMany.length, 6);
    assert.isAbove(tooMany[0]?.body.retryAfterSeconds, 0);
    assert.strictEqual((await guess("the right password")).status, 429);
    const { body } = await api.request("/audit?verb=sign-in&accepted=no&limit=200", {
      token: admin.token,
    });
    const ofAccounts = body.items.filter(
      ({ actor }: { actor: { id: string } }) => actor.id !== "nobody",
    );
    assert.strictEqual(
      ofAccounts.length,
      answers.filter(({ status }) => status === 401).length + 2,
    );
  });
});

describe("requests with a cookie", () => {
  let cookie = "";
  beforeAll(async () => {
    cookie = (await signedIn("origin@example.test")).cookie;
  });
  const submit = (headers: Record<string, string>, key: string) =>
    api.request("/submissions", {
      body: { agentId: "desk", input: { text: "hi" } },
      headers: { cookie, "idempotency-key": key, ...headers },
    });

  it("[OP-09] that may change something are refused from another site, or from nowhere", async () => {
    for (const headers of [
      {},
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site", origin: api.origin },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
    ]) {
      const answer = await submit(headers, "key-origin-refused");
      assert.strictEqual(answer.status, 403, JSON.stringify(headers));
      assert.strictEqual(answer.body._tag, "OriginRefused");
    }
    const runs = await api.request("/runs", { token: admin.token });
    assert.strictEqual(runs.body.count.value, 0);
  });

  it("[OP-09] are accepted from our own pages", async () => {
    assert.strictEqual((await submit({ origin: api.origin }, "key-origin-1")).status, 202);
    assert.strictEqual(
      (await submit({ "sec-fetch-site": "same-origin" }, "key-origin-2")).status,
      202,
    );
  });

  it("[OP-09] with a bearer token need no origin", async () => {
    const answer = await api.request("/submissions", {
      token: admin.token,
      body: { agentId: "desk", input: { text: "hi" } },
      headers: { "idempotency-key": "key-bearer-1", origin: "https://elsewhere.example" },
    });
    assert.strictEqual(answer.status, 202);
  });

  it("[OP-09] signing in from another site's page is refused", async () => {
    const { token } = await newLink("login-csrf@example.test");
    const answer = await api.request("/session", {
      body: { token },
      headers: { origin: "https://evil.example" },
    });
    assert.strictEqual(answer.body._tag, "OriginRefused");
    assert.strictEqual((await api.request("/session", { body: { token } })).status, 200);
  });

  it("[C046] reading changes nothing: 20 GETs of every list leave the audit as it was", async () => {
    const before = await api.request("/audit", { token: admin.token });
    for (let at = 0; at < 20; at += 1)
      for (const path of ["/runs", "/approvals", "/me", "/counts"])
        await api.request(path, { headers: { cookie } });
    const after = await api.request("/audit", { token: admin.token });
    assert.strictEqual(after.body.count.value, before.body.count.value);
  });

  it("[OP-09] signing out ends this sign-in and forgets the cookie", async () => {
    const other = await signedIn("origin@example.test");
    const out = await api.request("/session", {
      method: "DELETE",
      headers: { cookie: other.cookie, ...own() },
    });
    assert.strictEqual(out.status, 204);
    assert.match(cookieOf(out.headers), /Max-Age=0/);
    assert.strictEqual(
      (await api.request("/me", { headers: { cookie: other.cookie } })).status,
      401,
    );
    assert.strictEqual((await api.request("/me", { headers: { cookie } })).status, 200);
  });
});

describe("the server", () => {
  it("gives security headers with a fresh nonce to pages and to the API", async () => {
    const policies: Array<string> = [];
    for (const path of ["/", "/runs/1", "/api/v1/health", "/apiary"]) {
      const { headers } = await fetch(`${api.origin}${path}`);
      const policy = headers.get("content-security-policy") ?? "";
      assert.match(policy, /script-src 'self' 'nonce-[A-Za-z0-9+/]{24}'/, path);
      assert.notMatch(
        policy.split(";").find((part) => part.includes("script-src")) ?? "",
        /unsafe-inline/,
      );
      assert.match(policy, /frame-ancestors 'none'/);
      assert.strictEqual(headers.get("x-content-type-options"), "nosniff");
      assert.strictEqual(headers.get("referrer-policy"), "same-origin");
      policies.push(policy);
    }
    assert.strictEqual(new Set(policies).size, policies.length);
  });

  it("hands what is not the API to the pages", async () => {
    assert.strictEqual(await (await fetch(`${api.origin}/runs?x=1`)).text(), "page /runs?x=1");
    assert.strictEqual(await (await fetch(`${api.origin}/apiary`)).text(), "page /apiary");
  });

  it("answers a body over 1 MiB with 413 and the limit, and one of unknown length with 411", async () => {
    const large = await api.request("/submissions", {
      token: admin.token,
      body: { agentId: "desk", input: "x".repeat(1_100_000) },
      headers: { "idempotency-key": "key-too-large" },
    });
    assert.strictEqual(large.status, 413);
    assert.strictEqual(large.body._tag, "InvalidInput");
    assert.strictEqual(large.body.limit, "1048576 bytes");
    const unsized = await fetch(`${api.origin}/api/v1/submissions`, {
      method: "POST",
      headers: { authorization: `Bearer ${admin.token}`, "content-type": "application/json" },
      body: new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode("{}"));
          controller.close();
        },
      }),
      // Node's fetch wants this for a stream; the DOM types do not know it.
      ...({ duplex: "half" } as object),
    });
    assert.strictEqual(unsized.status, 411);
  });

  it("answers what is no JSON, or JSON nested 100,000 deep, as invalid input", async () => {
    const send = (body: string) =>
      fetch(`${api.origin}/api/v1/submissions`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${admin.token}`,
          "content-type": "application/json",
          "idempotency-key": "key-not-json",
        },
        body,
      });
    assert.strictEqual((await send("{not json")).status, 422);
    const deep = await send(
      `{"agentId":"desk","input":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
    );
    assert.strictEqual(deep.status, 422);
  });

  it("[PG-06] takes text that the database cannot hold as text that is not there", async () => {
    for (const path of [
      "/runs?text=%00",
      "/runs?tool=a%00b",
      "/runs?failureTag=%00",
      "/audit?verb=%00&actorId=%00",
      "/diagnostics?fingerprint=%00",
    ]) {
      const answer = await api.request(path, { token: admin.token });
      assert.strictEqual(answer.status, 200, path);
      assert.strictEqual(answer.body.items.length, 0, path);
    }
    const signIn = await api.request("/session", {
      body: { email: "a\u0000b@example.test", password: "whatever it is" },
    });
    assert.strictEqual(signIn.status, 401);
    const link = await api.request("/operators/sign-in-links", {
      token: admin.token,
      body: { email: "nul\u0000@example.test", name: "N\u0000ul", role: "viewer" },
    });
    assert.strictEqual(link.status, 200);
  });

  it("refuses an upgrade to the API", async () => {
    const { hostname, port } = new URL(api.origin);
    const said = await new Promise<string>((done) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          "GET /api/v1/events HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
        );
      });
      let text = "";
      socket.on("data", (data) => (text += data.toString()));
      socket.on("close", () => done(text));
    });
    assert.strictEqual(said, "");
  });

  it("says alive and ready without credentials, and nothing more", async () => {
    assert.deepStrictEqual((await api.request("/health")).body, { status: "alive" });
    assert.deepStrictEqual((await api.request("/ready")).body, { status: "ready" });
  });

  it("describes itself as OpenAPI to whoever is signed in", async () => {
    const { body } = await api.request("/openapi.json", { token: admin.token });
    assert.match(body.openapi, /^3\./);
    assert.isDefined(body.paths["/api/v1/approvals/{requestId}/decision"].post);
  });
});
