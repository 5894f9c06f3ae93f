/** A conversation with the rehearsal model's rules, without HTTP: what they do with these words and results. */
import { takeTurn } from "#server/demo/rehearsal-model/take-turn.ts";
import type { InputItem, PlannedCall } from "#server/demo/rehearsal-model/responses-wire.ts";

export type Answers = (call: PlannedCall) => unknown;

const offer = (names: ReadonlyArray<string>) =>
  names.map((name) => ({
    type: "function" as const,
    name,
    parameters: { type: "object", properties: anyProperties },
  }));

/** Rehearsal calls keep only properties that the schema knows; a test's tools know all of these. */
const anyProperties = Object.fromEntries(
  [
    "email",
    "first_name",
    "last_name",
    "zip",
    "order_id",
    "user_id",
    "payment_method_id",
    "amount",
    "reason",
    "item_ids",
    "subject",
    "body",
    "carrier",
    "query",
    "namespace",
    "limit",
    "address1",
    "address2",
    "city",
    "state",
    "country",
  ].map((key) => [key, { type: "string" }]),
);

export interface Rehearsed {
  readonly batches: ReadonlyArray<ReadonlyArray<PlannedCall>>;
  readonly answer: string;
}

/** Plays turns until there is an answer; `exposed` may change with what was called so far. */
export const rehearse = (
  text: string,
  exposed: (batches: ReadonlyArray<ReadonlyArray<PlannedCall>>) => ReadonlyArray<string>,
  answers: Answers,
): Rehearsed => {
  const input: Array<InputItem> = [
    { role: "developer", content: "You work at the retail desk." },
    { role: "user", content: [{ type: "input_text", text }] },
  ];
  const batches: Array<ReadonlyArray<PlannedCall>> = [];
  for (let turn = 0; turn < 12; turn += 1) {
    const offered = exposed(batches);
    const taken = takeTurn({ input, tools: offer(offered) });
    if (taken._tag === "Answer") return { batches, answer: taken.text };
    for (const call of taken.calls) {
      if (!offered.includes(call.tool))
        throw new Error(`called ${call.tool}, which was not offered`);
    }
    batches.push(taken.calls);
    for (const [index, call] of taken.calls.entries()) {
      const call_id = `call_${turn}_${index}`;
      input.push({
        type: "function_call",
        call_id,
        name: call.tool,
        arguments: JSON.stringify(call.parameters),
      });
      input.push({ type: "function_call_output", call_id, output: JSON.stringify(answers(call)) });
    }
  }
  throw new Error("no answer within 12 turns");
};
