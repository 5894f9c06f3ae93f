import { assert, describe, it } from "@effect/vitest";
import { Cause, Effect, Exit, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { ApprovalPolicyError } from "#lib/agent-error.ts";
import {
  ApprovalPolicy,
  type ApprovalPolicyShape,
  type PolicyAnswer,
} from "#lib/approval/ApprovalPolicy.ts";
import {
  type ApprovalDecision,
  ApprovalResolver,
  type ApprovalResolverShape,
} from "#lib/approval/ApprovalResolver.ts";
import { checkApprovers } from "#lib/approval/approver-rule.ts";
import { resolveApprovals } from "#lib/approval/resolve-approvals.ts";
import { aRequest, person, settle } from "./fixtures.ts";

const humans: ApprovalPolicyShape = { decide: () => Effect.succeed({ _tag: "defer" }) };
const answering = (answers: Record<string, ApprovalDecision>): ApprovalResolverShape => ({
  resolve: (requests) =>
    Effect.succeed(requests.map((request) => answers[request.callId] ?? { _tag: "unresolved" })),
});
const approvedBy = (...ids: readonly [string, ...ReadonlyArray<string>]): ApprovalDecision => {
  const [first, ...others] = ids;
  return { _tag: "approved", approvers: [person(first), ...others.map(person)] };
};
const tags = (outcomes: ReadonlyArray<{ readonly _tag: string }>) =>
  outcomes.map(({ _tag }) => _tag);

describe("resolveApprovals", () => {
  it.effect("[A-06] by default nobody decides, and nothing is approved", () =>
    Effect.gen(function* () {
      const resolved = yield* resolveApprovals(
        [aRequest("a"), aRequest("b")],
        yield* ApprovalPolicy,
        yield* ApprovalResolver,
      );
      assert.deepStrictEqual(tags(resolved.outcomes), ["unresolved", "unresolved"]);
      assert.deepStrictEqual(resolved.failures, []);
      assert.deepStrictEqual(yield* resolveApprovals([], humans, answering({})), {
        outcomes: [],
        failures: [],
      });
    }),
  );

  it.effect(
    "[A-11][R08] the resolver gets every request of the batch at once, and each gets its own answer",
    () =>
      Effect.gen(function* () {
        const batches: Array<ReadonlyArray<string>> = [];
        const resolver: ApprovalResolverShape = {
          resolve: (requests) =>
            Effect.sync(() => {
              batches.push(requests.map(({ requestId }) => requestId));
              return [
                approvedBy("ben"),
                { _tag: "denied", actor: person("cleo"), reason: "Wrong order" },
                { _tag: "unresolved" },
              ];
            }),
        };
        const { outcomes } = yield* resolveApprovals(
          [aRequest("a"), aRequest("b"), aRequest("c")],
          humans,
          resolver,
        );
        assert.deepStrictEqual(batches, [["req-a", "req-b", "req-c"]]);
        assert.deepStrictEqual(outcomes, [
          { _tag: "approved", actor: person("ben"), approvers: [person("ben")], reason: "" },
          { _tag: "denied", actor: person("cleo"), reason: "Wrong order" },
          { _tag: "unresolved", because: "Nobody could decide." },
        ]);
      }),
  );

  it.effect(
    "[A-13] the policy answers in place of a person, by the name of its rule; what it defers goes to people",
    () =>
      Effect.gen(function* () {
        const answers: Record<string, PolicyAnswer> = {
          a: { _tag: "approve", rule: "small-refunds", reason: "under 10" },
          b: { _tag: "deny", rule: "blocked-customers", reason: "blocked" },
        };
        const asked: Array<string> = [];
        const policy: ApprovalPolicyShape = {
          decide: ({ callId }) => Effect.succeed(answers[callId] ?? { _tag: "defer" }),
        };
        const resolver: ApprovalResolverShape = {
          resolve: (requests) =>
            Effect.sync(() => {
              asked.push(...requests.map(({ callId }) => callId));
              return requests.map(() => approvedBy("ben"));
            }),
        };
        const { outcomes } = yield* resolveApprovals(
          [aRequest("a"), aRequest("b"), aRequest("c")],
          policy,
          resolver,
        );
        assert.deepStrictEqual(asked, ["c"]);
        assert.deepStrictEqual(tags(outcomes), ["approved", "denied", "approved"]);
        assert.deepInclude(outcomes[0], {
          actor: { kind: "policy", id: "small-refunds", name: "small-refunds" },
        });
      }),
  );

  it.effect(
    "[A-13] a policy that fails, throws, interrupts itself, hangs or answers nonsense defers to people and keeps its failure",
    () =>
      Effect.gen(function* () {
        const broken: ReadonlyArray<() => Effect.Effect<PolicyAnswer, unknown>> = [
          () => Effect.fail("rules are down"),
          () => Effect.die("rules broke"),
          () => {
            throw new Error("rules threw");
          },
          () => Effect.interrupt,
          () => Effect.never,
          () => Effect.succeed({ _tag: "allowed" } as never),
          () => Effect.succeed(true as never),
          () => Effect.succeed({ _tag: "approve" } as never),
        ];
        for (const decide of broken) {
          const fiber = yield* Effect.forkChild(
            resolveApprovals([aRequest("a")], { decide }, answering({})),
          );
          yield* settle;
          yield* TestClock.adjust("11 seconds");
          const { outcomes, failures } = yield* Fiber.join(fiber);
          assert.deepStrictEqual(tags(outcomes), ["unresolved"]);
          assert.deepStrictEqual(
            failures.map(({ part, toolName }) => [part, toolName]),
            [["policy", "refund"]],
          );
          const approvedByPeople = yield* Effect.forkChild(
            resolveApprovals([aRequest("a")], { decide }, answering({ a: approvedBy("ben") })),
          );
          yield* settle;
          yield* TestClock.adjust("11 seconds");
          assert.deepStrictEqual(tags((yield* Fiber.join(approvedByPeople)).outcomes), [
            "approved",
          ]);
        }
      }),
  );

  it.effect(
    "[A-10] a resolver that fails, breaks or answers too few leaves its requests unresolved and keeps its error typed",
    () =>
      Effect.gen(function* () {
        const own = new ApprovalPolicyError({
          toolCallId: "a",
          toolName: "refund",
          part: "resolver",
          message: "The desk is closed.",
        });
        const broken: ReadonlyArray<readonly [ApprovalResolverShape["resolve"], string]> = [
          [() => Effect.fail(own), "The desk is closed."],
          [() => Effect.die("broke"), "broke"],
          [() => Effect.interrupt, "broke"],
          [() => Effect.succeed([approvedBy("ben")]), "each of 2 requests"],
          [() => Effect.succeed(undefined as never), "each of 2 requests"],
        ];
        for (const [resolve, words] of broken) {
          const { outcomes, failures } = yield* resolveApprovals(
            [aRequest("a"), aRequest("b")],
            humans,
            { resolve },
          );
          assert.deepStrictEqual(tags(outcomes), ["unresolved", "unresolved"]);
          assert.strictEqual(failures.length, 1);
          assert.include(failures[0]?.message, words);
        }
      }),
  );

  it.effect(
    "[A-07] a request expires by the system when nobody answers in time, and a late answer is not used",
    () =>
      Effect.gen(function* () {
        const slow = (answerAfter: number): ApprovalResolverShape => ({
          resolve: (requests) =>
            Effect.delay(Effect.succeed(requests.map(() => approvedBy("ben"))), answerAfter),
        });
        const requests = [
          aRequest("soon", { expiresAt: 1_000 }),
          aRequest("later", { expiresAt: 5_000 }),
        ];
        const never = yield* Effect.forkChild(
          resolveApprovals(requests, humans, { resolve: () => Effect.never }),
        );
        const late = yield* Effect.forkChild(resolveApprovals(requests, humans, slow(3_000)));
        yield* settle;
        yield* TestClock.adjust(3_000);
        yield* settle;
        yield* TestClock.adjust(1_999);
        assert.isUndefined(never.pollUnsafe());
        yield* TestClock.adjust(1);
        assert.deepStrictEqual(
          (yield* Fiber.join(never)).outcomes.map((outcome) =>
            outcome._tag === "expired" ? [outcome.actor.kind, outcome.expiredAt] : outcome,
          ),
          [
            ["system", 1_000],
            ["system", 5_000],
          ],
        );
        assert.deepStrictEqual(tags((yield* Fiber.join(late)).outcomes), ["expired", "approved"]);
        const overdue = yield* resolveApprovals(
          [aRequest("a", { expiresAt: 4_000 })],
          humans,
          answering({ a: approvedBy("ben") }),
        );
        assert.deepStrictEqual(tags(overdue.outcomes), ["expired"]);
      }),
  );

  it.effect("[A-07] without an expiry a request waits as long as it takes", () =>
    Effect.gen(function* () {
      const resolver: ApprovalResolverShape = {
        resolve: () => Effect.delay(Effect.succeed([approvedBy("ben")]), "90 days"),
      };
      const fiber = yield* Effect.forkChild(resolveApprovals([aRequest("a")], humans, resolver));
      yield* settle;
      yield* TestClock.adjust("89 days");
      assert.isUndefined(fiber.pollUnsafe());
      yield* TestClock.adjust("1 day");
      assert.deepStrictEqual(tags((yield* Fiber.join(fiber)).outcomes), ["approved"]);
    }),
  );

  it.effect(
    "[A-06] an approval counts only with enough different people, and not one's own where the tool forbids it",
    () =>
      Effect.gen(function* () {
        const two = { approversRequired: 2, requester: "ada" };
        const strict = { ...two, selfApproval: false };
        const outcomes = (yield* resolveApprovals(
          [aRequest("a", two), aRequest("b", two), aRequest("c", strict), aRequest("d", strict)],
          humans,
          answering({
            a: approvedBy("ben", "ben"),
            b: approvedBy("ada", "ben"),
            c: approvedBy("ada", "ben"),
            d: approvedBy("cleo", "ben"),
          }),
        )).outcomes;
        assert.deepStrictEqual(tags(outcomes), [
          "unresolved",
          "approved",
          "unresolved",
          "approved",
        ]);
        assert.deepInclude(outcomes[0], {
          because: "1 more approval is needed from other people.",
        });
      }),
  );

  it.effect("[B-07] interrupting the run while people think is an interruption", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(
        resolveApprovals([aRequest("a")], humans, { resolve: () => Effect.never }),
      );
      yield* TestClock.adjust("1 second");
      yield* Fiber.interrupt(fiber);
      const exit = yield* Fiber.await(fiber);
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause));
    }),
  );
});

