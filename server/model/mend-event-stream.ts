/**
 * Mends what real Responses endpoints send and the provider package refuses:
 * stream events without `sequence_number`, and `arguments: ""` where a tool takes
 * no parameters. Everything else passes through byte for byte.
 */
import { Predicate } from "effect";

/** A longer line is passed on as it came, so that a hostile endpoint cannot grow the buffer. */
const maxLineCharacters = 4 * 1024 * 1024;

export interface MendingState {
  /** Text after the last line break. */
  readonly rest: string;
  /** The number the next event without one gets. */
  readonly nextNumber: number;
  readonly passThrough: boolean;
}

export const initialState: MendingState = { rest: "", nextNumber: 0, passThrough: false };

/** `arguments: ""` as `{}` on a finished function call, wherever a response or an event carries one. */
export const mendArguments = (item: unknown): unknown =>
  Predicate.isObject(item) &&
  "type" in item &&
  item.type === "function_call" &&
  "arguments" in item &&
  item.arguments === ""
    ? { ...item, arguments: "{}" }
    : item;

const mendEvent = (event: Record<string, unknown>, number: number): Record<string, unknown> => ({
  ...event,
  ...(typeof event["sequence_number"] === "number" ? {} : { sequence_number: number }),
  ...(event["type"] === "response.function_call_arguments.done" && event["arguments"] === ""
    ? { arguments: "{}" }
    : {}),
  ...(event["type"] === "response.output_item.done" ? { item: mendArguments(event["item"]) } : {}),
});

const parseEvent = (text: string): Record<string, unknown> | undefined => {
  try {
    const parsed: unknown = JSON.parse(text);
    // Only spread and read by known keys afterwards.
    return Predicate.isObject(parsed) && "type" in parsed
      ? (parsed as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
};

const mendLine = (
  line: string,
  number: number,
): { readonly line: string; readonly next: number } => {
  if (!line.startsWith("data:")) return { line, next: number };
  const ending = line.endsWith("\r") ? "\r" : "";
  const event = parseEvent(line.slice("data:".length));
  if (event === undefined) return { line, next: number };
  const mended = mendEvent(event, number);
  const used = mended["sequence_number"];
  const next = typeof used === "number" ? used + 1 : number;
  const changed =
    mended["sequence_number"] !== event["sequence_number"] ||
    mended["arguments"] !== event["arguments"] ||
    mended["item"] !== event["item"];
  return { line: changed ? `data: ${JSON.stringify(mended)}${ending}` : line, next };
};

/** Feeds a piece of text; gives the new state and what can be passed on. Lines may be cut anywhere. */
export const mendText = (state: MendingState, text: string): readonly [MendingState, string] => {
  if (state.passThrough) return [state, text];
  const lines = (state.rest + text).split("\n");
  const rest = lines.pop() ?? "";
  let nextNumber = state.nextNumber;
  const mended = lines.map((line) => {
    const { line: out, next } = mendLine(line, nextNumber);
    nextNumber = next;
    return `${out}\n`;
  });
  if (rest.length > maxLineCharacters)
    return [{ rest: "", nextNumber, passThrough: true }, mended.join("") + rest];
  return [{ rest, nextNumber, passThrough: false }, mended.join("")];
};

/** The `output` of a response that came in one piece. */
export const mendResponse = (body: unknown): unknown =>
  Predicate.isObject(body) && "output" in body && Array.isArray(body.output)
    ? { ...body, output: body.output.map(mendArguments) }
    : body;
