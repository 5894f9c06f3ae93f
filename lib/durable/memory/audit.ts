/** `Audit` in memory, with the same chain as on a database. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { Audit } from "../Audit.ts";
import { auditDigest, type AuditEntry, storableEntry } from "../audit-chain.ts";
import { emptyTail } from "../chain.ts";
import { MemoryStore, type MemoryTables } from "./MemoryStore.ts";

export const appendAudit = (tables: MemoryTables, unchecked: AuditEntry, now: number) => {
  const entry = storableEntry(unchecked);
  const log = tables.audit.get(entry.tenantId) ?? [];
  tables.audit.set(entry.tenantId, log);
  const sequence = log.length + 1;
  const place = { sequence, at: now, previousDigest: log.at(-1)?.digest ?? emptyTail.digest };
  log.push({ ...entry, ...place, digest: auditDigest(entry, place) });
  return { sequence };
};

/** Not durable: what was written down is gone with the layer. */
export const layer: Layer.Layer<Audit, never, MemoryStore> = Layer.effect(
  Audit,
  Effect.map(MemoryStore, (store) =>
    Audit.of({
      append: (entry) => store.at((tables, now) => appendAudit(tables, entry, now)),
      read: ({ tenantId, after, limit }) =>
        store.at((tables) =>
          (tables.audit.get(tenantId) ?? [])
            .filter((entry) => entry.sequence > after)
            .slice(0, Math.min(Math.max(limit, 1), 1_000)),
        ),
    }),
  ),
);
