/** What the calls made so far have established, decoded; everything else is a failure in words. */
import { Option, Predicate, Schema } from "effect";

import { OrderRecord, UserRecord } from "../data/records.ts";
import type { Conversation, MadeCall } from "./read-conversation.ts";

export type Outcome<A> =
  | { readonly _tag: "NotAsked" }
  | { readonly _tag: "Got"; readonly value: A }
  | { readonly _tag: "Failed"; readonly why: string };

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** A failed result in words: the shop's text, a person's reason, an error's message. */
const describeFailure = (result: unknown): string => {
  if (typeof result === "string") return result.replace(/^Error: /, "");
  if (Predicate.isObject(result)) {
    const reason = "reason" in result ? text(result.reason) : undefined;
    const message = "message" in result ? text(result.message) : undefined;
    const words = [message, reason].filter((part) => part !== undefined).join(" Reason: ");
    if (words !== "") return words;
  }
  return "the result could not be read";
};

const sameParameters = (made: MadeCall, wanted: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(wanted).every(
    ([key, value]) => JSON.stringify(made.parameters[key]) === JSON.stringify(value),
  );

/** The outcome of the last call of `tool` whose parameters include `wanted`, read with `schema`. */
export const outcomeOf = <S extends Schema.ConstraintDecoder<unknown>>(
  conversation: Conversation,
  tool: string,
  wanted: Readonly<Record<string, unknown>>,
  schema: S,
): Outcome<S["Type"]> => {
  const made = conversation.made.findLast(
    (call) => call.tool === tool && sameParameters(call, wanted),
  );
  if (made === undefined) return { _tag: "NotAsked" };
  if (typeof made.result === "string" && made.result.startsWith("Error: ")) {
    return { _tag: "Failed", why: describeFailure(made.result) };
  }
  return Option.match(Schema.decodeUnknownOption(schema)(made.result), {
    onNone: () => ({ _tag: "Failed", why: describeFailure(made.result) }),
    onSome: (value) => ({ _tag: "Got", value }),
  });
};

export const Order = OrderRecord;
export const Customer = UserRecord;
export const UserId = Schema.String;
export const Receipt = Schema.Struct({
  provider_id: Schema.String,
  amount: Schema.String,
  payment_method_id: Schema.String,
});
export const Shipment = Schema.Struct({
  whereabouts: Schema.String,
  parcels: Schema.Array(Schema.Struct({ tracking_id: Schema.Array(Schema.String) })),
});
export const Label = Schema.Struct({ label_id: Schema.String, carrier: Schema.String });
export const Mail = Schema.Struct({ recipient: Schema.String });
export const Discovered = Schema.Struct({ toolNames: Schema.Array(Schema.String) });
export const Rows = Schema.Array(Schema.Record(Schema.String, Schema.Unknown));
