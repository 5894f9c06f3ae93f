/** What the server does when its client, its database or itself goes away. */
import { connect } from "node:net";
import { Effect } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { assert, it } from "vitest";
import { startApi } from "#tests/support/api-server.ts";
import { gatedRun } from "#tests/support/ledger-fixtures.ts";

it("a client that stops reading is cut, and gets the rest when it comes back", async () => {
  const api = await startApi({ stuckMillis: 1_500 });
  try {
    const { token } = await api.addOperator("viewer");
    await api.run(gatedRun());
    // Far more than the buffers of two sockets hold, written as the log holds it.
    await api.run(
      Effect.flatMap(
        SqlClient,
        (sql) => sql`
          INSERT INTO event_inbox (tenant_id, agent_id, thread_id, run_id, kind, at, body)
          SELECT tenant_id, agent_id, thread_id, run_id, 'ModelText', now(),
            '{"_tag":"ModelText","text":"' || repeat('x', 15000) || '","turn":1}'
          FROM runs, generate_series(1, 2000)`,
      ),
    );
    const wholeLog = async () => {
      for (;;) {
        const { body } = await api.request("/counts", { token });
        if (body.asOf >= 2_000) return body.asOf as number;
        await new Promise((done) => setTimeout(done, 100));
      }
    };
    const last = await wholeLog();
    const { hostname, port } = new URL(api.origin);
    let received = "";
    const closedAfter = await new Promise<number>((done) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          `GET /api/v1/events?after=0 HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${token}\r\n\r\n`,
        );
      });
      let resumedAt = 0;
      socket.once("data", () => {
        socket.pause();
        setTimeout(() => {
          resumedAt = Date.now();
          socket.resume();
        }, 5_000);
      });
      socket.on("data", (data) => (received += data.toString()));
      socket.on("error", () => undefined);
      socket.on("close", () => done(Date.now() - resumedAt));
    });
    // A stream that was not cut stays open and live.
    assert.isBelow(closedAfter, 5_000);
    const ids = [...received.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    const cursor = ids.at(-1) ?? 0;
    assert.isAbove(cursor, 0);
    assert.isBelow(cursor, last);
    const abort = new AbortController();
    const rest = await fetch(`${api.origin}/api/v1/events`, {
      signal: abort.signal,
      headers: { authorization: `Bearer ${token}`, "last-event-id": String(cursor) },
    });
    const reader = rest.body?.pipeThrough(new TextDecoderStream()).getReader();
    const first = await reader?.read();
    abort.abort();
    assert.match(first?.value ?? "", new RegExp(`^id: ${cursor + 1}\n`));
  } finally {
    await api.close();
  }
});

it("closing the server ends open streams and lets it go at once", async () => {
  const api = await startApi();
  try {
    const { token } = await api.addOperator("viewer");
    const stream = await fetch(`${api.origin}/api/v1/events`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const text = stream.text();
    await new Promise((done) => setTimeout(done, 200));
    const begun = Date.now();
    await api.closeServer();
    assert.isBelow(Date.now() - begun, 400);
    assert.match(await text, /event: heartbeat/);
  } finally {
    await api.close();
  }
});

it("without its database the server says so with 503, is not ready, and stays alive", async () => {
  const api = await startApi();
  try {
    const { token } = await api.addOperator("admin");
    const { requestIds } = await api.run(gatedRun());
    await api.dropDatabase();
    for (const answer of [
      await api.request("/ready"),
      await api.request("/runs", { token }),
      await api.request(`/approvals/${requestIds[0]}/decision`, {
        token,
        body: {
          commandId: "outage-1",
          decision: "approved",
          parametersDigest: "a".repeat(64),
          reason: "",
        },
      }),
      await api.request("/session", {
        body: { email: "a@example.test", password: "whatever it is" },
      }),
    ]) {
      assert.strictEqual(answer.status, 503, JSON.stringify(answer.body));
      assert.strictEqual(answer.body._tag, "StoreUnavailable");
      assert.notMatch(answer.body.message, /postgres|database ".*"|SELECT/i);
    }
    assert.strictEqual((await api.request("/health")).status, 200);
  } finally {
    await api.close();
  }
});
