import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import type { RecordOf } from "#lib/contract/records.ts";
import { Approvals, type ApprovalAnswer } from "#lib/durable/Approvals.ts";
import { Audit } from "#lib/durable/Audit.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import {
  bob,
  claim,
  claimsNothing,
  type ConformanceCase,
  firstOf,
  follow,
  holds,
  newTenant,
  promise,
  refusedAs,
  same,
  started,
  writerOf,
} from "./harness.ts";
import { ada, digest, recordsOf, type RunPlace } from "./run-records.ts";

type Asked = Partial<RecordOf<"ApprovalRequested">["request"]>;

/** A run that waits for the approval of its calls. */
const waiting = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, asked: Asked = {}) {
  const run = yield* started();
  const requests = ids.map((id) => {
    const record = run.of.approvalRequested(id);
    return { ...record, request: { ...record.request, ...asked } };
  });
  yield* run.writer.append([run.of.opened(), run.of.attempt(), run.of.turn(ids)]);
  yield* run.writer.append([...requests, run.of.suspended("approval")]);
  return { ...run, requestIds: requests.map((record) => record.requestId) };
});

const answerOf = (
  place: RunPlace,
  requestId: ApprovalAnswer["requestId"],
  answer: Partial<ApprovalAnswer> = {},
): ApprovalAnswer => ({
  tenantId: place.tenantId,
  requestId,
  actor: bob,
  decision: "approved",
  parametersDigest: digest("a"),
  reason: "fine",
  commandId: null,
  ...answer,
});

