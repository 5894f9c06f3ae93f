/** One digest per audit row over everything it says and the digest before it; what an offline verifier recomputes. */
import { Digest } from "#lib/contract/ids.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { Actor } from "#lib/contract/records.ts";
import { columnText } from "./storable-text.ts";

export interface AuditEntry {
  readonly tenantId: string;
  readonly actor: Actor;
  /** Imperative, as the command is called: `decide-approval`, `abort-run`. */
  readonly verb: string;
  /** Id of what was acted on. */
  readonly target: string;
  readonly runId: string | null;
  /** False for an act that was refused. */
  readonly accepted: boolean;
  readonly reason: string;
  readonly before: Json | null;
  readonly after: Json | null;
  readonly commandId: string | null;
}

export interface AuditPlace {
  readonly sequence: number;
  /** Milliseconds, database clock. */
  readonly at: number;
  readonly previousDigest: string;
}

export const auditDigest = (entry: AuditEntry, place: AuditPlace): Digest =>
  Digest.make(
    digestOf({
      sequence: place.sequence,
      at: place.at,
      previousDigest: place.previousDigest,
      tenantId: entry.tenantId,
      actor: { kind: entry.actor.kind, id: entry.actor.id, name: entry.actor.name },
      verb: entry.verb,
      target: entry.target,
      runId: entry.runId,
      accepted: entry.accepted,
      reason: entry.reason,
      before: entry.before,
      after: entry.after,
      commandId: entry.commandId,
    }),
  );

/** A row where it stands in its tenant's chain. */
export interface StoredAuditEntry extends AuditEntry, AuditPlace {
  readonly digest: Digest;
}

/** What is digested is what is stored: text is made storable before both. */
export const storableEntry = (entry: AuditEntry): AuditEntry => ({
  ...entry,
  actor: { ...entry.actor, id: columnText(entry.actor.id), name: columnText(entry.actor.name) },
  target: columnText(entry.target),
  reason: columnText(entry.reason),
});
