/**
 * Model check of the ledger: every order in which two or three workers claim,
 * append, act, stand still, die, lose replies and come back, with people who
 * decide, resolve and abort in between, over the product's own decision, ledger
 * and journal (the memory adapters, which keep the same conformance suite as
 * PostgreSQL). Faults planted in it must be met by an invariant.
 */
import { assert, describe, it } from "@effect/vitest";
import { explore, type Exploration } from "./ledger-explorer.ts";
import type { Faults } from "./ledger-worker.ts";
import { type Budget, firstWorld } from "./ledger-world.ts";

const once: Budget = { claims: 4, crashes: 1, lostReplies: 1, aborts: 0 };
const two = { calls: ["c1", "c2"], gated: [] as ReadonlyArray<string> };

/** How large the world was; whoever changes the model sees at once when it shrinks. */
const say = (name: string, result: Exploration) =>
  console.info(
    `${name}: ${result.states} states, ${result.steps} steps, ${result.settled} settled, ${result.fenced} fenced writes, ${result.replayed} replays`,
  );

const broken = (faults: Faults, budget: Budget = once) =>
  explore(firstWorld(2, budget), { ...two, faults }).violation;

describe("every world of the ledger", () => {
  it("[DU-04][DU-10][DU-13][PG-02][PG-03] two workers, two uncertain calls: one settlement, no effect twice, no late write", () => {
    const result = explore(firstWorld(2, once), { ...two, faults: {} });
    say("two workers", result);
    assert.isUndefined(result.violation);
    assert.isAbove(result.settled, 0);
    assert.isAbove(result.fenced, 0, "no late write was tried");
    assert.isAbove(result.replayed, 0, "no lost reply was asked for again");
  }, 60_000);

  it("[DU-12][A-08][A-09] with an approval and an abort: no answer is lost, nothing denied happens", () => {
    const budget = { claims: 3, crashes: 1, lostReplies: 1, aborts: 1 };
    const scenario = { calls: ["c1"], gated: ["c1"], faults: {} };
    const result = explore(firstWorld(2, budget), scenario);
    say("approval and abort", result);
    assert.isUndefined(result.violation);
    assert.isAbove(result.settled, 0);
  }, 60_000);

  it("[DU-13][PG-03] three workers that all believe they own the thread", () => {
    const budget = { claims: 4, crashes: 0, lostReplies: 0, aborts: 0 };
    const result = explore(firstWorld(3, budget), { calls: ["c1"], gated: [], faults: {} });
    say("three workers", result);
    assert.isUndefined(result.violation);
    assert.isAbove(result.fenced, 0);
  });
});

describe("the model check meets", () => {
  it("[DU-13] an epoch that is not compared", () => {
    assert.match(
      broken({ fencingOff: true })?.what ?? "",
      /^epoch 1 wrote while 2 owns the thread$/,
    );
  });

  it("[PG-02] a retry that is taken for a new append", () => {
    const found = broken({ replayCheckOff: true });
    assert.match(found?.what ?? "", /would have more than one RunOpened/);
    assert.deepStrictEqual(found?.trace, [
      "start",
      "claim 0",
      "append 0 RunOpened+AttemptStarted, reply lost",
      "retry 0 RunOpened+AttemptStarted",
    ]);
  });

  it("[DU-01] a handler that starts before its preparation is written", () => {
    assert.match(
      broken({ preparedSkipped: true })?.what ?? "",
      /^the effect of c1 happened before anything said that it might$/,
    );
  });

  it("[DU-04] a lost call that simply runs again", () => {
    assert.match(
      broken({ lostCallsRerun: true })?.what ?? "",
      /^the effect of c1 happened 2 times$/,
    );
  });
});
