import type { ExposureSnapshot } from "#lib/contract/exposure.ts";

/** Why a tool was or was not offered to the model. */
export type ExposureVerdict =
  | "offered"
  | "hidden-by-visibility"
  | "not-selected"
  | "not-discovered"
  | "over-budget"
  | "unregistered";

/** A verdict with one sentence for the operator. */
export interface ExposureReason {
  readonly verdict: ExposureVerdict;
  readonly explanation: string;
}

/** What is known beside the snapshot. */
export interface ExposureEvidence {
  /** Names of the whole toolkit, needed where a snapshot's lists were shortened. */
  readonly registered?: ReadonlyArray<string>;
  /** Tools that a discovery result of this run matched and left out for size (D-08). */
  readonly omittedForSize?: ReadonlyArray<string>;
}

/**
 * Answers "why did the model not see this tool?" for any name, from what was recorded with the response
 * (OP-02). Exact for every registered name: a name on no list of a complete snapshot is unregistered.
 */
export const explainExposure = (
  toolName: string,
  snapshot: ExposureSnapshot,
  evidence: ExposureEvidence = {},
): ExposureReason => {
  const name = JSON.stringify(toolName);
  if (snapshot.exposed.includes(toolName)) return offered(name, toolName, snapshot);
  if (snapshot.hiddenByVisibility.includes(toolName)) {
    return {
      verdict: "hidden-by-visibility",
      explanation: `${name} is registered, but the host's visibility policy or an inherited grant hid it from this run.`,
    };
  }
  const isListed = snapshot.notSelected.includes(toolName);
  if (!isListed && !evidence.registered?.includes(toolName)) {
    return {
      verdict: "unregistered",
      explanation: `No tool with the name ${name} is registered for this agent.`,
    };
  }
  if (!isListed && snapshot.hiddenByVisibilityCount > snapshot.hiddenByVisibility.length) {
    return {
      verdict:
        snapshot.notSelectedCount > snapshot.notSelected.length
          ? "not-selected"
          : "hidden-by-visibility",
      explanation: `${name} was not exposed: hidden by visibility or not selected; the recorded lists were shortened.`,
    };
  }
  if (evidence.omittedForSize?.includes(toolName)) {
    return {
      verdict: "over-budget",
      explanation: `${name} matched a discovery query, but its schema did not fit into the result, so it was not activated.`,
    };
  }
  return notAskedFor(name, snapshot);
};

const offered = (name: string, toolName: string, snapshot: ExposureSnapshot): ExposureReason => {
  const why = snapshot.pins.includes(toolName)
    ? "it is pinned"
    : snapshot.discoveryTools.includes(toolName)
      ? "it is a discovery tool"
      : snapshot.selected.includes(toolName)
        ? `it was selected (${snapshot.selectionSource})`
        : snapshot.eager
          ? "every eligible tool is"
          : "this request needs it";
  return { verdict: "offered", explanation: `${name} was offered: ${why}.` };
};

const notAskedFor = (name: string, snapshot: ExposureSnapshot): ExposureReason => {
  const canSearch = snapshot.discoveryTools.length > 0;
  if (canSearch && snapshot.selectionSource !== "host") {
    const last =
      snapshot.selectionSource === "initial"
        ? "the model had not searched yet"
        : snapshot.selectionSource === "cleared"
          ? "the model's last search selected nothing"
          : "the model's last search did not select it";
    return {
      verdict: "not-discovered",
      explanation: `${name} can be found with discovery, but ${last}.`,
    };
  }
  return {
    verdict: "not-selected",
    explanation: `${name} is eligible, but the ${snapshot.selectionSource === "host" ? "host's selection" : "configured exposure"} did not include it.`,
  };
};
