import { assert, layer } from "@effect/vitest";
import * as Effect from "effect/Effect";
import { TenantId } from "#lib/contract/ids.ts";
import { Audit } from "#lib/durable/Audit.ts";
import { chainRecords } from "#lib/durable/chain.ts";
import type { FaultKind, JournalFault } from "#lib/durable/verify-thread.ts";
import { verifyAudit } from "#server/postgres/verify-audit.ts";
import { verifyTenant, verifyThread } from "#server/postgres/verify-journal.ts";
import { ada, digest, recordsOf, type RunPlace } from "#tests/postgres/records.ts";
import { admit, rows, started, store } from "#tests/postgres/store.ts";

/** A settled run of seven records in three appends. */
const settledRun = Effect.fnUntraced(function* (tenant: string) {
  const { place, writer } = yield* started({ tenant });
  const of = recordsOf(place);
  yield* writer.append([of.opened(), of.attempt()]);
  yield* writer.append([of.turn(["c1"]), of.prepared("c1")]);
  yield* writer.append([of.settled("c1"), of.turn([], { turn: 2 }), of.runSettled()]);
  return { place, writer };
});

const faultsOf = (place: RunPlace) =>
  Effect.map(verifyThread(place.tenantId, place.threadId), (report) => report.faults);

const named = (faults: ReadonlyArray<JournalFault>) =>
  faults.map(({ kind, sequence }): readonly [FaultKind, number | null] => [kind, sequence]);

const change = (place: RunPlace, sequence: number, assignment: string) =>
  rows(
    `UPDATE journal_records SET ${assignment} WHERE tenant_id = $1 AND thread_id = $2 AND sequence = $3`,
    [place.tenantId, place.threadId, sequence],
  );

