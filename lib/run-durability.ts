/**
 * What a host of your own must keep to make runs durable: implement
 * `RunDurability` and give the interpreter its records back on resume. The two
 * types here name what the seed calls the response commit and the resume; both
 * are views of the same records, so there is nothing to keep twice.
 */
import type { ExposureSnapshot } from "./contract/exposure.ts";
import type { Json } from "./contract/json/json.ts";
import type { DeclaredCall, ParameterRejection, RunRecord } from "./contract/records.ts";
import { foldRecords } from "./durable/run-state.ts";

export { AttemptPostponed, type DurabilityError, RunDurability } from "./engine/RunDurability.ts";

/**
 * A model response as it must be kept, all of it or nothing (F-09): the calls, the
 * rejections tied to their very arguments, and what the request had exposed.
 */
export interface RunTurnResponseCommit {
  readonly turn: number;
  readonly response: ReadonlyArray<Json>;
  readonly calls: ReadonlyArray<DeclaredCall>;
  readonly toolParameterRejections: ReadonlyArray<ParameterRejection>;
  readonly toolExposure: ExposureSnapshot;
}

/** What a half-finished batch is taken up with (F-08, X-14). */
export interface RunTurnResume {
  readonly turn: number;
  readonly toolParameterRejections: ReadonlyArray<ParameterRejection>;
  readonly toolExposure: ExposureSnapshot;
}

/** The response commit in a batch of records, where it holds one. */
export const responseCommitOf = (
  records: ReadonlyArray<RunRecord>,
): RunTurnResponseCommit | undefined => {
  const turn = records.findLast((record) => record._tag === "TurnRecorded");
  return turn === undefined
    ? undefined
    : {
        turn: turn.turn,
        response: turn.response,
        calls: turn.calls,
        toolParameterRejections: turn.rejections,
        toolExposure: turn.exposure,
      };
};

/** What the last stored turn is resumed with; undefined before the first response. */
export const resumeOf = (records: ReadonlyArray<RunRecord>): RunTurnResume | undefined => {
  const turn = foldRecords(records).turns.at(-1)?.recorded;
  return turn === undefined
    ? undefined
    : { turn: turn.turn, toolParameterRejections: turn.rejections, toolExposure: turn.exposure };
};
