/** What the cases are written with: no runner, no clock of its own, ports only. */
import * as Data from "effect/Data";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Random from "effect/Random";
import * as Result from "effect/Result";
import type { LoggedEvent } from "#lib/contract/events.ts";
import { TenantId, type ThreadId, WorkerId } from "#lib/contract/ids.ts";
import { encodeCanonicalJson } from "#lib/contract/json/canonical-json.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { Actor, RunRecord } from "#lib/contract/records.ts";
import type { Approvals } from "#lib/durable/Approvals.ts";
import type { Audit } from "#lib/durable/Audit.ts";
import type { Diagnostics } from "#lib/durable/Diagnostics.ts";
import { EventLog } from "#lib/durable/EventLog.ts";
import { type AppendRequest, Journal, type JournalTail } from "#lib/durable/Journal.ts";
import { type Claim, SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import type { Unknowns } from "#lib/durable/Unknowns.ts";
import { ada, agentId, recordsOf, type RunPlace } from "./run-records.ts";

/** Every port that an adapter of a durable store provides. */
export type DurablePorts =
  | Approvals
  | Audit
  | Diagnostics
  | EventLog
  | Journal
  | SubmissionLedger
  | Unknowns;

/** A promise of a port that the adapter did not keep; the message says what was expected and what was seen. */
export class PromiseBroken extends Data.TaggedError("PromiseBroken")<{
  readonly message: string;
  readonly cause?: unknown;
}> {}

export interface ConformanceCase {
  /** A claim, with the ids of the rules it proves in brackets. */
  readonly name: string;
  /** Fails where the claim does not hold. Runs on any store, beside other cases: it makes tenants of its own. */
  readonly effect: Effect.Effect<void, PromiseBroken, DurablePorts>;
}

const isMessage = (error: unknown): error is { readonly message: string } =>
  typeof error === "object" && error !== null && "message" in error;

/** Names a case; whatever a port answers that the case did not expect breaks the promise too. */
export const promise = <E>(
  name: string,
  body: Effect.Effect<unknown, E, DurablePorts>,
): ConformanceCase => ({
  name,
  effect: Effect.mapError(body, (error) =>
    error instanceof PromiseBroken
      ? error
      : new PromiseBroken({
          message: `A port failed where it must not: ${isMessage(error) ? error.message : String(error)}`,
          cause: error,
        }),
  ).pipe(Effect.asVoid),
});

const textOf = (value: unknown): string =>
  // Undefined fields are what an absent field is; the text of a value that is no JSON is its own.
  Result.getOrElse(encodeCanonicalJson(JSON.parse(JSON.stringify(value ?? null))), String);

/** Equal as JSON: absent and undefined fields are one, the order of keys is none. */
export const same = (what: string, seen: unknown, expected: unknown) => {
  const [have, want] = [textOf(seen), textOf(expected)];
  return have === want
    ? Effect.void
    : Effect.fail(
        new PromiseBroken({
          message: `${what}: expected ${want.slice(0, 2_000)}, seen ${have.slice(0, 2_000)}.`,
        }),
      );
};

export const holds = (claim: string, isTrue: boolean) =>
  isTrue
    ? Effect.void
    : Effect.fail(new PromiseBroken({ message: `It does not hold that ${claim}.` }));

/** The failure of an effect that must fail with this tag. */
export const refusedAs =
  <Tag extends string>(tag: Tag) =>
  <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(
      Effect.result(effect),
      (result): Effect.Effect<Extract<E, { readonly _tag: Tag }>, PromiseBroken> => {
        const seen = Result.isFailure(result) ? result.failure._tag : "success";
        return Result.isFailure(result) && result.failure._tag === tag
          ? // The tag decides which member of E it is.
            Effect.succeed(result.failure as Extract<E, { readonly _tag: Tag }>)
          : Effect.fail(new PromiseBroken({ message: `Expected ${tag}, seen ${seen}.` }));
      },
    );

export const bob: Actor = { kind: "operator", id: "bob", name: "Bob" };

const uniqueText = Effect.map(Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER), (number) =>
  number.toString(36),
);

export const newTenant = Effect.map(uniqueText, (text) => TenantId.make(`tenant-${text}`));
export const newWorker = Effect.map(uniqueText, (text) => WorkerId.make(`worker-${text}`));

