/** What is wrong with a tenant's audit rows, found row by row. Pure, and it repairs nothing. */
import { auditDigest, type StoredAuditEntry } from "./audit-chain.ts";
import { emptyTail } from "./chain.ts";
import type { JournalFault } from "./verify-thread.ts";

export interface AuditVerifier {
  /** The next row in stored order. */
  readonly take: (entry: StoredAuditEntry) => ReadonlyArray<JournalFault>;
  readonly tail: () => { readonly sequence: number; readonly digest: string };
}

/** After a fault the check goes on from the row as it is stored. */
export const makeAuditVerifier = (tenantId: string): AuditVerifier => {
  let tail: { readonly sequence: number; readonly digest: string } = emptyTail;
  const take = (entry: StoredAuditEntry): ReadonlyArray<JournalFault> => {
    const before = tail;
    tail = { sequence: entry.sequence, digest: entry.digest };
    const fault = (expected: string, seen: string): ReadonlyArray<JournalFault> => [
      { kind: "audit", where: tenantId, sequence: entry.sequence, expected, seen },
    ];
    if (entry.sequence !== before.sequence + 1)
      return fault(`row ${before.sequence + 1}`, `row ${entry.sequence}`);
    if (entry.previousDigest !== before.digest)
      return fault(`previous digest ${before.digest}`, `previous digest ${entry.previousDigest}`);
    const digest = auditDigest(entry, entry);
    return entry.digest === digest ? [] : fault(`digest ${digest}`, `digest ${entry.digest}`);
  };
  return { take, tail: () => tail };
};
