/**
 * What a call that runs again makes of an inner call it made before (CM-02,
 * DU-14): a recorded end is given again, nothing that may have acted is made a
 * second time by itself, and another call in the same place ends the outer one.
 * Pure.
 */
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Schema from "effect/Schema";
import type * as Tool from "effect/unstable/ai/Tool";
import { toolDigestOf } from "#lib/agent/definition-digest.ts";
import {
  ProgrammaticReplayMismatch,
  ProgrammaticToolAuthorizationDenied,
  ProgrammaticToolError,
  ProgrammaticToolFailed,
  ProgrammaticToolNotAllowed,
} from "#lib/broker/broker-error.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { RecordOf } from "#lib/contract/records.ts";
import { type CallEvidence, isInDoubt } from "#lib/durable/run-state.ts";
import { type CallOutcome, propagate } from "./classify-exit.ts";
import type { ReadyCall } from "./run-handler.ts";

export type MetCall =
  /** Its end is recorded. */
  | { readonly _tag: "known"; readonly result: Effect.Effect<Json, ProgrammaticToolError> }
  /** It has no end and may run: readonly, idempotent, or a person or reconciler allowed it. */
  | { readonly _tag: "runs" }
  | { readonly _tag: "ends"; readonly outcome: CallOutcome };

interface Asked {
  readonly toolName: string;
  readonly sequenceIndex: number;
  readonly parameters: Json;
}

export const meetRecorded = (
  outer: ReadyCall,
  known: CallEvidence,
  asked: Asked,
  tool: Tool.Any | undefined,
): MetCall => {
  const { declared, denied, settled } = known;
  const isSame =
    declared.toolName === asked.toolName &&
    digestOf(declared.parameters) === digestOf(asked.parameters);
  if (!isSame) return { _tag: "ends", outcome: propagate(mismatch(outer, known, asked)) };
  const place = { toolName: asked.toolName, sequenceIndex: asked.sequenceIndex };
  if (settled !== undefined) return { _tag: "known", result: again(place, settled) };
  if (denied !== undefined)
    return {
      _tag: "known",
      result: Effect.fail(
        new ProgrammaticToolAuthorizationDenied({ ...place, message: denied.reason }),
      ),
    };
  return mayRun(known, tool)
    ? { _tag: "runs" }
    : {
        _tag: "ends",
        outcome: {
          _tag: "unsure",
          detail: `Its call number ${asked.sequenceIndex} of ${asked.toolName} is in doubt and may not be made again.`,
        },
      };
};

/** A call in doubt is repeated only where its class says so, and only by the tool it was declared for (DU-05, DU-19). */
const mayRun = (known: CallEvidence, tool: Tool.Any | undefined): boolean => {
  if (!isInDoubt(known)) return true;
  const isSameTool = tool !== undefined && toolDigestOf(tool) === known.declared.toolDigest;
  return (
    known.unknown === undefined && known.declared.executionClass === "idempotent" && isSameTool
  );
};

const mismatch = (outer: ReadyCall, known: CallEvidence, asked: Asked) =>
  new ProgrammaticReplayMismatch({
    toolCallId: outer.evidence.declared.callId,
    toolName: asked.toolName,
    sequenceIndex: asked.sequenceIndex,
    message: `The call of ${outer.tool.name} ran again and made another call number ${asked.sequenceIndex}: ${
      known.declared.toolName === asked.toolName
        ? `${asked.toolName} with other arguments`
        : `${asked.toolName} in place of ${known.declared.toolName}`
    }. Its program must make the same calls in the same order.`,
  });

/** The end that is recorded, as the program was given it the first time. */
const again = (
  place: { readonly toolName: string; readonly sequenceIndex: number },
  settled: RecordOf<"ToolCallSettled">,
): Effect.Effect<Json, ProgrammaticToolError> => {
  if (!settled.isFailure) return Effect.succeed(settled.result);
  const message = settled.failure?.message ?? `The tool ${place.toolName} failed.`;
  if (settled.kind !== "failed") {
    const told = Schema.decodeUnknownExit(ProgrammaticToolError)(settled.result);
    return Effect.fail(
      Exit.isSuccess(told)
        ? told.value
        : new ProgrammaticToolNotAllowed({ ...place, reason: "not-in-allowlist", message }),
    );
  }
  return Effect.fail(
    new ProgrammaticToolFailed({
      ...place,
      message,
      errorTag: settled.failure?.errorTag ?? "ToolFailure",
      failure: settled.result,
    }),
  );
};
