/**
 * The prompt of the next request, from records alone: instructions, earlier runs
 * of the thread, the input, then each turn with all its results in declaration
 * order (B-05, B-06). The same records give the same prompt bytes (R28).
 */
import type * as Prompt from "effect/unstable/ai/Prompt";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { RunRecord } from "#lib/contract/records.ts";
import {
  foldRecords,
  type RunEvidence,
  type TurnEvidence,
  withInner,
} from "#lib/durable/run-state.ts";

type Encoded = Prompt.MessageEncoded;

/** Text of an input: itself where it is text, its JSON otherwise. */
export const inputText = (input: Json): string =>
  typeof input === "string" ? input : canonicalJson(input);

const userMessage = (text: string): Encoded => ({
  role: "user",
  content: [{ type: "text", text }],
});

const assistantMessage = (turn: TurnEvidence): ReadonlyArray<Encoded> =>
  turn.recorded.response.length === 0
    ? []
    : // The parts were encoded by upstream's own schema when the turn was recorded, and are decoded by it again.
      [{ role: "assistant", content: turn.recorded.response as never }];

const toolMessage = (turn: TurnEvidence): ReadonlyArray<Encoded> => {
  const content = turn.calls
    .filter((call) => !call.declared.providerExecuted)
    .map((call) => ({
      type: "tool-result" as const,
      id: call.declared.callId,
      name: call.declared.toolName,
      isFailure: call.settled?.isFailure ?? true,
      result: call.settled?.result ?? null,
      providerExecuted: false,
    }));
  return content.length === 0 ? [] : [{ role: "tool", content }];
};

/** A turn that has not changed gives the very same messages again, so that what is made of them is made once. */
const known = new WeakMap<TurnEvidence, ReadonlyArray<Encoded>>();

const messagesOf = (turn: TurnEvidence): ReadonlyArray<Encoded> => {
  const before = known.get(turn);
  if (before !== undefined) return before;
  const messages = [...assistantMessage(turn), ...toolMessage(turn)];
  known.set(turn, messages);
  return messages;
};

/** Every turn with its results; the caller leaves out batches that never completed (B-06). */
const turnMessages = (evidence: RunEvidence): ReadonlyArray<Encoded> =>
  evidence.turns.flatMap(messagesOf);

const isComplete = (turn: TurnEvidence): boolean =>
  turn.calls.every((call) => call.declared.providerExecuted || call.settled !== undefined);

/** What a later run is told of an earlier one: its conversation, and plainly how it ended when it did not answer. */
const earlierRun = (records: ReadonlyArray<RunRecord>): ReadonlyArray<Encoded> => {
  const evidence = foldRecords(records);
  if (evidence.opened === undefined) return [];
  // A batch that never completed is left out whole: no partial batch is ever shown to a model (B-06).
  const shown = { ...evidence, turns: evidence.turns.filter(isComplete) };
  return [
    userMessage(inputText(evidence.opened.input)),
    ...turnMessages(shown),
    ...ending(evidence),
  ];
};

const ending = (evidence: RunEvidence): ReadonlyArray<Encoded> => {
  const open = evidence.turns.flatMap((turn) =>
    withInner(turn.calls).filter(
      (call) => call.unknown !== undefined && call.resolved === undefined,
    ),
  );
  const doubt = open.map(
    (call) =>
      `It is not known whether the call of ${call.declared.toolName} happened; do not assume either.`,
  );
  if (evidence.settled?.outcome === "completed") return [];
  const outcome =
    evidence.settled === undefined ? "has not ended" : `ended as ${evidence.settled.outcome}`;
  return [userMessage([`[The run above ${outcome}.`, ...doubt].join(" ") + "]")];
};

const groupByRun = (history: ReadonlyArray<RunRecord>): ReadonlyArray<ReadonlyArray<RunRecord>> => {
  const runs = new Map<string, Array<RunRecord>>();
  for (const record of history) {
    const run = runs.get(record.runId) ?? [];
    run.push(record);
    runs.set(record.runId, run);
  }
  return [...runs.values()];
};

/** History is fixed for an attempt, which asks for it at every turn. */
const earlier = new WeakMap<ReadonlyArray<RunRecord>, ReadonlyArray<Encoded>>();

const earlierRuns = (history: ReadonlyArray<RunRecord>): ReadonlyArray<Encoded> => {
  const before = earlier.get(history);
  if (before !== undefined) return before;
  const messages = groupByRun(history).flatMap(earlierRun);
  earlier.set(history, messages);
  return messages;
};

/**
 * @param history records of earlier runs of the thread, oldest first
 */
export const conversation = (
  instructions: string,
  history: ReadonlyArray<RunRecord>,
  input: Json,
  evidence: RunEvidence,
): ReadonlyArray<Encoded> => [
  { role: "system", content: instructions },
  ...earlierRuns(history),
  userMessage(inputText(input)),
  ...turnMessages(evidence),
];