export interface AdmitOptions {
  readonly tenantId?: TenantId;
  readonly threadId?: ThreadId;
  readonly key?: string;
  readonly input?: Json;
  readonly principal?: Actor;
  readonly unknownPolicy?: "park" | "block";
}

export const admit = Effect.fnUntraced(function* (options: AdmitOptions = {}) {
  const ledger = yield* SubmissionLedger;
  const tenantId = options.tenantId ?? (yield* newTenant);
  const receipt = yield* ledger.admit({
    tenantId,
    agentId,
    threadId: options.threadId,
    principal: options.principal ?? ada,
    idempotencyKey: options.key ?? `key-${yield* uniqueText}`,
    input: options.input ?? { text: "hello" },
    title: "hello",
    ...(options.unknownPolicy === undefined ? {} : { unknownPolicy: options.unknownPolicy }),
  });
  const { threadId, runId, submissionId } = receipt;
  return { receipt, place: { tenantId, threadId, runId, submissionId } satisfies RunPlace };
});

/** Claims what the thread has to do, by a worker of its own that has said it is alive. */
export const claim = Effect.fnUntraced(function* (place: RunPlace, worker?: WorkerId) {
  const ledger = yield* SubmissionLedger;
  const workerId = worker ?? (yield* newWorker);
  yield* ledger.heartbeat({ workerId, address: workerId });
  const { tenantId, threadId } = place;
  const claimed = yield* ledger.claim({ tenantId, threadId, workerId });
  return claimed._tag === "Some"
    ? claimed.value
    : yield* Effect.fail(
        new PromiseBroken({ message: "A thread with work could not be claimed." }),
      );
});

export const claimsNothing = Effect.fnUntraced(function* (place: RunPlace) {
  const ledger = yield* SubmissionLedger;
  const { tenantId, threadId } = place;
  const claimed = yield* ledger.claim({ tenantId, threadId, workerId: yield* newWorker });
  yield* holds("the thread has nothing to claim", claimed._tag === "None");
});

/** An append as one owner makes it. */
export const requestOf = (
  owned: Claim,
  tail: JournalTail,
  batchId: string,
  records: ReadonlyArray<RunRecord>,
): AppendRequest => ({
  tenantId: owned.tenantId,
  threadId: owned.threadId,
  runId: owned.runId,
  agentId,
  epoch: owned.epoch,
  expectedTail: tail,
  batchId,
  records,
  events: [],
  diagnostics: [],
});

/** Appends behind its own tail. */
export const writerOf = (owned: Claim) => {
  let tail = owned.tail;
  return {
    tail: () => tail,
    append: Effect.fnUntraced(function* (
      records: ReadonlyArray<RunRecord>,
      more: Partial<Pick<AppendRequest, "events" | "diagnostics" | "results">> = {},
    ) {
      const journal = yield* Journal;
      const request = requestOf(owned, tail, `batch-${yield* uniqueText}`, records);
      const receipt = yield* journal.append({ ...request, ...more });
      tail = receipt.tail;
      return receipt;
    }),
  };
};

/** A run that is admitted and claimed. */
export const started = Effect.fnUntraced(function* (options: AdmitOptions = {}) {
  const { place, receipt } = yield* admit(options);
  const owned = yield* claim(place);
  return { place, receipt, owned, writer: writerOf(owned), of: recordsOf(place) };
});

export const readAll = (place: RunPlace) =>
  Effect.flatMap(Journal, (journal) =>
    journal.read({ tenantId: place.tenantId, threadId: place.threadId, after: 0, limit: 1_000 }),
  );

/** Follows a tenant's log until it has `count` events, by looking again and again as a client does. */
export const follow = Effect.fnUntraced(function* (
  tenantId: LoggedEvent["tenantId"],
  count: number,
) {
  const log = yield* EventLog;
  const seen: Array<LoggedEvent> = [];
  for (let look = 0; look < 1_500 && seen.length < count; look++) {
    const page = yield* log.read({ tenantId, after: seen.at(-1)?.sequence ?? 0, limit: 7 });
    seen.push(...page);
    if (page.length === 0) yield* Effect.sleep("20 millis");
  }
  return seen;
});

/** The first of items that a case made itself. */
export const firstOf = <A>(items: ReadonlyArray<A>) =>
  Effect.orDie(Effect.fromOption(Option.fromUndefinedOr(items[0])));
