/** A verifier's answer in plain words. */
import { visibleText } from "#lib/contract/json/visible-text.ts";
import type { ProofCheck } from "#lib/proof/call-rules.ts";
import { mostFaults, type ProofReport } from "#lib/proof/verify-proof.ts";

const promises: Record<ProofCheck, string> = {
  file: "The file is whole and is the one that was exported.",
  chain: "Every record follows the one before it and says what was digested.",
  readable: "Every record can be read.",
  approved: "Every call that ran is the one that was declared, and approved where it had to be.",
  refused: "Nothing that was refused, by a person, the clock, the policy or its schema, ran.",
  settled: "Every call and the run ended at most once, and nothing ran after the end.",
  audit: "Every decision by a person is in the audit, and its rows say what was digested.",
};

// Written in the order of the map above, whose keys are exactly the checks.
const checks = Object.keys(promises) as ReadonlyArray<ProofCheck>;

/** Names and texts in a pack come from models and people: a terminal must not act on them. */
const shown = (text: string): string => visibleText(text, { singleLine: true }).text;

export const reportText = (
  file: string,
  { checked, faults, header, holds }: ProofReport,
): string => {
  const lines: Array<string> = [];
  if (header !== undefined)
    lines.push(
      `Proof pack of run ${shown(header.runId)} (thread ${shown(header.threadId)}),`,
      `exported ${new Date(header.exportedAt).toISOString()} by ${shown(header.exportedBy.name)}.`,
      "",
    );
  for (const check of checks) {
    const own = faults.filter((fault) => fault.check === check);
    lines.push(`${own.length === 0 ? "holds " : "BROKEN"}  ${promises[check]} (${checked[check]})`);
    for (const fault of own) lines.push(`        - ${shown(fault.where)}: ${shown(fault.message)}`);
  }
  if (faults.length >= mostFaults)
    lines.push(`        Only the first ${mostFaults} faults are listed.`);
  lines.push("");
  if (header !== undefined)
    lines.push(
      `When it was exported the thread ended at record ${header.threadTail.sequence} with digest`,
      `  ${shown(header.threadTail.digest)}`,
      `and the audit at row ${header.auditTail.sequence} with digest`,
      `  ${shown(header.auditTail.digest)}`,
      "A pack shows that it agrees with itself. Whoever can write a whole new one can make all of this anew,",
      "so give --known a digest of a record that was noted elsewhere to know that it is the installation's.",
      "",
    );
  lines.push(holds ? `${shown(file)}: everything holds.` : `${shown(file)}: does not hold.`, "");
  return lines.join("\n");
};
