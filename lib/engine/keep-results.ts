/**
 * What becomes of the whole text of a result that its record holds only a bounded
 * copy of (T-18, R52): kept beside the record within the run's bound, and read by
 * one tool of ours. A result that fits costs one comparison here.
 */
import * as Effect from "effect/Effect";
import type { Definition } from "#lib/agent/Agent.ts";
import type { ExposureSnapshot } from "#lib/contract/exposure.ts";
import { ResultId } from "#lib/contract/ids.ts";
import { boundResult } from "#lib/contract/json/bounded-result.ts";
import { sha256Hex } from "#lib/contract/json/digest.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { utf8ByteLength } from "#lib/contract/json/utf8.ts";
import type { RecordOf, RunRecord } from "#lib/contract/records.ts";
import { resultIdOf } from "#lib/durable/derived-ids.ts";
import type { FoundResult, KeptResultsShape } from "#lib/results/KeptResults.ts";
import {
  keepText,
  keptBytesOf,
  maxKeptRunBytes,
  type ResultToKeep,
  sourceOf,
} from "#lib/results/kept-text.ts";
import { hasResultReader, readerName } from "#lib/results/make.ts";
import { type CallInside, endCall } from "./call-inside.ts";
import type { RunContext } from "./RunContext.ts";
import type { RunDurability } from "./RunDurability.ts";
import type { SettlementBase } from "./settle-call.ts";

/** What the calls of one attempt share: the room that is left, and the text that was read last. */
export interface ResultRoom {
  /** The tool that reads kept results; undefined where the toolkit has none. */
  readonly readerName: string | undefined;
  /** The request that made these calls offered it, so an envelope may promise it. */
  readonly offered: boolean;
  readonly shared: {
    keptBytes: number;
    /** A model that pages reads the same text again and again. */
    last: { readonly resultId: string; readonly found: FoundResult } | undefined;
  };
}

/** @param stored the run's records so far: what they keep counts too */
export const makeResultRoom = (
  { toolkit }: Pick<Definition, "toolkit">,
  stored: ReadonlyArray<RunRecord>,
): ResultRoom => ({
  readerName: hasResultReader(toolkit.tools) ? readerName : undefined,
  offered: false,
  shared: { keptBytes: keptBytesOf(stored), last: undefined },
});

/** The context for calls that a request with this exposure made. */
export const narrowed = (context: RunContext, { exposed }: ExposureSnapshot): RunContext => {
  const name = context.results?.readerName;
  return context.results === undefined || name === undefined || !exposed.includes(name)
    ? context
    : { ...context, results: { ...context.results, offered: true } };
};

interface Settled {
  readonly record: RecordOf<"ToolCallSettled">;
  readonly results?: ReadonlyArray<ResultToKeep>;
}

/** The record as it is stored, and the whole text where its result was cut. */
export const keepCut = (
  context: RunContext,
  record: RecordOf<"ToolCallSettled">,
  encoded: Json,
  base: SettlementBase,
): Settled => {
  const { results: room } = context;
  if (record.result === encoded || room === undefined) return { record };
  const { callId, turn } = record;
  const resultId = resultIdOf({ tenantId: context.tenantId, runId: context.runId, turn, callId });
  const left = maxKeptRunBytes - room.shared.keptBytes;
  const result = keepText({ resultId, turn, callId }, encoded, left);
  const { bytes, digest, originalBytes } = result;
  room.shared.keptBytes += bytes;
  // A program has no use for the tool, and a run that has answered makes no further request.
  const isPromised = room.offered && bytes > 0 && base.isInner !== true && base.completes !== true;
  const readOn = {
    tool: readerName,
    resultId,
    ...(bytes < originalBytes ? { keptBytes: bytes } : {}),
  };
  return {
    record: {
      ...record,
      ...(isPromised ? { result: boundResult(encoded, base.resultBytes, readOn) } : {}),
      kept: { resultId, bytes, digest },
    },
    results: [result],
  };
};

/** Held against its record: what is not exactly what was recorded is not shown. */
const foundOf = (result: ResultToKeep | undefined): FoundResult => {
  if (result === undefined) return { _tag: "none" };
  const { bytes, digest, originalBytes, text } = result;
  if (utf8ByteLength(text) !== bytes || sha256Hex(text) !== digest) return { _tag: "damaged" };
  return { _tag: "kept", source: sourceOf(result), bytes, originalBytes };
};

/** What the reading tool's handler may read: results of this very run. */
export const keptResultsOf = (
  context: RunContext,
  inside: CallInside,
  durability: RunDurability["Service"],
): KeptResultsShape => {
  const { keptResult } = durability;
  const shared = context.results?.shared;
  return {
    maxBytes: context.resultBytes,
    find: (resultId) => {
      if (keptResult === undefined || !/^res_[0-9a-f]{32}$/.test(resultId))
        return Effect.succeed({ _tag: "none" });
      if (shared?.last?.resultId === resultId) return Effect.succeed(shared.last.found);
      return keptResult(ResultId.make(resultId)).pipe(
        Effect.map((result) => {
          const found = foundOf(result);
          if (shared !== undefined && found._tag === "kept") shared.last = { resultId, found };
          return found;
        }),
        // The store cannot be reached: no answer about the text, and a matter for the attempt.
        Effect.catch((error) => endCall(inside, { _tag: "batch", error })),
      );
    },
  };
};
