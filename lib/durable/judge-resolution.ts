/** Whether an effect in doubt may be resolved this way, from the locked row alone (DU-07, DU-09). */
import * as Result from "effect/Result";
import type { ResolveUnknown } from "#lib/contract/commands.ts";
import {
  ApprovalChanged,
  InvalidInput,
  RunAlreadySettled,
  UnknownAlreadyResolved,
} from "#lib/contract/errors.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { ResolutionKind, RunState } from "#lib/contract/status.ts";

export interface UnknownToJudge {
  readonly state: "open" | "resolved";
  readonly afterSettlement: boolean;
  readonly runState: RunState;
  readonly parametersDigest: string;
  readonly resolution: ResolutionKind | null;
  readonly result: Json | null;
  readonly resultIsFailure: boolean | null;
  readonly resolverId: string | null;
  readonly resolverName: string | null;
  readonly resolvedAt: number | null;
}

/** What a person said. */
export type ResolutionToJudge = Pick<
  ResolveUnknown,
  "resolution" | "result" | "isFailure" | "parametersDigest"
>;

export type ResolutionVerdict =
  | { readonly kind: "resolve"; readonly result: Json | undefined; readonly isFailure: boolean }
  /** The same person said the same before: nothing more to do. */
  | { readonly kind: "same" };

export type ResolutionRefusal =
  | ApprovalChanged
  | InvalidInput
  | RunAlreadySettled
  | UnknownAlreadyResolved;

const isSame = (row: UnknownToJudge, command: ResolutionToJudge, operatorId: string): boolean =>
  row.resolverId === operatorId &&
  row.resolution === command.resolution &&
  (command.resolution !== "completed-with-result" ||
    (digestOf(row.result ?? null) === digestOf(command.result ?? null) &&
      (row.resultIsFailure ?? false) === (command.isFailure ?? false)));

const refuseSettled = (row: UnknownToJudge, command: ResolutionToJudge) => {
  const changesRun =
    command.resolution === "safe-to-retry" || command.resolution === "abort-submission";
  if (!row.afterSettlement || !changesRun) return undefined;
  return new RunAlreadySettled({
    message: `The run is ${row.runState}: this effect can be noted as completed or as never happened, but nothing runs or ends any more.`,
    state: row.runState,
  });
};

const refuseShape = (command: ResolutionToJudge): InvalidInput | undefined => {
  const completes = command.resolution === "completed-with-result";
  if (completes && command.result === undefined)
    return new InvalidInput({
      message: "A completed effect needs the result that it gave.",
      path: "body.result",
    });
  if (!completes && (command.result !== undefined || command.isFailure !== undefined))
    return new InvalidInput({
      message: `The resolution ${command.resolution} carries no result.`,
      path: "body.result",
    });
  return undefined;
};

export const judgeResolution = (
  row: UnknownToJudge,
  command: ResolutionToJudge,
  operatorId: string,
): Result.Result<ResolutionVerdict, ResolutionRefusal> => {
  if (row.state === "resolved") {
    if (isSame(row, command, operatorId)) return Result.succeed({ kind: "same" });
    const by = row.resolverName ?? "the system";
    return Result.fail(
      new UnknownAlreadyResolved({
        message: `This effect was resolved as ${row.resolution ?? "unknown"} by ${by} before.`,
        resolution: row.resolution ?? "never-happened",
        resolvedBy: by,
        resolvedAt: row.resolvedAt ?? 0,
      }),
    );
  }
  if (row.parametersDigest !== command.parametersDigest)
    return Result.fail(
      new ApprovalChanged({
        message: "The call in doubt is not the one you were shown. Look at it again.",
        seenDigest: command.parametersDigest,
        currentDigest: row.parametersDigest,
      }),
    );
  const refusal = refuseSettled(row, command) ?? refuseShape(command);
  if (refusal !== undefined) return Result.fail(refusal);
  return Result.succeed({
    kind: "resolve",
    result: command.result,
    isFailure: command.isFailure ?? false,
  });
};
