/** What each state of a run becomes when its database was restored from a backup. */
import { assert, describe, it } from "@effect/vitest";
import type { RunRecord } from "#lib/contract/records.ts";
import { decideNext } from "#lib/durable/decide-next.ts";
import { foldRecords } from "#lib/durable/run-state.ts";
import { placeOf, recordsOf } from "#lib/testing/conformance/run-records.ts";
import { afterRestoreOf } from "#server/restore/later-doubts.ts";

const place = placeOf("restored");
const records = recordsOf(place);
const started = [records.opened(), records.attempt()];
const asIdempotent = (turn: ReturnType<typeof records.turn>): RunRecord => ({
  ...turn,
  calls: turn.calls.map((call) => ({ ...call, executionClass: "idempotent" })),
});

/** The kinds that are added, with the calls they are about; and what the run would do next. */
const after = (stored: ReadonlyArray<RunRecord>) => {
  const verdict = afterRestoreOf(place, stored);
  if (verdict._tag !== "doubt") return verdict._tag;
  const evidence = foldRecords([...stored, ...verdict.records]);
  assert.deepInclude(decideNext(evidence, evidence.attempts + 1), {
    _tag: "Suspend",
    waitingFor: "unknown",
  });
  return verdict.records.map((record) =>
    "callId" in record ? `${record._tag} ${record.callId}` : record._tag,
  );
};

describe("[PG-01][DU-04] after a restore", () => {
  it("a run that may have asked the model since is held: before its first record, before a turn, and after one", () => {
    assert.strictEqual(after([]), "hold");
    assert.strictEqual(after(started), "hold");
    const turn = [...started, records.turn(["a"]), records.prepared("a"), records.settled("a")];
    assert.strictEqual(after(turn), "hold");
  });

  it("an open uncertain call is in doubt, started or not, asked for or not", () => {
    const declared = [...started, records.turn(["a", "b"])];
    assert.deepStrictEqual(after(declared), [
      "ToolCallPrepared a",
      "ToolCallUnknown a",
      "ToolCallPrepared b",
      "ToolCallUnknown b",
      "RunSuspended",
    ]);
    assert.deepStrictEqual(after([...declared, records.prepared("a"), records.settled("a")]), [
      "ToolCallPrepared b",
      "ToolCallUnknown b",
      "RunSuspended",
    ]);
    assert.deepStrictEqual(after([...declared, records.prepared("a")]).slice(0, 2), [
      "ToolCallUnknown a",
      "ToolCallPrepared b",
    ]);
  });

  it("a call that somebody let run again is in a new doubt, and an open doubt stays the one it was", () => {
    const doubt = [
      ...started,
      records.turn(["a"]),
      records.prepared("a"),
      records.unknown("a"),
      records.suspended("unknown"),
    ];
    assert.deepStrictEqual(after(doubt), ["RunSuspended"]);
    const released = [...doubt, records.resolved("a", "never-happened")];
    assert.deepStrictEqual(after(released), [
      "ToolCallPrepared a",
      "ToolCallUnknown a",
      "RunSuspended",
    ]);
    const completed = [...doubt, records.resolved("a", "completed-with-result", "done")];
    assert.strictEqual(after(completed), "hold");
  });

  it("a call that may act twice, or never will, makes no doubt", () => {
    assert.strictEqual(after([...started, asIdempotent(records.turn(["a"]))]), "hold");
    const asked = [...started, records.turn(["a"]), records.approvalRequested("a")];
    assert.strictEqual(after([...asked, records.decided("a", "denied")]), "hold");
  });

  it("a run that only has to be settled is left alone", () => {
    assert.strictEqual(after([...started, records.runSettled()]), "leave");
    assert.strictEqual(after([...started, records.turn(["a"]), records.aborted()]), "leave");
    assert.strictEqual(after([...started, records.turn([])]), "leave");
  });
});
