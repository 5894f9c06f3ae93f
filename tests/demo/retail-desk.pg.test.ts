import { assert, layer } from "@effect/vitest";
import { Effect, Layer, Option, Stream } from "effect";

import type { ApprovalDecision, ApprovalResolverShape } from "#lib/approval/ApprovalResolver.ts";
import type { ApprovalRequestContent } from "#lib/contract/approval.ts";
import type { RunEvent } from "#lib/contract/events.ts";
import * as AgentRuntime from "#lib/engine/AgentRuntime.ts";
import { RetailPolicy } from "#server/demo/policy.ts";
import { readyMadeRequests } from "#server/demo/requests.ts";
import { retailDesk } from "#server/demo/RetailDesk.ts";
import { findOrder } from "#server/demo/shop/orders.ts";
import { modelLayer } from "#server/model/Models.ts";

import { ShopStack } from "./shop-stack.ts";

const none = Option.none();
const Rehearsal = modelLayer({
  openAiKey: none,
  openAiBaseUrl: none,
  openAiModel: none,
  anthropicKey: none,
  anthropicModel: none,
});
const Desk = Layer.mergeAll(Rehearsal, RetailPolicy).pipe(Layer.provideMerge(ShopStack));

const ada = { kind: "operator", id: "ada", name: "Ada" } as const;

const answering = (answer: ApprovalDecision) => {
  const asked: Array<ApprovalRequestContent> = [];
  const resolver: ApprovalResolverShape = {
    resolve: (requests) => {
      asked.push(...requests);
      return Effect.succeed(requests.map(() => answer));
    },
  };
  return { asked, resolver };
};

const approving = () => answering({ _tag: "approved", approvers: [ada] });

const play = Effect.fn("play")(function* (
  id: string,
  { asked, resolver }: ReturnType<typeof answering>,
) {
  const request = readyMadeRequests.find((each) => each.id === id);
  if (request === undefined) return yield* Effect.die(`no ready-made request ${id}`);
  const run = yield* AgentRuntime.start(retailDesk, request.text, { approval: resolver });
  const events: Array<RunEvent> = [];
  yield* Stream.runForEach(run.events, (event) => Effect.sync(() => events.push(event)));
  const exit = yield* Effect.exit(run.await);
  const called = events.flatMap((event) =>
    event._tag === "ToolCallStarted" ? [event.toolName] : [],
  );
  const answer = exit._tag === "Success" ? exit.value.output : "";
  return {
    called,
    asked,
    answer,
    events,
    failure: exit._tag === "Failure" ? String(exit.cause) : "",
  };
}, Effect.scoped);

layer(Desk, { timeout: 90_000, excludeTestServices: true })(
  "the retail desk, rehearsed over HTTP on real tables",
  (it) => {
    it.effect("a refund above the limit is asked about in exact words and then booked", () =>
      Effect.gen(function* () {
        const { asked, called, answer } = yield* play("refund-above-limit", approving());
        assert.strictEqual(asked.length, 1);
        assert.match(
          asked[0]?.summary ?? "",
          /^Refund \$129\.90 for order #W1000001 to credit_card_\d+; reason given: "/,
        );
        assert.strictEqual(called.at(-1), "issue_refund");
        assert.include(answer, "$129.90 for order #W1000001 went back to");
      }),
    );

    it.effect("a denied cancellation changes nothing and the customer hears why", () =>
      Effect.gen(function* () {
        const { called, answer } = yield* play(
          "cancel-order",
          answering({ _tag: "denied", actor: ada, reason: "Already packed" }),
        );
        assert.notInclude(called, "cancel_pending_order");
        assert.include(answer, "Already packed");
        assert.strictEqual((yield* findOrder("#W1000002")).status, "pending");
      }),
    );

    it.effect("an approved address change is what the order then says", () =>
      Effect.gen(function* () {
        const { asked } = yield* play("change-shipping-address", approving());
        assert.include(asked[0]?.summary, "41 Linden Avenue, Apt 3, Boulder, CO 80302, USA");
        assert.strictEqual((yield* findOrder("#W1000003")).address.address1, "41 Linden Avenue");
      }),
    );

    it.effect("two changes are asked about together", () =>
      Effect.gen(function* () {
        const { asked, called } = yield* play("two-approvals", approving());
        assert.deepEqual(
          asked.map(({ turnNumber, toolName }) => [turnNumber, toolName]),
          [
            [2, "cancel_pending_order"],
            [2, "modify_user_address"],
          ],
        );
        assert.includeMembers([...called], ["cancel_pending_order", "modify_user_address"]);
      }),
    );

    it.effect("a small refund and a return need nobody", () =>
      Effect.gen(function* () {
        const refund = yield* play("small-refund", approving());
        assert.deepEqual(refund.called.slice(-2), ["issue_refund", "send_email"]);
        const goods = yield* play("return-with-label", approving());
        assert.deepEqual(goods.called.slice(-3), [
          "return_delivered_order_items",
          "create_return_label",
          "send_email",
        ]);
        assert.strictEqual(refund.asked.length + goods.asked.length, 0);
        assert.strictEqual((yield* findOrder("#W1000008")).status, "return requested");
      }),
    );

    it.effect("looking for an order starts readonly tools only", () =>
      Effect.gen(function* () {
        const { events, answer } = yield* play("where-is-my-order", approving());
        const classes = events.flatMap((event) =>
          event._tag === "ToolCallDeclared" ? [event.executionClass] : [],
        );
        assert.deepEqual([...new Set(classes)], ["readonly"]);
        assert.match(answer, /on its way \(tracking \d{12}\)/);
      }),
    );

    it.effect("deleting an account is denied by policy before anything starts", () =>
      Effect.gen(function* () {
        const { called, failure } = yield* play("delete-account", approving());
        assert.notInclude(called, "delete_customer");
        assert.include(failure, "AgentToolAuthorizationDenied");
      }),
    );

    it.effect("a declined refund is told to the customer in the provider's words", () =>
      Effect.gen(function* () {
        const { answer } = yield* play("declined-refund", approving());
        assert.include(answer, "the card issuer declined it");
      }),
    );

    it.effect("a refund without an answer stops the run with an effect in doubt", () =>
      Effect.gen(function* () {
        const { events, failure } = yield* play("unanswered-refund", approving());
        assert.isTrue(
          events.some(
            (event) => event._tag === "ToolCallUnknown" && event.toolName === "issue_refund",
          ),
        );
        assert.include(failure, "AgentRunSuspended");
      }),
    );

    it.effect("reports are discovered, then called", () =>
      Effect.gen(function* () {
        const { called, answer, failure } = yield* play("sales-report", approving());
        assert.strictEqual(failure, "");
        assert.deepEqual(called, [
          "discover_tools",
          "report_sales_by_product",
          "report_order_statuses",
        ]);
        assert.include(answer, "Report on sales by product:");
      }),
    );
  },
);
