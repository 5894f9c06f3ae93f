/**
 * One turn of planning: asks for what is still unknown, says what is known. Calls
 * that do not depend on each other are asked for together, as one batch.
 */
import type { Schema } from "effect";

import { outcomeOf, type Outcome } from "./facts.ts";
import type { Conversation } from "./read-conversation.ts";
import type { FunctionTool, PlannedCall } from "./responses-wire.ts";

export type Asked<A> =
  | Exclude<Outcome<A>, { readonly _tag: "NotAsked" }>
  | { readonly _tag: "Pending" };

const acceptsNull = (property: unknown): boolean =>
  JSON.stringify(property ?? null).includes('"null"');

const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  // Only own keys of a plain JSON object are read from it.
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};

/** Parameters as the offered schema wants them: known keys only, and null for required ones left out (strict mode). */
const fitToSchema = (
  parameters: Readonly<Record<string, unknown>>,
  tool: FunctionTool,
): Record<string, unknown> => {
  const schema = tool.parameters ?? {};
  const properties = asRecord(schema["properties"]);
  const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
  const fitted = Object.fromEntries(
    Object.entries(parameters).filter(([key]) => Object.hasOwn(properties, key)),
  );
  for (const key of required) {
    if (!Object.hasOwn(fitted, key) && acceptsNull(properties[key])) fitted[key] = null;
  }
  return fitted;
};

export class Planner {
  readonly calls: Array<PlannedCall> = [];
  readonly said: Array<string> = [];
  readonly conversation: Conversation;

  constructor(conversation: Conversation) {
    this.conversation = conversation;
  }

  /** The result of a call, or the call itself among those of this turn. */
  ask<S extends Schema.ConstraintDecoder<unknown>>(
    tool: string,
    parameters: Readonly<Record<string, unknown>>,
    schema: S,
  ): Asked<S["Type"]> {
    const outcome = outcomeOf(this.conversation, tool, parameters, schema);
    if (outcome._tag !== "NotAsked") return outcome;
    const offered = this.conversation.tools.get(tool);
    if (offered === undefined)
      return { _tag: "Failed", why: `the tool ${tool} is not offered to me` };
    const call = { tool, parameters: fitToSchema(parameters, offered) };
    if (!this.calls.some((planned) => JSON.stringify(planned) === JSON.stringify(call)))
      this.calls.push(call);
    return { _tag: "Pending" };
  }

  /** Whether a tool may be called at all in this request. */
  offers(tool: string): boolean {
    return this.conversation.tools.has(tool);
  }

  say(sentence: string): void {
    if (!this.said.includes(sentence)) this.said.push(sentence);
  }
}
