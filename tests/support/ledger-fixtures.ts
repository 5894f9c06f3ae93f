/** Runs in the states that operators meet, made through the ports as the engine makes them. */
import { Effect } from "effect";
import { AgentId, TenantId, WorkerId } from "#lib/contract/ids.ts";
import type { Actor, RunRecord } from "#lib/contract/records.ts";
import { Journal, type JournalTail } from "#lib/durable/Journal.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { ada, agentId, recordsOf, type RunPlace } from "#tests/postgres/records.ts";

export interface FixtureOptions {
  readonly tenantId?: string;
  readonly requester?: Actor;
  readonly title?: string;
}

let made = 0;

/** Admits, claims, and gives a writer that appends behind its own tail. */
export const startedRun = Effect.fnUntraced(function* (options: FixtureOptions = {}) {
  const ledger = yield* SubmissionLedger;
  const journal = yield* Journal;
  const tenantId = TenantId.make(options.tenantId ?? "default");
  made += 1;
  const receipt = yield* ledger.admit({
    tenantId,
    agentId,
    threadId: undefined,
    principal: options.requester ?? ada,
    idempotencyKey: `fixture-${process.pid}-${made}`,
    input: { text: "hello" },
    title: options.title ?? "hello",
  });
  const claim = yield* ledger.claim({
    tenantId,
    threadId: receipt.threadId,
    workerId: WorkerId.make("worker-fixture"),
  });
  if (claim._tag === "None") return yield* Effect.die("nothing to claim");
  const place: RunPlace = { tenantId, ...receipt };
  let tail: JournalTail = claim.value.tail;
  const append = Effect.fnUntraced(function* (
    records: ReadonlyArray<RunRecord>,
    diagnostics: Parameters<Journal["Service"]["append"]>[0]["diagnostics"] = [],
    results: Parameters<Journal["Service"]["append"]>[0]["results"] = [],
  ) {
    made += 1;
    const written = yield* journal.append({
      tenantId,
      threadId: receipt.threadId,
      runId: receipt.runId,
      agentId: AgentId.make("desk"),
      epoch: claim.value.epoch,
      expectedTail: tail,
      batchId: `fixture-${process.pid}-${made}`,
      records,
      events: [],
      diagnostics,
      results,
    });
    tail = written.tail;
  });
  const records = recordsOf(place);
  yield* append([records.opened(), records.attempt()]);
  return { place, records, append };
});

export interface GateOptions extends FixtureOptions {
  readonly calls?: ReadonlyArray<string>;
  /** Milliseconds since 1970, or never. */
  readonly expiresAt?: number | "never";
  readonly approversRequired?: number;
  readonly selfApproval?: boolean;
}

/** A run that waits for a person: every named call of its first turn is gated. */
export const gatedRun = Effect.fnUntraced(function* (options: GateOptions = {}) {
  const { place, records, append } = yield* startedRun(options);
  const calls = options.calls ?? ["call-1"];
  const requests = calls.map((id) => {
    const record = records.approvalRequested(id, { expiresAt: options.expiresAt ?? "never" });
    return {
      ...record,
      request: {
        ...record.request,
        approversRequired: options.approversRequired ?? 1,
        selfApproval: options.selfApproval ?? true,
      },
    };
  });
  yield* append([records.turn(calls), ...requests, records.suspended("approval")]);
  return { place, records, append, requestIds: requests.map(({ requestId }) => requestId) };
});

/** A run with one effect in doubt that waits for its resolution. */
export const unknownRun = Effect.fnUntraced(function* (options: FixtureOptions = {}) {
  const { place, records, append } = yield* startedRun(options);
  const unknown = records.unknown("call-1");
  yield* append([
    records.turn(["call-1"]),
    records.prepared("call-1"),
    unknown,
    records.suspended("unknown"),
  ]);
  return { place, records, append, unknownId: unknown.unknownId };
});

/** A run that a policy denied: settled, with a denial and its private diagnostic. */
export const deniedRun = Effect.fnUntraced(function* (options: FixtureOptions = {}) {
  const { place, records, append } = yield* startedRun(options);
  const denied = records.denied("call-1");
  yield* append([records.turn(["call-1"]), denied, records.runSettled("failed")]);
  return { place, records, append, denialId: denied.denialId };
});
