import { assert, describe, it } from "vitest";
import { ProbeId } from "#lib/contract/ids.ts";
import type { ProbeView } from "#lib/contract/unknown-views.ts";
import { type EffectEvidence, effectStages } from "#server/views/effect-stages.ts";

const probe = (finding: ProbeView["finding"], detail = "Entry 7."): ProbeView => ({
  probeId: ProbeId.make(`prb_${finding ?? "asking"}`),
  actor: { kind: "policy", id: "probe", name: "Probe" },
  askedAt: 1,
  settles: false,
  answeredAt: finding === null ? null : 2,
  finding,
  detail: finding === null ? null : detail,
  result: null,
  isFailure: null,
});

const lost: EffectEvidence = {
  reason: "process-lost",
  progressed: false,
  probes: [],
};

const known = (evidence: Partial<EffectEvidence>) => {
  const { answered, sent } = effectStages({ ...lost, ...evidence });
  return [sent.known, answered.known];
};

describe("the stages of an effect in doubt (OP-08)", () => {
  it("[DU-04] a lost process alone says nothing: neither sent nor answered is known, and both say why", () => {
    const { answered, sent } = effectStages(lost);
    assert.deepStrictEqual([sent.known, answered.known], ["not-known", "not-known"]);
    assert.include(sent.why, "may have started");
    assert.include(answered.why, "may have come");
  });

  it("[DU-06] only the destination's own word makes a stage known", () => {
    assert.deepStrictEqual(known({ probes: [probe("found")] }), ["yes", "yes"]);
    assert.deepStrictEqual(known({ probes: [probe("not-found")] }), ["no", "no"]);
    for (const finding of ["inconclusive", "failed", "timed-out", null] as const)
      assert.deepStrictEqual(known({ probes: [probe(finding)] }), ["not-known", "not-known"]);
  });

  it("[DU-06] the newest word counts, and a failed question does not take back an earlier answer", () => {
    assert.deepStrictEqual(known({ probes: [probe("found"), probe("not-found")] }), ["yes", "yes"]);
    assert.deepStrictEqual(known({ probes: [probe("failed"), probe("not-found")] }), ["no", "no"]);
  });

  it("[DU-04] what this host saw of the handler is said, and claims no more than that", () => {
    const unsure = effectStages({ ...lost, reason: "handler-unsure" });
    assert.deepStrictEqual([unsure.sent.known, unsure.answered.known], ["not-known", "no"]);
    assert.include(unsure.sent.why, "cannot tell");
    assert.include(effectStages({ ...lost, progressed: true }).sent.why, "reported progress");
    assert.include(effectStages({ ...lost, reason: "interrupted" }).sent.why, "was running");
  });
});
