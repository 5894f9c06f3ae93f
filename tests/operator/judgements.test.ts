import { Result } from "effect";
import fc from "fast-check";
import { assert, describe, it } from "vitest";
import { approvalLimits } from "#lib/contract/approval.ts";
import { CommandId, Digest } from "#lib/contract/ids.ts";
import { ApprovalState, OperatorRole } from "#lib/contract/status.ts";
import { type ApprovalToJudge, judgeApproval } from "#lib/approval/judge-approval.ts";
import { judgeResolution, type UnknownToJudge } from "#lib/durable/judge-resolution.ts";
import { mayAct, neededRole } from "#server/operator/permissions.ts";

const digest = Digest.make("a".repeat(64));
const other = Digest.make("b".repeat(64));

const pending: ApprovalToJudge = {
  state: "pending",
  parametersDigest: digest,
  approversRequired: 1,
  selfApproval: true,
  requesterId: "requester",
  expiresAt: null,
  decidedBy: null,
  decidedAt: null,
  approvedBy: [],
  now: 1_000,
};

const approve = {
  commandId: CommandId.make("c1"),
  decision: "approved" as const,
  parametersDigest: digest,
  reason: "",
};

const tagOf = (result: ReturnType<typeof judgeApproval>): string =>
  Result.isFailure(result) ? result.failure._tag : result.success.kind;

describe("judging a decision", () => {
  it("[A-07] time is up at the very millisecond, not one later", () => {
    assert.strictEqual(
      tagOf(judgeApproval({ ...pending, expiresAt: 1_001 }, approve, "ann")),
      "decide",
    );
    assert.strictEqual(
      tagOf(judgeApproval({ ...pending, expiresAt: 1_000 }, approve, "ann")),
      "ApprovalAlreadyDecided",
    );
  });

  it("[A-07][C011] who comes too late is told who decided, or that nobody did", () => {
    const told = (state: ApprovalState, decidedBy: string): string => {
      const verdict = judgeApproval({ ...pending, state, decidedBy }, approve, "ann");
      return Result.isFailure(verdict) ? verdict.failure.message : "";
    };
    assert.include(told("approved", "Ben"), "was approved by Ben before;");
    assert.include(told("denied", "Ben"), "was denied by Ben before;");
    assert.include(told("expired", "the clock"), "expired before anybody answered;");
    assert.include(told("withdrawn", "system"), "was withdrawn because its run ended;");
  });

  it("[C041] votes are counted by people who may approve: no requester, nobody twice", () => {
    const two = { ...pending, selfApproval: false, approversRequired: 2 };
    for (const approvedBy of [["requester"], []]) {
      const verdict = judgeApproval({ ...two, approvedBy }, approve, "ann");
      assert.deepStrictEqual(Result.getOrThrow(verdict), { kind: "count", missing: 1 });
    }
    const twice = judgeApproval(
      { ...pending, approversRequired: 3, approvedBy: ["bob", "bob"] },
      approve,
      "ann",
    );
    assert.deepStrictEqual(Result.getOrThrow(twice), { kind: "count", missing: 1 });
    assert.strictEqual(
      tagOf(judgeApproval({ ...two, approvedBy: ["bob"] }, approve, "ann")),
      "decide",
    );
  });

  it("[A-09] whatever else is true, only a pending, unexpired, unchanged request is ever decided", () => {
    fc.assert(
      fc.property(
        fc.record({
          state: fc.constantFrom(...ApprovalState.literals),
          same: fc.boolean(),
          expiresAt: fc.option(fc.integer({ min: 0, max: 2_000 })),
          selfApproval: fc.boolean(),
          requesterId: fc.constantFrom("ann", "bob"),
          decision: fc.constantFrom("approved" as const, "denied" as const),
          reason: fc.constantFrom("", "  ", "why"),
          approvedBy: fc.subarray(["ann", "bob", "cy"]),
          approversRequired: fc.integer({ min: 1, max: 4 }),
        }),
        (drawn) => {
          const row: ApprovalToJudge = { ...pending, ...drawn };
          const command = {
            ...approve,
            decision: drawn.decision,
            reason: drawn.reason,
            parametersDigest: drawn.same ? digest : other,
          };
          const verdict = judgeApproval(row, command, "ann");
          if (Result.isFailure(verdict)) return;
          assert.strictEqual(row.state, "pending");
          assert.isTrue(drawn.same);
          assert.isTrue(row.expiresAt === null || row.expiresAt > row.now);
          assert.isTrue(row.selfApproval || row.requesterId !== "ann");
          assert.notInclude(row.approvedBy, "ann");
          if (drawn.decision === "denied") assert.strictEqual(drawn.reason, "why");
          // The requester's own vote counts only where it may, however it came into the row.
          const counted = row.approvedBy.filter(
            (voter) => row.selfApproval || voter !== row.requesterId,
          );
          const complete =
            drawn.decision === "denied" || counted.length + 1 >= row.approversRequired;
          assert.strictEqual(verdict.success.kind, complete ? "decide" : "count");
        },
      ),
    );
  });

  it("[A-06] a reason is measured in the bytes the model will receive", () => {
    const deny = { ...approve, decision: "denied" as const };
    assert.strictEqual(
      tagOf(
        judgeApproval(
          pending,
          { ...deny, reason: "é".repeat(approvalLimits.maxReasonBytes / 2) },
          "ann",
        ),
      ),
      "decide",
    );
    assert.strictEqual(
      tagOf(
        judgeApproval(
          pending,
          { ...deny, reason: "é".repeat(approvalLimits.maxReasonBytes / 2 + 1) },
          "ann",
        ),
      ),
      "InvalidInput",
    );
  });
});

