/** A turn as the Responses protocol carries it: one JSON object, or server-sent events. */
import { createHash } from "node:crypto";

import { notice } from "./take-turn.ts";
import type { ResponsesRequest, Turn } from "./responses-wire.ts";

export const modelName = "rehearsal";

const deltaCharacters = 24;

/** The same request gives the same ids; a longer conversation gives others, so none repeats in a run. */
const idFor = (prefix: string, request: ResponsesRequest, part: number): string =>
  `${prefix}_${createHash("sha256")
    .update(JSON.stringify([request.input, part]))
    .digest("hex")
    .slice(0, 24)}`;

const outputItems = (request: ResponsesRequest, turn: Turn) => {
  if (turn._tag === "Answer") {
    return [
      {
        type: "message" as const,
        id: idFor("msg", request, 0),
        role: "assistant" as const,
        status: "completed" as const,
        content: [{ type: "output_text" as const, text: turn.text, annotations: [] }],
      },
    ];
  }
  return turn.calls.map((call, index) => ({
    type: "function_call" as const,
    id: idFor("fc", request, index),
    call_id: idFor("call", request, index),
    name: call.tool,
    arguments: JSON.stringify(call.parameters),
    status: "completed" as const,
  }));
};

type OutputItem = ReturnType<typeof outputItems>[number];

/** The response object, as a request without streaming gets it. */
export const responseObject = (request: ResponsesRequest, turn: Turn, createdAt: number) => ({
  id: idFor("resp", request, 0),
  object: "response" as const,
  created_at: createdAt,
  model: modelName,
  status: "completed",
  output: outputItems(request, turn),
  // Nothing was sampled, so there are no tokens to count.
  usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
  metadata: { notice },
});

const pieces = (text: string): ReadonlyArray<string> =>
  text.match(new RegExp(`[\\s\\S]{1,${deltaCharacters}}`, "g")) ?? [];

const itemEvents = (
  item: OutputItem,
  output_index: number,
): ReadonlyArray<Record<string, unknown>> => {
  if (item.type === "message") {
    const at = { item_id: item.id, output_index, content_index: 0 };
    const text = item.content[0]?.text ?? "";
    return [
      {
        type: "response.output_item.added",
        output_index,
        item: { ...item, status: "in_progress", content: [] },
      },
      {
        type: "response.content_part.added",
        ...at,
        part: { type: "output_text", text: "", annotations: [] },
      },
      ...pieces(text).map((delta) => ({ type: "response.output_text.delta", ...at, delta })),
      { type: "response.output_text.done", ...at, text },
      { type: "response.output_item.done", output_index, item },
    ];
  }
  const at = { item_id: item.id, output_index };
  return [
    {
      type: "response.output_item.added",
      output_index,
      item: { ...item, status: "in_progress", arguments: "" },
    },
    ...pieces(item.arguments).map((delta) => ({
      type: "response.function_call_arguments.delta",
      ...at,
      delta,
    })),
    { type: "response.function_call_arguments.done", ...at, arguments: item.arguments },
    { type: "response.output_item.done", output_index, item },
  ];
};

/** The events of a streamed answer, numbered, in order. */
export const responseEvents = (
  request: ResponsesRequest,
  turn: Turn,
  createdAt: number,
): ReadonlyArray<Record<string, unknown>> => {
  const response = responseObject(request, turn, createdAt);
  const open = { ...response, status: "in_progress", output: [], usage: null };
  return [
    { type: "response.created", response: open },
    { type: "response.in_progress", response: open },
    ...response.output.flatMap(itemEvents),
    { type: "response.completed", response },
  ].map((event, sequence_number) => ({ ...event, sequence_number }));
};

/** One event as server-sent-event text. */
export const eventText = (event: Record<string, unknown>): string =>
  `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`;
