import { assert, describe, it } from "@effect/vitest";
import * as fc from "fast-check";
import { Digest, RunId, ToolCallId, UnknownId } from "#lib/contract/ids.ts";
import type { DeclaredCall, RecordOf, RunRecord } from "#lib/contract/records.ts";
import { type CallEvidence, foldRecords, withInner } from "#lib/durable/run-state.ts";

const runId = RunId.make("run-1");
const digest = Digest.make("0".repeat(64));

const declared = (callId: string, parentCallId?: string): DeclaredCall => ({
  callId: ToolCallId.make(callId),
  index: 0,
  toolName: "put",
  parameters: {},
  effectiveParameters: {},
  parametersDigest: digest,
  providerExecuted: false,
  executionClass: "uncertain",
  failureMode: "error",
  toolDigest: digest,
  needsApproval: false,
  ...(parentCallId === undefined ? {} : { parentCallId: ToolCallId.make(parentCallId) }),
});

const turnOf = (turn: number, calls: ReadonlyArray<DeclaredCall>): RecordOf<"TurnRecorded"> => ({
  _tag: "TurnRecorded",
  runId,
  turn,
  response: [],
  text: "",
  calls,
  rejections: [],
  exposure: { exposed: [], hash: digest } as never, // nothing here looks at it
  finishReason: "tool-calls",
  usage: { inputTokens: null, outputTokens: null },
  startedAt: 0,
});

/** Ids repeat from turn to turn, as models repeat them (R32); inner ones are their parents' own. */
const outerIds = Array.from({ length: 5 }, (_, index) => `c${index}`);
const innerIds = outerIds.flatMap((id) => [`inner-${id}-0`, `inner-${id}-1`]);
const parentOf = (innerId: string) => innerId.slice("inner-".length, -2);

const about = (turn: number, callId: string) => ({
  runId,
  turn,
  callId: ToolCallId.make(callId),
  toolName: "put",
});
const recordAbout = (kind: number, turn: number, callId: string, number: number): RunRecord => {
  const call = about(turn, callId);
  switch (kind) {
    case 0:
      return {
        ...call,
        _tag: "ToolCallPrepared",
        executionClass: "uncertain",
        parametersDigest: digest,
        idempotencyKey: "k",
        attempt: number,
      };
    case 1:
      return {
        ...call,
        _tag: "ToolCallSettled",
        result: number,
        originalBytes: 1,
        endedAt: number,
        kind: "succeeded",
        isFailure: false,
        source: "handler",
      };
    case 2:
      return {
        ...call,
        _tag: "ToolCallUnknown",
        unknownId: UnknownId.make(`unk_${number}`),
        reason: "process-lost",
        detail: "?",
        afterSettlement: false,
      };
    default:
      return { ...call, _tag: "StepRecorded", name: `s${number % 3}`, result: number, attempt: 1 };
  }
};

/** The rules of one call, from the records about it alone, oldest first. */
const expected = (declaredCall: DeclaredCall, records: ReadonlyArray<RunRecord>) => {
  const settled = records.find((record) => record._tag === "ToolCallSettled");
  const preparations = records.filter((record) => record._tag === "ToolCallPrepared");
  const last = records.findLast(
    (record) => record._tag === "ToolCallPrepared" || record._tag === "ToolCallUnknown",
  );
  const names = new Set<string>();
  return {
    declared: declaredCall,
    settled,
    prepared: preparations.at(-1),
    preparations: preparations.length,
    unknown: last?._tag === "ToolCallUnknown" ? last : undefined,
    steps: records.flatMap((record) => {
      if (record._tag !== "StepRecorded" || names.has(record.name)) return [];
      names.add(record.name);
      return [record];
    }),
  };
};
const shown = ({ declared, prepared, preparations, settled, steps, unknown }: CallEvidence) => ({
  declared,
  settled,
  prepared,
  preparations,
  unknown,
  steps,
});

describe("the fold of a run's records", () => {
  it("[DU-14][R32] every record changes its own call of its own turn, inner ones too, and nothing else", () => {
    const facts = fc.array(
      fc.record({
        turn: fc.integer({ min: 1, max: 4 }),
        callId: fc.constantFrom(...outerIds, ...innerIds, "stranger"),
        kind: fc.integer({ min: 0, max: 3 }),
        number: fc.integer({ min: 1, max: 99 }),
      }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(facts, fc.integer({ min: 0, max: 60 }), (drawn, cut) => {
        const opening: ReadonlyArray<RunRecord> = [1, 2, 3].flatMap((turn) => [
          turnOf(
            turn,
            outerIds.map((id) => declared(id)),
          ),
          ...innerIds.map((id): RunRecord => ({
            _tag: "InnerCallDeclared",
            runId,
            turn,
            declared: declared(id, parentOf(id)),
          })),
        ]);
        const records = drawn.map((fact) =>
          recordAbout(fact.kind, fact.turn, fact.callId, fact.number),
        );
        // In two parts, as an attempt folds what it records onto what it found.
        const evidence = foldRecords(
          records.slice(cut),
          foldRecords([...opening, ...records.slice(0, cut)]),
        );
        assert.strictEqual(evidence.turns.length, 3);
        for (const { calls, recorded } of evidence.turns) {
          const all = withInner(calls);
          assert.deepStrictEqual(
            all.map((call) => call.declared.callId as string),
            outerIds.flatMap((id) => [id, ...innerIds.filter((inner) => parentOf(inner) === id)]),
          );
          for (const call of all) {
            const own = records.filter(
              (record) =>
                "callId" in record &&
                record.turn === recorded.turn &&
                record.callId === call.declared.callId,
            );
            assert.deepStrictEqual(shown(call), expected(call.declared, own));
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it("[DU-14] what was folded before stays as it was, and so do the calls that a record is not about", () => {
    const before = foldRecords([
      turnOf(
        1,
        outerIds.map((id) => declared(id)),
      ),
    ]);
    const after = foldRecords([recordAbout(1, 1, "c2", 7)], before);
    assert.isUndefined(before.turns[0]?.calls[2]?.settled);
    assert.strictEqual(after.turns[0]?.calls[2]?.settled?.result, 7);
    assert.strictEqual(after.turns[0]?.calls[3], before.turns[0]?.calls[3]);
  });
});
