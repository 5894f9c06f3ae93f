/** Reviewed previews: each on the arguments of the real tool, and on what it was not written for. */
import { assert, describe, it } from "@effect/vitest";
import { Effect, Schema } from "effect";
import * as fc from "fast-check";
import { previewOf } from "#components/approvals/previews/registry.ts";
import { exactFromValue, parseExactJson } from "#lib/client/exact-json.ts";
import { RetailToolkit } from "#server/demo/RetailToolkit.ts";

const address = {
  address1: "1 Main St",
  address2: "",
  city: "Reno",
  state: "NV",
  country: "USA",
  zip: "89501",
};
const money = {
  order_id: "#W1000001",
  payment_method_id: "credit_card_1",
  amount: "129.90",
  reason: "cracked burr",
};

/** Arguments that each tool's own schema accepts, with what a person must see of them. */
const cases: ReadonlyArray<
  readonly [keyof typeof RetailToolkit.tools, object, ReadonlyArray<string>]
> = [
  ["issue_refund", money, ["$129.90", "#W1000001", "credit_card_1", "cracked burr"]],
  ["charge_payment_method", money, ["$129.90", "#W1000001", "credit_card_1", "cracked burr"]],
  [
    "cancel_pending_order",
    { order_id: "#W1", reason: "no longer needed" },
    ["#W1", "no longer needed"],
  ],
  [
    "modify_pending_order_address",
    { order_id: "#W1", ...address },
    ["#W1", "1 Main St\nReno, NV 89501\nUSA"],
  ],
  [
    "modify_user_address",
    { user_id: "mei_1", ...address },
    ["mei_1", "1 Main St\nReno, NV 89501\nUSA"],
  ],
];

const shown = (toolName: string, value: unknown) => {
  const preview = previewOf(toolName, exactFromValue(value));
  return preview?.kind === "facts" ? preview.facts.map((fact) => fact.value) : preview?.why;
};

describe("reviewed previews", () => {
  for (const [toolName, parameters, seen] of cases) {
    it.effect(
      `[A-03][C053] ${toolName}: arguments that the real tool accepts are shown whole`,
      () =>
        Effect.gen(function* () {
          const schema = RetailToolkit.tools[toolName].parametersSchema;
          yield* Schema.decodeUnknownEffect(schema as Schema.ConstraintCodec<unknown, unknown>)(
            parameters,
          );
          assert.deepStrictEqual(shown(toolName, parameters), [...seen]);
        }),
    );

    it(`[C051] ${toolName}: one member more, one fewer or of another type is said, never left out`, () => {
      assert.match(String(shown(toolName, { ...parameters, cc: "x@evil" })), /not known/);
      const [first] = Object.keys(parameters);
      const fewer = Object.fromEntries(Object.entries(parameters).slice(1));
      assert.strictEqual(shown(toolName, fewer), `"${first}" is missing`);
      assert.match(String(shown(toolName, { ...parameters, [first ?? ""]: 5 })), /no text/);
      assert.match(
        String(shown(toolName, { ...parameters, [first ?? ""]: "x".repeat(2_001) })),
        /too long/,
      );
    });
  }

  it("a tool without a preview, and names that every object has, have none", () => {
    for (const name of ["send_email", "constructor", "__proto__", "toString", ""])
      assert.isUndefined(previewOf(name, exactFromValue(money)));
  });

  it("[C059] a sum that is none, and a key that stands there twice, are not shown as one", () => {
    assert.match(String(shown("issue_refund", { ...money, amount: "1e3" })), /no sum/);
    const twice = parseExactJson('{"order_id":"#A","order_id":"#B","reason":"r"}');
    assert.deepInclude(previewOf("cancel_pending_order", twice), { kind: "unreadable" });
  });

  it("no value whatever breaks a preview", () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom(...cases.map(([name]) => name)),
        (value, name) => {
          const preview = previewOf(name, exactFromValue(value));
          assert.notStrictEqual(
            preview?.kind === "unreadable" ? preview.why : "",
            "it broke on them",
          );
        },
      ),
    );
  });
});
