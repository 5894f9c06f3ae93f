import { readFileSync } from "node:fs";
import path from "node:path";

import { assert, describe, it } from "@effect/vitest";
import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ModelCodec } from "#lib/engine/ModelCodec.ts";
import { requestSchemaOf } from "#lib/engine/RequestToolkit.ts";
import type { ToolAuthorizationRequest } from "#lib/run-options.ts";
import { approvalRuleOf } from "#lib/tool-approval.ts";
import { namespaceOf } from "#lib/tool-exposure.ts";
import { Cents } from "#server/demo/data/money.ts";
import { retailPolicy } from "#server/demo/policy.ts";
import { retailDesk, RetailDeskToolkit } from "#server/demo/RetailDesk.ts";
import { RetailToolkit } from "#server/demo/RetailToolkit.ts";
import { IssueRefund } from "#server/demo/tools/issue-refund.ts";

import { publicDataSet } from "./public-data-set.ts";

const tools: ReadonlyArray<Tool.Any> = Object.values(RetailToolkit.tools);

describe("the desk's tools", () => {
  it("are at least 28, in six namespaces", () => {
    assert.isAtLeast(tools.length, 28);
    assert.deepEqual([...new Set(tools.map(namespaceOf))].sort(), [
      "customers",
      "mail",
      "orders",
      "payments",
      "reports",
      "shipping",
    ]);
  });

  it("declare their execution class themselves, each", () => {
    const silent = tools.filter((tool) => !tool.annotations.mapUnsafe.has(ToolExecutionClass.key));
    assert.deepEqual(
      silent.map(({ name }) => name),
      [],
    );
  });

  it("say in words what an approval is about, and show every parameter of it", () => {
    const gated = tools.filter(
      ({ needsApproval }) => needsApproval !== undefined && needsApproval !== false,
    );
    assert.deepEqual(gated.map(({ name }) => name).sort(), [
      "cancel_pending_order",
      "charge_payment_method",
      "issue_refund",
      "modify_pending_order_address",
      "modify_user_address",
    ]);
    for (const tool of gated) {
      const rule = approvalRuleOf(tool);
      assert.isDefined(rule.summary, tool.name);
      assert.isDefined(rule.targets, tool.name);
      assert.isDefined(rule.preview, tool.name);
      assert.isDefined(rule.risk, tool.name);
    }
  });

  it("[A-01] refunds need an approval above 100.00 and not at it", () => {
    const need = IssueRefund.needsApproval;
    if (typeof need !== "function") return assert.fail("issue_refund decides by its amount");
    const refund = (cents: number) => ({
      order_id: "#W1",
      payment_method_id: "p",
      amount: Cents.make(cents),
      reason: "",
    });
    const context = { toolCallId: "c", messages: [] };
    assert.strictEqual(need(refund(10_000), context), false);
    assert.strictEqual(need(refund(10_001), context), true);
  });

  it("hide the reports at first and nothing else", () => {
    const exposed = new Set(retailDesk.toolExposure?.initialToolNames);
    const hidden = tools.filter(({ name }) => name.startsWith("report_"));
    assert.isAtLeast(hidden.length, 3);
    for (const { name } of hidden) assert.isFalse(exposed.has(name), name);
  });

  it.effect(
    "deleting a customer is denied by policy, with a safe reason and private evidence; the rest is allowed",
    () =>
      Effect.gen(function* () {
        const request = (toolName: string): ToolAuthorizationRequest => ({
          threadId: "t",
          runId: "r",
          turnId: "turn-1",
          turnNumber: 1,
          input: "",
          call: { toolCallId: "c", toolName, parameters: {}, executionClass: "idempotent" },
        });
        const denied = yield* retailPolicy.authorize(request("delete_customer"));
        assert.strictEqual(denied._tag, "denied");
        for (const { name } of tools.filter((tool) => tool.name !== "delete_customer")) {
          assert.strictEqual((yield* retailPolicy.authorize(request(name)))._tag, "allowed", name);
        }
      }),
  );

  it("can be put on every provider's wire, descriptions included", () => {
    for (const tool of Object.values(RetailDeskToolkit.tools)) {
      for (const codec of [ModelCodec.responses, ModelCodec.plain, ModelCodec.anthropic]) {
        const schema = JSON.stringify(requestSchemaOf(tool, codec));
        assert.include(schema, '"type":"object"', tool.name);
      }
    }
    const amount = JSON.stringify(requestSchemaOf(IssueRefund, ModelCodec.responses));
    assert.include(amount, "Dollars with two decimals");
  });
});

const Declared = Schema.Array(
  Schema.Struct({
    name: Schema.String,
    description: Schema.String,
    parameters: Schema.Struct({
      properties: Schema.Record(
        Schema.String,
        Schema.Struct({
          type: Schema.String,
          description: Schema.String,
          enum: Schema.optionalKey(Schema.Array(Schema.String)),
        }),
      ),
      required: Schema.Array(Schema.String),
    }),
  }),
);
const decodeDeclared = Schema.decodeUnknownSync(Schema.fromJsonString(Declared));

const OurParameters = Schema.Struct({
  properties: Schema.optionalKey(
    Schema.Record(
      Schema.String,
      Schema.Struct({
        type: Schema.String,
        description: Schema.optionalKey(Schema.String),
        enum: Schema.optionalKey(Schema.Array(Schema.String)),
      }),
    ),
  ),
  required: Schema.optionalKey(Schema.Array(Schema.String)),
});

describe.skipIf(publicDataSet === undefined)("the sixteen tools of the public data set", () => {
  it("exist with the declared names, descriptions, parameters, types and choices", () => {
    const declared = decodeDeclared(
      readFileSync(path.join(publicDataSet ?? "", "tools.json"), "utf8"),
    );
    assert.strictEqual(declared.length, 16);
    for (const wanted of declared) {
      const tool = tools.find(({ name }) => name === wanted.name);
      if (tool === undefined) return assert.fail(`there is no tool ${wanted.name}`);
      assert.strictEqual(Tool.getDescription(tool), wanted.description);
      const ours = Schema.decodeUnknownSync(OurParameters)(requestSchemaOf(tool, ModelCodec.plain));
      assert.deepEqual(
        [...(ours.required ?? [])].sort(),
        [...wanted.parameters.required].sort(),
        wanted.name,
      );
      assert.deepEqual(
        Object.keys(ours.properties ?? {}).sort(),
        Object.keys(wanted.parameters.properties).sort(),
        wanted.name,
      );
      for (const [key, property] of Object.entries(wanted.parameters.properties)) {
        const seen = ours.properties?.[key];
        assert.strictEqual(seen?.type, property.type, `${wanted.name}.${key}`);
        assert.deepEqual(seen?.enum, property.enum, `${wanted.name}.${key}`);
      }
    }
  });
});
