import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { EventLog } from "#lib/durable/EventLog.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { Wakes } from "#lib/durable/Wakes.ts";
import { ToolSchemas } from "#server/operator/ToolSchemas.ts";
import { Audit } from "#server/postgres/AuditPg.ts";
import { AgentCatalogue } from "#server/views/AgentCatalogue.ts";

/** Everything the handlers need. */
export type ApiServices =
  | SqlClient
  | EventLog
  | SubmissionLedger
  | Wakes
  | Audit
  | AgentCatalogue
  | ToolSchemas;

/**
 * Taken once, when the routes are built, and given to each request; nothing else
 * of the builder's surroundings goes along, least of all its scope.
 */
export const servicesOf = Effect.map(
  Effect.context<ApiServices>(),
  Context.pick(SqlClient, EventLog, SubmissionLedger, Wakes, Audit, AgentCatalogue, ToolSchemas),
);
