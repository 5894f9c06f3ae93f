import { assert, describe, it } from "@effect/vitest";
import type { RunRecord } from "#lib/contract/records.ts";
import { decideNext, explainRecovery } from "#lib/durable/decide-next.ts";
import { eventsOf } from "#lib/durable/record-events.ts";
import { foldRecords } from "#lib/durable/run-state.ts";
import { takeBack } from "#lib/host/take-back.ts";
import { placeOf, recordsOf } from "#lib/testing/conformance/run-records.ts";

const place = placeOf("late");
const of = recordsOf(place);
const promised = of.prepared("c1");
const declared = [of.opened(), of.attempt(), of.turn(["c1"])];
const takenBack = (before: ReadonlyArray<RunRecord>) => {
  const records = [...before, promised];
  return [...records, ...takeBack(place, records, promised, 1)];
};

describe("a promise that its host takes back", () => {
  it("[DU-04][DU-06] leaves the call to the next owner, who makes it and says why", () => {
    const evidence = foldRecords(takenBack(declared));
    assert.strictEqual(decideNext(evidence, 2)._tag, "Execute");
    assert.deepStrictEqual(explainRecovery(evidence, 2), {
      decision: "apply-resolutions",
      explanation: "Stopping host said that a call may run again; 1 call(s) run now.",
    });
    assert.strictEqual(decideNext(foldRecords([...declared, promised]), 2)._tag, "ClassifyLost");
  });

  it("[DU-04] may be taken back by each host that stops too early, as a doubt of its own", () => {
    const records = takenBack(takenBack(declared));
    assert.strictEqual(decideNext(foldRecords(records), 3)._tag, "Execute");
    const ids = records.flatMap((record) =>
      record._tag === "UnknownResolved" ? [record.unknownId] : [],
    );
    assert.strictEqual(new Set(ids).size, 2);
  });

  it("[OP-01] tells the console the doubt and its answer, since no transaction of a person does", () => {
    assert.deepStrictEqual(
      takeBack(place, [promised], promised, 1).flatMap((record) =>
        eventsOf(record).map(({ _tag }) => _tag),
      ),
      ["ToolCallUnknown", "UnknownResolved"],
    );
  });
});
