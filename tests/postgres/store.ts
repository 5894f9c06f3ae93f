/** A database of its own per test file, with the adapters on it. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Redacted from "effect/Redacted";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import type { RunEvent } from "#lib/contract/events.ts";
import { AgentId, TenantId, type ThreadId, WorkerId } from "#lib/contract/ids.ts";
import type { RunRecord } from "#lib/contract/records.ts";
import { type AppendReceipt, Journal, type JournalTail } from "#lib/durable/Journal.ts";
import { type Claim, SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import type { ResultToKeep } from "#lib/results/kept-text.ts";
import * as Database from "#server/postgres/Database.ts";
import { EventHints } from "#server/postgres/EventHints.ts";
import { portsLayer } from "#server/postgres/ports.ts";
import { makeTestDatabase } from "#tests/support/postgres.ts";
import { ada, agentId, type RunPlace } from "#tests/postgres/records.ts";

export class TestUrl extends Context.Service<TestUrl, string>()("effect-agent/tests/TestUrl") {}

export const database = Layer.effect(
  TestUrl,
  Effect.acquireRelease(
    Effect.promise(() => makeTestDatabase()),
    (made) => Effect.promise(() => made.drop()),
  ).pipe(Effect.map((made) => made.url)),
);

/** The adapters of one process on the test's database, on a pool of their own. */
export const adapters = portsLayer.pipe(
  Layer.provideMerge(EventHints.layer),
  Layer.provideMerge(
    Layer.unwrap(
      Effect.map(TestUrl, (url) => Database.layer({ url: Redacted.make(url), maxConnections: 8 })),
    ),
  ),
);

export const store = adapters.pipe(Layer.provideMerge(database));

export const worker = WorkerId.make("worker-1");

let keys = 0;
export const admit = Effect.fnUntraced(function* (
  options: {
    readonly tenant?: string;
    readonly threadId?: ThreadId;
    readonly key?: string;
    readonly input?: RunPlace | string;
    readonly unknownPolicy?: "park" | "block";
  } = {},
) {
  const ledger = yield* SubmissionLedger;
  const tenantId = TenantId.make(options.tenant ?? "acme");
  const receipt = yield* ledger.admit({
    tenantId,
    agentId: AgentId.make("desk"),
    threadId: options.threadId,
    principal: ada,
    idempotencyKey: options.key ?? `key-${process.pid}-${keys++}-abcdef`,
    input: { text: typeof options.input === "string" ? options.input : "hello" },
    title: "hello",
    ...(options.unknownPolicy === undefined ? {} : { unknownPolicy: options.unknownPolicy }),
  });
  const place: RunPlace = {
    tenantId,
    threadId: receipt.threadId,
    runId: receipt.runId,
    submissionId: receipt.submissionId,
  };
  return { receipt, place };
});

/** Admits a run and claims it. */
export const started = Effect.fnUntraced(function* (options: Parameters<typeof admit>[0] = {}) {
  const { place } = yield* admit(options);
  const claim = yield* claimed(place);
  return { place, claim, writer: writerOf(claim) };
});

export const claimed = Effect.fnUntraced(function* (place: RunPlace, workerId = worker) {
  const ledger = yield* SubmissionLedger;
  const claim = yield* ledger.claim({
    tenantId: place.tenantId,
    threadId: place.threadId,
    workerId,
  });
  if (claim._tag === "None") return yield* Effect.die(new Error("nothing to claim"));
  return claim.value;
});

let batches = 0;
/** Appends behind its own tail, as one owner does. */
export const writerOf = (claim: Claim) => {
  let tail: JournalTail = claim.tail;
  const append = (
    records: ReadonlyArray<RunRecord>,
    events: ReadonlyArray<{ readonly event: RunEvent; readonly at: number }> = [],
    results: ReadonlyArray<ResultToKeep> = [],
  ) =>
    Effect.gen(function* () {
      const journal = yield* Journal;
      const receipt: AppendReceipt = yield* journal.append({
        tenantId: claim.tenantId,
        threadId: claim.threadId,
        runId: claim.runId,
        agentId,
        epoch: claim.epoch,
        expectedTail: tail,
        batchId: `batch-${process.pid}-${batches++}`,
        records,
        events,
        diagnostics: [],
        results,
      });
      tail = receipt.tail;
      return receipt;
    });
  return { append, tail: () => tail };
};

/** One statement, for what a test looks at directly. */
export const rows = (text: string, parameters: ReadonlyArray<unknown> = []) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.unsafe<Record<string, unknown>>(text, parameters),
  );
