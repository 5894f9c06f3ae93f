import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import type { Digest } from "#lib/contract/ids.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { probeActor } from "#lib/durable/rule-actors.ts";
import { type UnknownResolution, Unknowns } from "#lib/durable/Unknowns.ts";
import {
  bob,
  claim,
  claimsNothing,
  type ConformanceCase,
  firstOf,
  newTenant,
  promise,
  refusedAs,
  same,
  started,
  writerOf,
} from "./harness.ts";
import { ada, digest, type RunPlace } from "./run-records.ts";

/** A run that waits for what became of its calls. */
const inDoubt = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
  const run = yield* started();
  yield* run.writer.append([
    run.of.opened(),
    run.of.attempt(),
    run.of.turn(ids),
    ...ids.map((id) => run.of.prepared(id)),
  ]);
  const doubts = ids.map((id) => run.of.unknown(id));
  yield* run.writer.append([...doubts, run.of.suspended("unknown")]);
  return { ...run, unknownIds: doubts.map((record) => record.unknownId) };
});

const resolutionOf = (
  place: RunPlace,
  unknownId: UnknownResolution["unknownId"],
  seen: Digest = digest("a"),
): UnknownResolution => ({
  tenantId: place.tenantId,
  unknownId,
  actor: bob,
  resolution: "completed-with-result",
  result: { ok: true },
  isFailure: false,
  parametersDigest: seen,
  reason: "looked it up",
  evidence: "entry 7",
  commandId: null,
});

