/** Long values in a run's page are cut, with what is missing said; the whole of each is behind its own route. */
import { isCutValue } from "#lib/contract/cut-value.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { TurnView } from "#lib/contract/run-views.ts";
import { cutHeadLength, cutLongValue } from "#lib/durable/record-events.ts";

/** A value of more bytes is cut in a run's page. Results are bounded to 50 KiB by default: they come whole. */
export const maxValueBytes = 65_536;
/** All values of an answer together; past it each is cut much shorter. */
const maxBodyBytes = 4 * 1024 * 1024;
const crowdedValueBytes = 2_048;

const bodyBytes = (turns: ReadonlyArray<TurnView>): number =>
  turns.reduce(
    (sum, turn) =>
      sum +
      turn.calls
        .flatMap((call) => [call, ...(call.inner ?? [])])
        .reduce(
          (bytes, call) =>
            bytes +
            JSON.stringify(call.parameters).length +
            JSON.stringify(call.effectiveParameters).length +
            JSON.stringify(call.result).length +
            (call.steps ?? []).reduce(
              (all, step) => all + JSON.stringify(step.result).length + step.name.length,
              0,
            ),
          0,
        ),
    0,
  );

/** A value that was cut before: cut again, it would tell the size of what is left of it. */
const wasCut = (value: Json): boolean => isCutValue(value) && value.head.length <= cutHeadLength;

const cutTurns = (turns: ReadonlyArray<TurnView>, most: number): ReadonlyArray<TurnView> => {
  const cut = (value: Json): Json => (wasCut(value) ? value : cutLongValue(value, most));
  const body = <
    Call extends Pick<
      TurnView["calls"][number],
      "parameters" | "effectiveParameters" | "result" | "steps"
    >,
  >(
    call: Call,
  ): Call => ({
    ...call,
    parameters: cut(call.parameters),
    effectiveParameters: cut(call.effectiveParameters),
    result: cut(call.result),
    ...(call.steps === undefined
      ? {}
      : { steps: call.steps.map((step) => ({ ...step, result: cut(step.result) })) }),
  });
  return turns.map((turn) => ({
    ...turn,
    calls: turn.calls.map((call) => ({
      ...body(call),
      ...(call.inner === undefined ? {} : { inner: call.inner.map(body) }),
    })),
  }));
};

/** A value that stands alone: the input and the output of a run. */
export const boundValue = (value: Json): Json => cutLongValue(value, maxValueBytes);

/** The turns with their long values cut; all of them shorter when together they are still too much. */
export const boundTurns = (turns: ReadonlyArray<TurnView>): ReadonlyArray<TurnView> => {
  const bounded = cutTurns(turns, maxValueBytes);
  return bodyBytes(bounded) <= maxBodyBytes ? bounded : cutTurns(bounded, crowdedValueBytes);
};
