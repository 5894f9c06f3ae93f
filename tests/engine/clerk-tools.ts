/** A clerk whose tools need approvals of every kind, and a person who gives them. */
import { Effect, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import type { ApprovalDecision, ApprovalResolverShape } from "#lib/approval/ApprovalResolver.ts";
import type { ApprovalRequestContent } from "#lib/contract/approval.ts";
import { approvalRule } from "#lib/tool-approval.ts";
import { decider } from "#tests/engine/durable-harness.ts";

export const parameters = Schema.Struct({ amount: Schema.Number });

export const Refund = approvalRule(
  Tool.make("refund", {
    parameters,
    success: Schema.String,
    needsApproval: ({ amount }, { messages }) =>
      Effect.sync(() => amount > 100 || messages.length > 20),
  }),
  {
    summary: ({ amount }) => `Refund ${amount}`,
    targets: () => [{ kind: "order", id: "W1" }],
    risk: "high",
    expiresAfter: "1 hour",
  },
);

export const Close = approvalRule(
  Tool.make("close", { parameters, success: Schema.String, needsApproval: true }),
  { denial: "terminal" },
);

export const Free = Tool.make("free", { parameters, success: Schema.String });

export const Broken = Tool.make("broken_rule", {
  parameters,
  success: Schema.String,
  needsApproval: () => Effect.die(new Error("rule down")) as Effect.Effect<boolean>,
});

export const BrokenPreview = approvalRule(
  Tool.make("broken_preview", { parameters, success: Schema.String, needsApproval: true }),
  {
    preview: () => {
      throw new Error("redactor down");
    },
  },
);

export const toolkit = Toolkit.make(Refund, Close, Free, Broken, BrokenPreview);

export const agent = Agent.make("clerk", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Serve.",
  toolkit,
  policy: { repeatedFailureLimit: 0 },
});

export const makeClerk = () => {
  const log: Array<string> = [];
  const handle =
    (name: string) =>
    ({ amount }: typeof parameters.Type) =>
      Effect.sync(() => (log.push(`${name} ${amount}`), `${name} done`));
  const layer = toolkit.toLayer({
    refund: handle("refund"),
    close: handle("close"),
    free: handle("free"),
    broken_rule: handle("broken_rule"),
    broken_preview: handle("broken_preview"),
  });
  return { log, layer };
};

export const call = (id: string, name: string, amount = 500) => ({ id, name, params: { amount } });

export const yes: ApprovalDecision = { _tag: "approved", approvers: [decider] };

export const no: ApprovalDecision = { _tag: "denied", actor: decider, reason: "over the limit" };

/** A person in memory who answers by call id; whoever is not named is approved. */
export const makePerson = (answers: Readonly<Record<string, ApprovalDecision>> = {}) => {
  const asked: Array<ReadonlyArray<ApprovalRequestContent>> = [];
  const approval: ApprovalResolverShape = {
    resolve: (requests) =>
      Effect.sync(() => {
        asked.push(requests);
        return requests.map(({ callId }) => answers[callId] ?? yes);
      }),
  };
  return { asked, approval };
};