export const approvalCases: ReadonlyArray<ConformanceCase> = [
  promise(
    "[A-08][A-09] a decision is made once, wakes the run once, and is delivered once",
    Effect.gen(function* () {
      const { place, requestIds } = yield* waiting(["c1"]);
      const approvals = yield* Approvals;
      const requestId = yield* firstOf(requestIds);
      yield* claimsNothing(place);
      const { before, verdict } = yield* approvals.decide(answerOf(place, requestId));
      yield* same("the request before", [before.state, verdict.kind], ["pending", "decide"]);
      const owned = yield* claim(place);
      yield* same(
        "what the run hears",
        owned.undelivered.map((record) =>
          record._tag === "ApprovalDecided" ? [record.decision, record.actor, record.reason] : [],
        ),
        [["approved", bob, "fine"]],
      );
      yield* writerOf(owned).append(owned.undelivered);
      const ledger = yield* SubmissionLedger;
      yield* same("what it hears then", yield* ledger.undelivered(place), []);
      const found = yield* approvals.find({ tenantId: place.tenantId, requestId });
      yield* same(
        "the request",
        Option.map(found, (row) => [row.state, row.decidedBy, row.requesterId]),
        Option.some(["approved", "Bob", ada.id]),
      );
    }),
  ),
  promise(
    "[A-09] of two who answer at once one is first, and the other hears who",
    Effect.gen(function* () {
      const { place, requestIds } = yield* waiting(["c1"]);
      const approvals = yield* Approvals;
      const requestId = yield* firstOf(requestIds);
      const answers = yield* Effect.forEach(
        [
          answerOf(place, requestId),
          answerOf(place, requestId, { actor: ada, decision: "denied" }),
        ],
        (answer) => Effect.result(approvals.decide(answer)),
        { concurrency: 2 },
      );
      const refused = answers.flatMap((answer) =>
        Result.isFailure(answer) ? [answer.failure] : [],
      );
      yield* same(
        "the refusals",
        refused.map((error) => error._tag),
        ["ApprovalAlreadyDecided"],
      );
      const [row] = yield* approvals.ofRun(place);
      const named = refused.flatMap((error) =>
        error._tag === "ApprovalAlreadyDecided" ? [[error.decidedBy, error.decision]] : [],
      );
      yield* same("whom it names", named, [[row?.decidedBy, row?.state]]);
    }),
  ),
  promise(
    "[A-06] a run goes on when nothing of its batch is pending any more",
    Effect.gen(function* () {
      const { place, requestIds } = yield* waiting(["c1", "c2"]);
      const approvals = yield* Approvals;
      for (const [index, requestId] of requestIds.entries()) {
        yield* claimsNothing(place);
        yield* approvals.decide(
          answerOf(place, requestId, { decision: index === 0 ? "denied" : "approved" }),
        );
      }
      yield* same("what the run hears", (yield* claim(place)).undelivered.length, 2);
    }),
  ),
  promise(
    "[A-09] another digest than the one seen, and a denial without a reason, change nothing",
    Effect.gen(function* () {
      const { place, requestIds } = yield* waiting(["c1"]);
      const approvals = yield* Approvals;
      const requestId = yield* firstOf(requestIds);
      const changed = { parametersDigest: digest("b") };
      yield* refusedAs("ApprovalChanged")(approvals.decide(answerOf(place, requestId, changed)));
      const silent = { decision: "denied", reason: " " } as const;
      yield* refusedAs("InvalidInput")(approvals.decide(answerOf(place, requestId, silent)));
      const foreign = { tenantId: yield* newTenant };
      yield* refusedAs("NotFound")(approvals.decide(answerOf(place, requestId, foreign)));
      yield* same("the state", (yield* approvals.ofRun(place))[0]?.state, "pending");
    }),
  ),
  promise(
    "[A-02][C041] a request that needs two people counts different ones, and not the requester",
    Effect.gen(function* () {
      const { place, requestIds } = yield* waiting(["c1"], {
        approversRequired: 2,
        selfApproval: false,
      });
      const approvals = yield* Approvals;
      const requestId = yield* firstOf(requestIds);
      yield* refusedAs("ApproverRefused")(
        approvals.decide(answerOf(place, requestId, { actor: ada })),
      );
      const first = yield* approvals.decide(answerOf(place, requestId));
      yield* same("the first answer", first.verdict, { kind: "count", missing: 1 });
      yield* claimsNothing(place);
      yield* refusedAs("ApproverRefused")(approvals.decide(answerOf(place, requestId)));
      const carol = { kind: "operator", id: "carol", name: "Carol" } as const;
      const second = yield* approvals.decide(answerOf(place, requestId, { actor: carol }));
      yield* same("the second answer", second.verdict, { kind: "decide" });
      const [delivery] = (yield* claim(place)).undelivered;
      yield* same(
        "who approved",
        delivery?._tag === "ApprovalDecided" && delivery.approvers?.map((actor) => actor.id),
        ["bob", "carol"],
      );
    }),
  ),
  promise(
    "[A-07] what has passed expires by the store's clock, as the system, once, and is audited; nobody answers it any more",
    Effect.gen(function* () {
      const { place, requestIds } = yield* waiting(["c1"], { expiresAt: 1_000 });
      const later = yield* waiting(["c1"], { expiresAt: 4_102_444_800_000 });
      const approvals = yield* Approvals;
      const requestId = yield* firstOf(requestIds);
      // Swept or not: the time is over.
      yield* refusedAs("ApprovalAlreadyDecided")(approvals.decide(answerOf(place, requestId)));
      const woken = yield* approvals.expire(1_000);
      const mine = woken.filter((thread) => thread.threadId === place.threadId);
      yield* same("the threads to wake", mine.length, 1);
      const again = yield* approvals.expire(1_000);
      yield* holds(
        "it expires once",
        again.every((thread) => thread.threadId !== place.threadId),
      );
      const ledger = yield* SubmissionLedger;
      const delivery = yield* ledger.undelivered(place);
      yield* same(
        "what the run hears",
        delivery.map((record) =>
          record._tag === "ApprovalDecided" ? [record.decision, record.actor.kind] : [],
        ),
        [["expired", "system"]],
      );
      yield* same("the later one", (yield* approvals.ofRun(later.place))[0]?.state, "pending");
      const audit = yield* Audit;
      const rows = yield* audit.read({ tenantId: place.tenantId, after: 0, limit: 10 });
      yield* same(
        "the audit",
        rows.map((row) => [row.verb, row.target]),
        [["expire-approval", requestId]],
      );
    }),
  ),
  promise(
    "[A-07] an expiry is moved to later, never to earlier, and not where there is none",
    Effect.gen(function* () {
      const forever = yield* waiting(["c1"]);
      const approvals = yield* Approvals;
      const extend = (run: RunPlace, requestId: ApprovalAnswer["requestId"], seconds: number) =>
        approvals.extend({ tenantId: run.tenantId, requestId, actor: bob, seconds });
      const { now } = yield* firstOf(yield* approvals.ofRun(forever.place));
      const { place, requestIds } = yield* waiting(["c1"], { expiresAt: now + 3_600_000 });
      const requestId = yield* firstOf(requestIds);
      yield* refusedAs("InvalidInput")(extend(place, requestId, 60));
      const never = yield* firstOf(forever.requestIds);
      yield* refusedAs("InvalidInput")(extend(forever.place, never, 60));
      const { before, expiresAt } = yield* extend(place, requestId, 7_200);
      yield* holds("the new time is later", expiresAt > (before.expiresAt ?? 0));
      yield* same("the request", (yield* approvals.ofRun(place))[0]?.expiresAt, expiresAt);
    }),
  ),
  promise(
    "[C011] what nobody decided is withdrawn when its run ends, and a withdrawal is no decision to deliver",
    Effect.gen(function* () {
      const { place, requestIds } = yield* waiting(["c1"]);
      const ledger = yield* SubmissionLedger;
      const { tenantId, runId } = place;
      yield* ledger.abort({ tenantId, runId, actor: bob, reason: "enough", commandId: null });
      const owned = yield* claim(place);
      const of = recordsOf(place);
      yield* writerOf(owned).append([...owned.undelivered, of.runSettled("aborted")]);
      const approvals = yield* Approvals;
      yield* same("the state", (yield* approvals.ofRun(place))[0]?.state, "withdrawn");
      yield* same("what the run would hear", yield* ledger.undelivered(place), []);
      const requestId = yield* firstOf(requestIds);
      yield* refusedAs("ApprovalAlreadyDecided")(approvals.decide(answerOf(place, requestId)));
    }),
  ),
  promise(
    "[OP-01] a decision has its event in the tenant's log",
    Effect.gen(function* () {
      const { place, requestIds } = yield* waiting(["c1"]);
      const approvals = yield* Approvals;
      yield* approvals.decide(answerOf(place, yield* firstOf(requestIds)));
      // Queued, started, attempt, turn, call, request, suspended, and the decision.
      const decided = (yield* follow(place.tenantId, 8)).filter(
        (logged) => logged.event._tag === "ApprovalDecided",
      );
      yield* same("the events", decided.length, 1);
    }),
  ),
];
