/** Every port of `lib/durable/` on one pool, as a host wires them; tests that stand something between take the adapters one by one. */
import * as Layer from "effect/Layer";
import * as ApprovalsPg from "./ApprovalsPg.ts";
import * as AuditPg from "./AuditPg.ts";
import * as DiagnosticsPg from "./DiagnosticsPg.ts";
import * as EventLogPg from "./EventLogPg.ts";
import * as JournalPg from "./JournalPg.ts";
import * as SubmissionLedgerPg from "./SubmissionLedgerPg.ts";
import * as UnknownsPg from "./UnknownsPg.ts";

/** What people act on, and what of it is written down. */
export const peopleLayer = Layer.mergeAll(ApprovalsPg.layer, UnknownsPg.layer).pipe(
  Layer.provideMerge(AuditPg.layer),
);

export const portsLayer = Layer.mergeAll(
  JournalPg.layer,
  SubmissionLedgerPg.layer,
  EventLogPg.layer,
  DiagnosticsPg.layer,
  peopleLayer,
);