layer(store, { excludeTestServices: true })("verifying a journal", (it) => {
  it.effect("[PG-01][PG-02] a tenant as the host left it has no fault, page by page", () =>
    Effect.gen(function* () {
      const tenant = "sound";
      yield* Effect.forEach(Array.from({ length: 120 }), () => settledRun(tenant), {
        concurrency: 6,
      });
      yield* admit({ tenant });
      const parts: Array<{ readonly threads: number; readonly records: number }> = [];
      yield* verifyTenant(tenant, (part) =>
        Effect.sync(() => {
          assert.deepStrictEqual(part.faults, []);
          parts.push({ threads: part.threads, records: part.records });
        }),
      );
      assert.deepStrictEqual(
        parts.map((part) => part.threads),
        [100, 21],
      );
      assert.strictEqual(
        parts.reduce((sum, part) => sum + part.records, 0),
        120 * 7,
      );
    }),
  );

  it.effect("[PG-02] an altered record is named with both digests, and nothing behind it is", () =>
    Effect.gen(function* () {
      const { place } = yield* settledRun("altered");
      yield* change(place, 5, `body = replace(body, '"ok":true', '"ok":false')`);
      const faults = yield* faultsOf(place);
      assert.deepStrictEqual(named(faults), [["digest", 5]]);
      assert.strictEqual(faults[0]?.where, place.threadId);
      const [stored] = yield* rows(
        "SELECT digest FROM journal_records WHERE thread_id = $1 AND sequence = 5",
        [place.threadId],
      );
      assert.strictEqual(faults[0]?.seen, stored?.["digest"]);
      assert.notStrictEqual(faults[0]?.expected, stored?.["digest"]);
    }),
  );

  it.effect("[PG-02] text that is no record any more is named as that too", () =>
    Effect.gen(function* () {
      const { place } = yield* settledRun("unreadable");
      yield* change(place, 3, "body = 'nonsense'");
      assert.deepStrictEqual(named(yield* faultsOf(place)), [
        ["digest", 3],
        ["unreadable", 3],
      ]);
    }),
  );

  it.effect("[PG-02] a dropped record is a gap where the next one stands", () =>
    Effect.gen(function* () {
      const { place } = yield* settledRun("dropped");
      yield* rows("DELETE FROM journal_records WHERE thread_id = $1 AND sequence = 4", [
        place.threadId,
      ]);
      const faults = yield* faultsOf(place);
      assert.deepStrictEqual(faults, [
        { kind: "gap", where: place.threadId, sequence: 5, expected: "4", seen: "5" },
      ]);
    }),
  );

  it.effect("[PG-02] records cut off at the end show at the thread's head", () =>
    Effect.gen(function* () {
      const { place } = yield* settledRun("cut");
      yield* rows("DELETE FROM journal_records WHERE thread_id = $1 AND sequence > 5", [
        place.threadId,
      ]);
      const faults = yield* faultsOf(place);
      assert.deepStrictEqual(named(faults)[0], ["tail", 7]);
      // The tables say what the records cannot say any more.
      assert.isTrue(faults.slice(1).every((fault) => fault.kind === "projection"));
    }),
  );

  it.effect("[PG-02] a swapped digest is named on its row and on the row behind it", () =>
    Effect.gen(function* () {
      const { place } = yield* settledRun("swapped");
      yield* change(place, 2, `digest = '${"e".repeat(64)}'`);
      assert.deepStrictEqual(named(yield* faultsOf(place)), [
        ["digest", 2],
        ["previous-digest", 3],
      ]);
    }),
  );

  it.effect("[DU-10] a second settlement is found although its chain holds", () =>
    Effect.gen(function* () {
      const { place, writer } = yield* settledRun("second");
      const tail = writer.tail();
      const [record] = chainRecords(tail, [recordsOf(place).runSettled("failed")], {
        threadId: place.threadId,
        epoch: 1,
      }).rows;
      // The database refuses it; somebody who may drop the index can still do it.
      yield* rows("DROP INDEX one_settlement_per_run");
      yield* rows(
        `INSERT INTO journal_records (tenant_id, thread_id, sequence, run_id, epoch, kind, body, digest,
           previous_digest, batch_id, batch_place, recorded_at)
         VALUES ($1, $2, $3, $4, 1, 'RunSettled', $5, $6, $7, 'forged', 1, now())`,
        [
          place.tenantId,
          place.threadId,
          tail.sequence + 1,
          place.runId,
          record?.body,
          record?.digest,
          tail.digest,
        ],
      );
      yield* rows(
        "UPDATE threads SET tail_sequence = tail_sequence + 1, tail_digest = $2 WHERE thread_id = $1",
        [place.threadId, record?.digest],
      );
      const faults = yield* faultsOf(place);
      assert.deepStrictEqual(named(faults), [["second-settlement", tail.sequence + 1]]);
      assert.include(faults[0]?.expected ?? "", place.runId);
    }),
  );

  it.effect("[PG-01] an altered, a lost and an invented projection row are named by column", () =>
    Effect.gen(function* () {
      const { place } = yield* settledRun("projected");
      yield* rows("UPDATE tool_calls SET state = 'failed' WHERE run_id = $1", [place.runId]);
      yield* rows("DELETE FROM turns WHERE run_id = $1 AND turn = 2", [place.runId]);
      yield* rows(
        `INSERT INTO run_tools (tenant_id, tool_name, created_at, run_id)
         SELECT tenant_id, 'ghost', created_at, run_id FROM runs WHERE run_id = $1`,
        [place.runId],
      );
      const faults = yield* faultsOf(place);
      assert.deepStrictEqual(
        faults.map(({ kind, expected, seen }) => [kind, expected, seen]).toSorted(),
        [
          ["projection", `a row turns: run_id "${place.runId}", turn 2`, "none"],
          ["projection", `no row run_tools: run_id "${place.runId}", tool_name "ghost"`, "one"],
          [
            "projection",
            `tool_calls: run_id "${place.runId}", turn 1, call_id "c1": state "succeeded"`,
            'state "failed"',
          ],
        ],
      );
      // A look changes nothing.
      assert.deepStrictEqual(yield* faultsOf(place), faults);
    }),
  );

  it.effect("[PG-01] a record of a run that was never admitted is an orphan", () =>
    Effect.gen(function* () {
      const { place } = yield* settledRun("orphan");
      yield* rows("DELETE FROM submissions WHERE run_id = $1", [place.runId]);
      const faults = yield* faultsOf(place);
      assert.deepStrictEqual(new Set(faults.map((fault) => fault.kind)), new Set(["orphan"]));
    }),
  );

  it.effect("[OP-09] an altered audit row is named, and so is one cut off at the end", () =>
    Effect.gen(function* () {
      const audit = yield* Audit;
      const tenantId = TenantId.make("audited");
      const entry = {
        tenantId,
        actor: ada,
        verb: "abort-run",
        target: "run_1",
        runId: null,
        accepted: true,
        reason: "enough",
        before: null,
        after: { digest: digest("a") },
        commandId: null,
      };
      for (let row = 0; row < 3; row++) yield* audit.append(entry);
      assert.deepStrictEqual(yield* verifyAudit(tenantId), { entries: 3, faults: [] });
      yield* rows(
        "UPDATE audit_log SET reason = 'else' WHERE tenant_id = 'audited' AND sequence = 2",
      );
      assert.deepStrictEqual(named((yield* verifyAudit(tenantId)).faults), [["audit", 2]]);
      yield* rows("DELETE FROM audit_log WHERE tenant_id = 'audited' AND sequence = 3");
      assert.deepStrictEqual(named((yield* verifyAudit(tenantId)).faults), [
        ["audit", 2],
        ["audit", 3],
      ]);
    }),
  );
});
