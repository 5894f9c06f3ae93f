/** The rehearsal model's whole reasoning: rules over what was said and what the calls gave. Pure. */
import { readWish } from "./intents.ts";
import { Planner } from "./planner.ts";
import { readConversation } from "./read-conversation.ts";
import type { ResponsesRequest, Turn } from "./responses-wire.ts";
import { serveIntent } from "./serve-intent.ts";

/** Ends every answer, so that nobody takes it for more than it is. */
export const notice = "(Rehearsal model: fixed rules, no AI.)";

const puzzled =
  "I am a rehearsal model and know only a few kinds of request: refund, cancel, return or track an order, change an address, delete an account, make a report. I could not read any of them here, so I did nothing.";

export const takeTurn = (request: ResponsesRequest): Turn => {
  const conversation = readConversation(request);
  const wish = readWish(conversation.text);
  const planner = new Planner(conversation);
  for (const intent of wish.intents) serveIntent(planner, wish, intent);
  if (planner.calls.length > 0) return { _tag: "Calls", calls: planner.calls };
  const said = planner.said.length > 0 ? planner.said : [puzzled];
  return { _tag: "Answer", text: [...said, notice].join(" ") };
};
