import { assert, describe, it } from "@effect/vitest";
import { momentsPassed, obligationAt } from "#components/obligations/obligation-time.ts";
import { explainObligation } from "#server/views/explain-obligation.ts";
import { touchedBy } from "#lib/client/touched-resources.ts";
import type { LoggedEvent } from "#lib/contract/events.ts";

const minute = 60_000;
const row = { since: 0, dueAt: 10 * minute };

describe("what is owed, as time goes by", () => {
  it("[OP-10][OP-11] a row's age says by the server's clock what the server would say of it", () => {
    for (const now of [0, 5 * minute - 1, 5 * minute, 60 * minute - 1, 60 * minute, 600 * minute]) {
      const server = explainObligation({
        state: "ready",
        since: row.since,
        now,
        attempts: 1,
        pendingApprovals: 0,
        openUnknowns: 0,
        postponedReason: null,
        dueAt: null,
        abortRequested: false,
      });
      assert.strictEqual(obligationAt(row, now).severity, server.severity, String(now));
    }
  });

  it("[OP-11] an attempt is due from its moment on, and one without a moment never", () => {
    assert.isFalse(obligationAt(row, row.dueAt - 1).isDue);
    assert.isTrue(obligationAt(row, row.dueAt).isDue);
    assert.isFalse(obligationAt({ since: 0, dueAt: null }, 1e15).isDue);
  });

  it("[OP-11] the list is old exactly when a row becomes aging, due or overdue", () => {
    const passed = (now: number) => momentsPassed([row, { since: 0, dueAt: null }], now);
    assert.deepStrictEqual(
      [0, 5 * minute, 10 * minute, 59 * minute, 60 * minute].map(passed),
      [0, 2, 3, 3, 5],
    );
  });

  it("[OP-11][OP-12] what others put off or woke makes it old at once", () => {
    const after = (event: object) =>
      touchedBy({ runId: "run_1", event } as LoggedEvent).map((key) => key[0]);
    const actor = { kind: "operator", id: "o", name: "Ana" };
    assert.include(after({ _tag: "AttemptPutOff", reason: "later", dueAt: 1 }), "obligations");
    assert.include(after({ _tag: "RunWoken", actor }), "obligations");
    // The page of the run itself shows why it waits.
    assert.include(after({ _tag: "AttemptPutOff", reason: "later", dueAt: 1 }), "run");
  });
});
