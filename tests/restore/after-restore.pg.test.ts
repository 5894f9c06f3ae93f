/** What a restored database becomes, on PostgreSQL; the drill with hosts is `restore.crash.test.ts`. */
import { assert, layer } from "@effect/vitest";
import * as Effect from "effect/Effect";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { Unknowns } from "#lib/durable/Unknowns.ts";
import { bob } from "#lib/testing/conformance/harness.ts";
import { afterRestore } from "#server/restore/after-restore.ts";
import { digest, recordsOf } from "#tests/postgres/records.ts";
import { rows, started, store, worker } from "#tests/postgres/store.ts";

const stateOf = Effect.fnUntraced(function* (runId: string) {
  const [row] = yield* rows(
    "SELECT state, due_at > now() + interval '1 year' AS held FROM submissions WHERE run_id = $1",
    [runId],
  );
  return row;
});

layer(store, { excludeTestServices: true })("[PG-01] a restored database", (it) => {
  it.effect("[DU-04] of a run of more than 10,000 records the last call is the one in doubt", () =>
    Effect.gen(function* () {
      const { place, writer } = yield* started();
      const of = recordsOf(place);
      yield* writer.append([of.opened(), of.attempt(), of.turn(["c1"]), of.prepared("c1")]);
      const steps = Array.from({ length: 10_000 }, (_, index) => ({
        _tag: "StepRecorded" as const,
        runId: place.runId,
        turn: 1,
        callId: of.prepared("c1").callId,
        toolName: of.prepared("c1").toolName,
        name: `s${index}`,
        result: null,
        attempt: 1,
      }));
      yield* writer.append(steps);
      yield* writer.append([
        of.settled("c1"),
        of.turn(["c2"], { turn: 2 }),
        of.prepared("c2", 1, 2),
      ]);
      yield* afterRestore;
      const found = yield* (yield* Unknowns).ofRun(place);
      assert.deepStrictEqual(
        found.map((row) => [row.turn, row.callId, row.state]),
        [[2, "c2", "open"]],
      );
    }),
  );

  it.effect(
    "[DU-04][DU-08] that a call may run again was said before the backup: it may have run after it, so it is asked again",
    () =>
      Effect.gen(function* () {
        const { place, writer } = yield* started();
        const of = recordsOf(place);
        const doubts = [of.unknown("c1"), of.unknown("c2")] as const;
        yield* writer.append([
          of.opened(),
          of.attempt(),
          of.turn(["c1", "c2"]),
          of.prepared("c1"),
          of.prepared("c2"),
        ]);
        yield* writer.append([...doubts, of.suspended("unknown")]);
        const unknowns = yield* Unknowns;
        yield* unknowns.resolve({
          tenantId: place.tenantId,
          unknownId: doubts[0].unknownId,
          actor: bob,
          resolution: "safe-to-retry",
          parametersDigest: digest("a"),
          reason: "no entry",
          evidence: "no entry",
          commandId: null,
        });
        yield* afterRestore;
        assert.deepStrictEqual(
          (yield* unknowns.ofRun(place)).map((row) => row.state),
          ["open", "open"],
        );
      }),
  );

  it.effect("[DU-12] a run that is to be aborted is not held but ends", () =>
    Effect.gen(function* () {
      const { place, writer } = yield* started();
      const of = recordsOf(place);
      yield* writer.append([of.opened(), of.attempt()]);
      const ledger = yield* SubmissionLedger;
      const { tenantId, threadId, runId } = place;
      yield* ledger.abort({ tenantId, runId, actor: bob, reason: "enough", commandId: null });
      yield* afterRestore;
      assert.deepInclude(yield* stateOf(runId), { held: false });
      const claim = yield* ledger.claim({ tenantId, threadId, workerId: worker });
      assert.strictEqual(claim._tag, "Some");
    }),
  );

  it.effect("a run that may have asked the model since is held", () =>
    Effect.gen(function* () {
      const { place, writer } = yield* started();
      const of = recordsOf(place);
      yield* writer.append([of.opened(), of.attempt()]);
      yield* afterRestore;
      assert.deepInclude(yield* stateOf(place.runId), { state: "ready", held: true });
    }),
  );
});