describe("answers of a host that breaks its promise", () => {
  it.effect(
    "[A-06] an approval that names nobody approves nothing, and a long reason is cut with a marker",
    () =>
      Effect.gen(function* () {
        const answers: Record<string, unknown> = {
          a: { _tag: "approved" },
          b: { _tag: "approved", approvers: [] },
          c: { _tag: "yes" },
          d: { _tag: "denied", actor: person("ben"), reason: "é".repeat(10_000) },
        };
        const { outcomes } = yield* resolveApprovals(
          ["a", "b", "c", "d"].map((id) => aRequest(id)),
          humans,
          answering(answers as Record<string, ApprovalDecision>),
        );
        assert.deepStrictEqual(tags(outcomes), [
          "unresolved",
          "unresolved",
          "unresolved",
          "denied",
        ]);
        const denied = outcomes[3];
        assert.isTrue(denied?._tag === "denied" && denied.reason.endsWith("[truncated]"));
      }),
  );
});

describe("checkApprovers", () => {
  it("[A-06] says how many are missing, and that the requester does not count", () => {
    const rule = { approversRequired: 2, selfApproval: false, requester: "ada" };
    assert.deepStrictEqual(checkApprovers(rule, []), { _tag: "pending", missing: 2 });
    assert.deepStrictEqual(checkApprovers(rule, ["ada"]), {
      _tag: "selfApprovalRefused",
      missing: 2,
    });
    assert.deepStrictEqual(checkApprovers(rule, ["ben", "cleo"]), { _tag: "granted" });
    assert.deepStrictEqual(checkApprovers({ approversRequired: 1, selfApproval: false }, ["ada"]), {
      _tag: "granted",
    });
  });
});
