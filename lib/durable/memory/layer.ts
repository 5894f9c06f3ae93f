/**
 * Every port in memory over one store. **Not durable**: for tests of agents and of
 * adapters; a host that promises anything is wired to a database
 * (`server/postgres/ports.ts` in this repository's own).
 */
import * as Layer from "effect/Layer";
import * as AuditMemory from "./audit.ts";
import { diagnosticsLayer, eventLogLayer } from "./evidence.ts";
import * as JournalMemory from "./journal.ts";
import * as LedgerMemory from "./ledger.ts";
import { MemoryStore } from "./MemoryStore.ts";
import { approvalsLayer, unknownsLayer } from "./people.ts";
import * as WakesMemory from "./wakes.ts";

/** The ports; each build of the layer is a new and empty store. */
export const layerMemory = Layer.mergeAll(
  JournalMemory.layer,
  LedgerMemory.layer,
  approvalsLayer,
  unknownsLayer,
  AuditMemory.layer,
  diagnosticsLayer,
  eventLogLayer,
  WakesMemory.layer,
).pipe(Layer.provide(MemoryStore.layer));