describe("judging a resolution", () => {
  const open: UnknownToJudge = {
    state: "open",
    afterSettlement: false,
    runState: "unknown",
    parametersDigest: digest,
    resolution: null,
    result: null,
    resultIsFailure: null,
    resolverId: null,
    resolverName: null,
    resolvedAt: null,
  };
  const command = {
    commandId: CommandId.make("c1"),
    resolution: "completed-with-result" as const,
    result: { b: 1, a: 2 },
    parametersDigest: digest,
    reason: "r",
    evidence: "e",
  };

  it("[DU-07] the same result in another key order is the same resolution", () => {
    const row: UnknownToJudge = {
      ...open,
      state: "resolved",
      resolution: "completed-with-result",
      result: { a: 2, b: 1 },
      resultIsFailure: false,
      resolverId: "ann",
      resolverName: "Ann",
      resolvedAt: 5,
    };
    const same = judgeResolution(row, command, "ann");
    assert.isTrue(Result.isSuccess(same) && same.success.kind === "same");
    assert.isTrue(Result.isFailure(judgeResolution(row, command, "bob")));
    assert.isTrue(Result.isFailure(judgeResolution(row, { ...command, isFailure: true }, "ann")));
  });

  it("[DU-07] a result belongs to a completion and to nothing else", () => {
    const { result: _, ...bare } = command;
    assert.isTrue(Result.isFailure(judgeResolution(open, bare, "ann")));
    assert.isTrue(
      Result.isFailure(judgeResolution(open, { ...command, resolution: "never-happened" }, "ann")),
    );
    assert.isTrue(
      Result.isSuccess(judgeResolution(open, { ...bare, resolution: "never-happened" }, "ann")),
    );
    assert.isTrue(Result.isSuccess(judgeResolution(open, { ...command, result: null }, "ann")));
  });
});

describe("roles", () => {
  it("[Z-12] each role may do everything a lower one may, and an act exactly from its role on", () => {
    const roles = OperatorRole.literals;
    for (const act of Object.keys(neededRole) as Array<keyof typeof neededRole>)
      for (const role of roles)
        assert.strictEqual(
          mayAct(role, act),
          roles.indexOf(role) >= roles.indexOf(neededRole[act]),
          `${role} ${act}`,
        );
  });

  it("[C045] a decider decides and extends, and may do nothing else that changes anything", () => {
    const acts = (Object.keys(neededRole) as Array<keyof typeof neededRole>).filter((act) =>
      mayAct("decider", act),
    );
    assert.deepStrictEqual(acts.sort(), [
      "decide-approval",
      "extend-approval",
      // Tells the others who looks; it decides nothing.
      "look-at-approval",
      "set-own-password",
      "view",
    ]);
  });
});
