/** Why an effect is in doubt, in words. A reason of a later version is shown as it is. */
const reasons: Readonly<Record<string, string>> = {
  "process-lost": "the process was lost before it recorded an answer",
  interrupted: "the call was interrupted while it ran",
  "handler-unsure": "the tool itself could not tell",
  "handler-defect": "the tool broke while it ran",
  "run-ended": "the run ended while the call ran",
};

export const reasonText = (reason: string): string =>
  Object.hasOwn(reasons, reason) ? (reasons[reason] ?? reason) : reason;