export const unknownCases: ReadonlyArray<ConformanceCase> = [
  promise(
    "[DU-07] a doubt is resolved once: the same again changes nothing, something else is refused, and it is delivered once",
    Effect.gen(function* () {
      const { place, unknownIds } = yield* inDoubt(["c1"]);
      const unknowns = yield* Unknowns;
      const resolution = resolutionOf(place, yield* firstOf(unknownIds));
      const first = yield* unknowns.resolve(resolution);
      yield* same("the first", [first.before.state, first.verdict.kind], ["open", "resolve"]);
      yield* same("the same again", (yield* unknowns.resolve(resolution)).verdict.kind, "same");
      for (const other of [
        { ...resolution, result: { ok: false } },
        { ...resolution, actor: ada },
      ]) {
        const refused = yield* refusedAs("UnknownAlreadyResolved")(unknowns.resolve(other));
        yield* same("whom it names", refused.resolvedBy, "Bob");
      }
      const owned = yield* claim(place);
      yield* same(
        "what the run hears",
        owned.undelivered.map((record) =>
          record._tag === "UnknownResolved" ? [record.result, record.evidence, record.actor] : [],
        ),
        [[{ ok: true }, "entry 7", bob]],
      );
      yield* writerOf(owned).append(owned.undelivered);
      const ledger = yield* SubmissionLedger;
      yield* same("what it hears then", yield* ledger.undelivered(place), []);
    }),
  ),
  promise(
    "[DU-07] a run goes on when every doubt of its batch is resolved, not before",
    Effect.gen(function* () {
      const { place, unknownIds } = yield* inDoubt(["c1", "c2"]);
      const unknowns = yield* Unknowns;
      for (const unknownId of unknownIds) {
        yield* claimsNothing(place);
        yield* unknowns.resolve(resolutionOf(place, unknownId));
      }
      yield* same("what the run hears", (yield* claim(place)).undelivered.length, 2);
    }),
  ),
  promise(
    "[DU-07] a rule never answers a doubt that a person has answered meanwhile; the person's word is what the run hears",
    Effect.gen(function* () {
      const { place, writer, of, unknownIds } = yield* inDoubt(["c1"]);
      const unknowns = yield* Unknowns;
      const unknownId = yield* firstOf(unknownIds);
      yield* unknowns.resolve(resolutionOf(place, unknownId));
      const byRule = {
        _tag: "UnknownResolved" as const,
        runId: place.runId,
        turn: 1,
        callId: of.unknown("c1").callId,
        toolName: of.unknown("c1").toolName,
        unknownId,
        resolution: "safe-to-retry" as const,
        actor: probeActor,
        reason: "no entry",
        evidence: "no entry",
        resolvedAt: 1,
      };
      yield* refusedAs("AbortPending")(writer.append([byRule]));
      const ledger = yield* SubmissionLedger;
      const undelivered = yield* ledger.undelivered(place);
      yield* same(
        "who is heard",
        undelivered.map((record) => record._tag === "UnknownResolved" && record.actor),
        [bob],
      );
      // The tail is still the writer's, and the person's word goes through.
      yield* writer.append(undelivered);
      yield* same("what waits then", yield* ledger.undelivered(place), []);
    }),
  ),
  promise(
    "[DU-07] another digest than the one seen, a missing result and a foreign tenant change nothing",
    Effect.gen(function* () {
      const { place, unknownIds } = yield* inDoubt(["c1"]);
      const unknowns = yield* Unknowns;
      const unknownId = yield* firstOf(unknownIds);
      const { result: _, ...without } = resolutionOf(place, unknownId);
      yield* refusedAs("ApprovalChanged")(
        unknowns.resolve(resolutionOf(place, unknownId, digest("b"))),
      );
      yield* refusedAs("InvalidInput")(unknowns.resolve(without));
      const foreign = { ...without, tenantId: yield* newTenant };
      yield* refusedAs("NotFound")(unknowns.resolve(foreign));
      yield* same(
        "the states",
        (yield* unknowns.ofRun(place)).map((row) => row.state),
        ["open"],
      );
    }),
  ),
  promise(
    "[DU-09] a doubt that its run ended with stays listed, may be noted, and can neither be retried nor end anything",
    Effect.gen(function* () {
      const { place, writer, of } = yield* started();
      const doubt = of.unknown("c1", true);
      yield* writer.append([of.opened(), of.attempt(), of.turn(["c1"]), of.prepared("c1")]);
      yield* writer.append([doubt, of.runSettled("failed")]);
      const unknowns = yield* Unknowns;
      const { unknownId } = doubt;
      const found = yield* unknowns.find({ tenantId: place.tenantId, unknownId });
      yield* same(
        "the doubt",
        Option.map(found, (row) => [row.state, row.afterSettlement, row.runState]),
        Option.some(["open", true, "failed"]),
      );
      const { result: _, isFailure: _f, ...bare } = resolutionOf(place, unknownId);
      for (const resolution of ["safe-to-retry", "abort-submission"] as const)
        yield* refusedAs("RunAlreadySettled")(unknowns.resolve({ ...bare, resolution }));
      yield* unknowns.resolve({ ...bare, resolution: "never-happened" });
      const ledger = yield* SubmissionLedger;
      yield* same("what the run would hear", yield* ledger.undelivered(place), []);
      yield* claimsNothing(place);
    }),
  ),
  promise(
    "[DU-08] a retry that ends in doubt again is open once more",
    Effect.gen(function* () {
      const { place, unknownIds, of } = yield* inDoubt(["c1"]);
      const unknowns = yield* Unknowns;
      const unknownId = yield* firstOf(unknownIds);
      const { result: _, isFailure: _f, ...bare } = resolutionOf(place, unknownId);
      yield* unknowns.resolve({ ...bare, resolution: "safe-to-retry" });
      const owned = yield* claim(place);
      const writer = writerOf(owned);
      yield* writer.append(owned.undelivered);
      yield* writer.append([of.prepared("c1", 2), of.unknown("c1"), of.suspended("unknown", 2)]);
      yield* same(
        "the states",
        (yield* unknowns.ofRun(place)).map((row) => row.state),
        ["open"],
      );
      const again = yield* unknowns.resolve(resolutionOf(place, unknownId));
      yield* same("the second word", again.verdict.kind, "resolve");
    }),
  ),
];
