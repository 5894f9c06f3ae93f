import { assert, describe, it } from "@effect/vitest";
import fc from "fast-check";

import { initialState, mendResponse, mendText } from "#server/model/mend-event-stream.ts";

/** As a gateway was seen to send it: no numbers, and no arguments for a tool without parameters. */
const unnumbered = [
  "event: response.created",
  'data: {"type":"response.created","response":{"id":"resp_1","model":"m","created_at":1,"output":[]}}',
  "",
  ": keep-alive",
  "",
  'data: {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"ping","arguments":"","status":"in_progress"}}',
  "",
  'data: {"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":0,"arguments":""}',
  "",
  'data: {"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"ping","arguments":"","status":"completed"}}',
  "",
  "data: [DONE]",
  "",
  "",
].join("\n");

const mendAll = (pieces: ReadonlyArray<string>): string => {
  let state = initialState;
  let out = "";
  for (const piece of pieces) {
    const [next, text] = mendText(state, piece);
    state = next;
    out += text;
  }
  return out + state.rest;
};

const eventsOf = (text: string): ReadonlyArray<Record<string, unknown>> =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)) as Record<string, unknown>);

describe("mending a Responses stream", () => {
  it("numbers events that have no number, in order from 0", () => {
    assert.deepEqual(
      eventsOf(mendAll([unnumbered])).map((event) => event["sequence_number"]),
      [0, 1, 2, 3],
    );
  });

  it("turns empty arguments of a finished call into an empty object, and leaves an open call alone", () => {
    const [, added, done, item] = eventsOf(mendAll([unnumbered]));
    assert.strictEqual(Reflect.get(Object(added?.["item"]), "arguments"), "");
    assert.strictEqual(done?.["arguments"], "{}");
    assert.strictEqual(Reflect.get(Object(item?.["item"]), "arguments"), "{}");
  });

  it("keeps comments, event names and the end marker byte for byte", () => {
    const mended = mendAll([unnumbered]);
    for (const kept of ["event: response.created\n", ": keep-alive\n", "data: [DONE]\n\n"])
      assert.include(mended, kept);
  });

  it("gives the same text however the bytes are cut", () => {
    const whole = mendAll([unnumbered]);
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: unnumbered.length }), { maxLength: 12 }),
        (cuts) => {
          const places = [0, ...cuts.sort((a, b) => a - b), unnumbered.length];
          const pieces = places.slice(1).map((end, index) => unnumbered.slice(places[index], end));
          assert.strictEqual(mendAll(pieces), whole);
        },
      ),
    );
  });

  it("goes on from a number that an event does have, and changes no numbered event", () => {
    const text = 'data: {"type":"a","sequence_number":7,"x": 1 }\n\ndata: {"type":"b"}\n\n';
    const mended = mendAll([text]);
    assert.include(mended, 'data: {"type":"a","sequence_number":7,"x": 1 }\n');
    assert.deepEqual(
      eventsOf(mended).map((event) => event["sequence_number"]),
      [7, 8],
    );
  });

  it("keeps carriage returns at line ends", () => {
    const mended = mendAll(['data: {"type":"a"}\r\n\r\n']);
    assert.strictEqual(mended, 'data: {"type":"a","sequence_number":0}\r\n\r\n');
  });

  it("lets text through that is no event at all", () => {
    for (const text of [
      "data: {broken\n\n",
      "data: [1,2]\n\n",
      "data: null\n\n",
      "no stream at all",
      "\n\n\n",
    ])
      assert.strictEqual(mendAll([text]), text);
  });

  it("stops holding back a line that never ends", () => {
    const piece = `data: ${"x".repeat(5 * 1024 * 1024)}`;
    const [state, out] = mendText(initialState, piece);
    assert.strictEqual(out, piece);
    assert.strictEqual(state.rest, "");
  });

  it("mends a response that came in one piece", () => {
    const body = {
      id: "r",
      output: [
        { type: "function_call", arguments: "", status: "completed" },
        { type: "message", arguments: "" },
      ],
    };
    assert.deepEqual(mendResponse(body), {
      id: "r",
      output: [
        { type: "function_call", arguments: "{}", status: "completed" },
        { type: "message", arguments: "" },
      ],
    });
    assert.strictEqual(mendResponse("text"), "text");
  });
});
