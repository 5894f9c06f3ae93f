/**
 * Who settles an effect in doubt in place of a person: the tool's reconciler, the
 * declared rule of its probe, or a host about what it did not start. Resolutions
 * carry one of these as their actor.
 */
import type { Actor } from "../contract/records.ts";

export const reconcilerActor: Actor = { kind: "policy", id: "reconciler", name: "Reconciler" };

/** An attempt asked the probe. */
export const probeActor: Actor = { kind: "policy", id: "probe", name: "Probe" };

/** An operator asked the probe; its rule settled the call, and the operator's own transaction announced it. */
export const askedProbeActor = (operatorName: string): Actor => ({
  kind: "policy",
  id: "asked-probe",
  name: `Probe asked by ${operatorName}`,
});

/** A host that ends promised a call and will not make it. */
export const stoppingHostActor: Actor = {
  kind: "policy",
  id: "stopping-host",
  name: "Stopping host",
};

const announcedByRecord = new Set([reconcilerActor.id, probeActor.id, stoppingHostActor.id]);

/** Where the result of a call that was in doubt comes from, by who resolved it. */
export const sourceOfResolution = (actor: Actor): "resolution" | "reconciler" | "probe" => {
  if (actor.kind !== "policy") return "resolution";
  return actor.id === reconcilerActor.id ? "reconciler" : "probe";
};

/** Whether no transaction but the record's own has announced the resolution. */
export const isAnnouncedByRecord = (actor: Actor): boolean =>
  actor.kind === "policy" && announcedByRecord.has(actor.id);

/** Why a probe's answer settled a call, in the words every resolution of that kind carries. */
export const probeReason = (finding: string): string =>
  `The tool's declared rule settles a call that its probe reports as ${finding}.`;
