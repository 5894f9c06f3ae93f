/**
 * Mends what the Responses provider package sends back and real endpoints refuse:
 * with `store: false` nobody but us keeps a reasoning item, so one without its
 * encrypted content is an id that leads nowhere, and the endpoint answers 404 to
 * the whole request (R72). One item is never sent twice (R73).
 */
import { Predicate } from "effect";

const isReasoning = (item: unknown): item is Record<string, unknown> =>
  Predicate.isObject(item) && "type" in item && item.type === "reasoning";

const isKept = (item: Record<string, unknown>): boolean =>
  typeof item["encrypted_content"] === "string" && item["encrypted_content"] !== "";

/** Pure: the request with the reasoning items that its endpoint can read; the same object where that is all of them. */
export const mendRequest = (body: unknown): unknown => {
  if (!Predicate.isObject(body) || !("input" in body) || !Array.isArray(body.input)) return body;
  const isStored = !("store" in body) || body.store !== false;
  const sent = new Set<unknown>();
  const input = body.input.filter((item: unknown) => {
    if (!isReasoning(item)) return true;
    if (sent.has(item["id"]) || (!isStored && !isKept(item))) return false;
    sent.add(item["id"]);
    return true;
  });
  return input.length === body.input.length ? body : { ...body, input };
};
