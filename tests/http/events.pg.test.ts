/** The event stream over real HTTP: replay, live, resume, reset, and what it frees. */
import { Effect } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest";
import { TenantId } from "#lib/contract/ids.ts";
import { EventLog } from "#lib/durable/EventLog.ts";
import {
  type Answer,
  startApi,
  type TestApi,
  type TestOperator,
} from "#tests/support/api-server.ts";
import { gatedRun, startedRun } from "#tests/support/ledger-fixtures.ts";

let api: TestApi;
let ann: TestOperator;

beforeAll(async () => {
  api = await startApi();
  ann = await api.addOperator("admin");
});
afterAll(() => api.close());

interface Frame {
  readonly id: number;
  readonly event: string;
  readonly data: Answer;
}

const parse = (block: string): Frame => {
  const fields = new Map(
    block.split("\n").map((line) => {
      const at = line.indexOf(": ");
      return [line.slice(0, at), line.slice(at + 2)] as const;
    }),
  );
  return {
    id: Number(fields.get("id")),
    event: fields.get("event") ?? "message",
    data: JSON.parse(fields.get("data") ?? "null"),
  };
};

/** Opens the stream and gives frames one by one. */
const follow = async (query: string, headers: Record<string, string> = {}, token = ann.token) => {
  const abort = new AbortController();
  const response = await fetch(`${api.origin}/api/v1/events${query}`, {
    signal: abort.signal,
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  const next = async (): Promise<Frame | undefined> => {
    for (;;) {
      const end = buffer.indexOf("\n\n");
      if (end >= 0) {
        const block = buffer.slice(0, end);
        buffer = buffer.slice(end + 2);
        return parse(block);
      }
      const chunk = await reader?.read();
      if (chunk === undefined || chunk.done) return undefined;
      buffer += chunk.value;
    }
  };
  return { response, next, cut: () => abort.abort() };
};

const take = async (
  stream: Awaited<ReturnType<typeof follow>>,
  enough: (frame: Frame) => boolean,
) => {
  const frames: Array<Frame> = [];
  for (;;) {
    const frame = await stream.next();
    if (frame === undefined) return frames;
    frames.push(frame);
    if (enough(frame)) return frames;
  }
};

const lastSequence = async () => {
  const { body } = await api.request("/counts", { token: ann.token });
  return body.asOf as number;
};

/** Waits until the log has given a place to everything written so far. */
const settledLog = async () => {
  for (;;) {
    const left = await api.run(
      Effect.flatMap(SqlClient, (sql) => sql`SELECT count(*)::int4 AS n FROM event_inbox`),
    );
    if ((left[0] as { n: number }).n === 0) return lastSequence();
    await new Promise((done) => setTimeout(done, 20));
  }
};

describe("the event stream", () => {
  it("[OP-01] replays after the cursor, says at once where the log ends, then follows live", async () => {
    const from = await settledLog();
    await api.run(gatedRun());
    const last = await settledLog();
    const stream = await follow(`?after=${from}`);
    assert.match(stream.response.headers.get("content-type") ?? "", /^text\/event-stream/);
    assert.strictEqual(stream.response.headers.get("x-accel-buffering"), "no");
    const replayed = await take(stream, ({ event }) => event === "heartbeat");
    assert.deepStrictEqual(
      replayed.filter(({ event }) => event === "message").map(({ id }) => id),
      Array.from({ length: last - from }, (_, at) => from + 1 + at),
    );
    assert.strictEqual(replayed.at(-1)?.data.last, last);
    assert.deepStrictEqual(replayed[0]?.data.event._tag, "RunQueued");
    const begun = Date.now();
    const run = await api.run(gatedRun());
    const live = await take(stream, ({ data }) => data.event?._tag === "ApprovalRequested");
    assert.isBelow(Date.now() - begun, 2_500);
    assert.strictEqual(live.at(-1)?.data.runId, run.place.runId);
    const liveIds = live.filter(({ event }) => event === "message").map(({ id }) => id);
    assert.deepStrictEqual(
      liveIds,
      Array.from({ length: liveIds.length }, (_, at) => last + 1 + at),
    );
    stream.cut();
  });

  it("[C064] [OP-01] a client that reconnects again and again while writers race misses nothing and sees nothing twice", async () => {
    const from = await settledLog();
    let writing = true;
    const writers = Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let at = 0; at < 12; at += 1) await api.run(gatedRun({ calls: ["a", "b"] }));
      }),
    ).finally(() => {
      writing = false;
    });
    const seen: Array<number> = [];
    let cursor = from;
    const readSome = async (wanted: number) => {
      const stream = await follow("", { "last-event-id": String(cursor) });
      const frames = await take(stream, ({ event }) => {
        if (event === "message") wanted -= 1;
        return wanted <= 0 || (!writing && event === "heartbeat");
      });
      stream.cut();
      for (const { event, id } of frames) {
        if (event !== "message") continue;
        seen.push(id);
        cursor = id;
      }
    };
    while (writing) await readSome(17);
    await writers;
    const last = await settledLog();
    while (cursor < last) await readSome(Number.POSITIVE_INFINITY);
    assert.deepStrictEqual(
      seen,
      Array.from({ length: last - from }, (_, at) => from + 1 + at),
    );
    assert.isAbove(seen.length, 300);
    const whole = await follow("?after=0");
    const all = await take(whole, ({ event }) => event === "heartbeat");
    whole.cut();
    assert.deepStrictEqual(
      all.filter(({ event }) => event === "message").map(({ id }) => id),
      Array.from({ length: last }, (_, at) => at + 1),
    );
  });

  it("[OP-01] follows one run when asked to, and 404s for a run that is not ours", async () => {
    const from = await settledLog();
    const mine = await api.run(gatedRun());
    await api.run(gatedRun());
    await settledLog();
    const stream = await follow(`?after=${from}&runId=${mine.place.runId}`);
    const frames = await take(stream, ({ event }) => event === "heartbeat");
    stream.cut();
    const events = frames.filter(({ event }) => event === "message");
    assert.isAbove(events.length, 3);
    for (const { data } of events) assert.strictEqual(data.runId, mine.place.runId);
    const foreign = await api.addOperator("admin", "other");
    const refused = await follow(`?runId=${mine.place.runId}`, {}, foreign.token);
    assert.strictEqual(refused.response.status, 404);
    refused.cut();
  });

  it("[C064] a cursor ahead of the log, or older than what is kept, is reset and goes on from the end", async () => {
    const last = await settledLog();
    const ahead = await follow(`?after=${last + 1_000}`);
    const first = await ahead.next();
    ahead.cut();
    assert.deepInclude(first, { event: "reset", id: last });
    assert.deepInclude(first?.data, { reason: "ahead", last });
    await api.run(
      Effect.flatMap(
        SqlClient,
        (sql) => sql`UPDATE event_tails SET first_sequence = 20 WHERE tenant_id = 'default'`,
      ),
    );
    const old = await follow("?after=5");
    const reset = await old.next();
    assert.strictEqual(reset?.data.reason, "trimmed");
    await api.run(startedRun());
    const frames = await take(old, ({ event }) => event === "message");
    old.cut();
    assert.strictEqual(frames.at(-1)?.id, last + 1);
    const kept = await follow("?after=19");
    assert.strictEqual((await kept.next())?.id, 20);
    kept.cut();
    await api.run(
      Effect.flatMap(
        SqlClient,
        (sql) => sql`UPDATE event_tails SET first_sequence = 1 WHERE tenant_id = 'default'`,
      ),
    );
  });

  it("without a cursor starts at the newest event", async () => {
    const last = await settledLog();
    const stream = await follow("");
    assert.deepInclude(await stream.next(), { event: "heartbeat", id: last });
    stream.cut();
  });

  it("[Z-12] another tenant's stream carries nothing of ours", async () => {
    const foreign = await api.addOperator("admin", "other");
    const stream = await follow("?after=0", {}, foreign.token);
    assert.strictEqual((await stream.next())?.event, "heartbeat");
    await api.run(gatedRun());
    await settledLog();
    await api.run(gatedRun({ tenantId: "other" }));
    const frames = await take(stream, ({ event }) => event === "message");
    stream.cut();
    assert.strictEqual(frames.at(-1)?.data.tenantId, "other");
    assert.strictEqual(frames.at(-1)?.id, 1);
  });

  it("[C067] a cursor that is no number is refused with the place", async () => {
    const answer = await api.request("/events?after=abc", { token: ann.token });
    assert.strictEqual(answer.status, 422);
    assert.strictEqual(answer.body.path, "query.after");
  });

  it("[OP-01] one operator follows 64 streams at once and no more; another is not in the way, and a closed one makes room", async () => {
    const bea = await api.addOperator("viewer");
    const open = () => follow("", {}, bea.token);
    const streams = await Promise.all(Array.from({ length: 64 }, open));
    for (const stream of streams) assert.strictEqual((await stream.next())?.event, "heartbeat");
    const refused = await open();
    assert.strictEqual(refused.response.status, 429);
    refused.cut();
    const body = await api.request("/events", { token: bea.token });
    assert.deepInclude(body.body, { _tag: "TooManyStreams", limit: 64 });
    const other = await follow("");
    assert.strictEqual(other.response.status, 200);
    other.cut();
    streams.pop()?.cut();
    const again = await vi.waitFor(async () => {
      const stream = await open();
      assert.strictEqual(stream.response.status, 200);
      return stream;
    });
    again.cut();
    for (const stream of streams) stream.cut();
  });

  it("a client that goes away frees its subscription", async () => {
    const tenantId = TenantId.make("default");
    // Each stream reads once a second while it lives: afterwards nothing reads any more.
    const streams = await Promise.all(Array.from({ length: 20 }, () => follow("")));
    for (const stream of streams) await stream.next();
    for (const stream of streams) stream.cut();
    await new Promise((done) => setTimeout(done, 300));
    const reads = async () => {
      const found = await api.run(
        Effect.flatMap(
          SqlClient,
          (sql) => sql`SELECT coalesce(sum(seq_scan + idx_scan), 0)::int4 AS n
            FROM pg_stat_user_tables WHERE relname = 'events'`,
        ),
      );
      return (found[0] as { n: number }).n;
    };
    await new Promise((done) => setTimeout(done, 1_200));
    const before = await reads();
    await new Promise((done) => setTimeout(done, 2_500));
    const after = await reads();
    assert.isBelow(after - before, 10);
    await api.run(Effect.flatMap(EventLog, (log) => log.bounds(tenantId)));
  });
});
