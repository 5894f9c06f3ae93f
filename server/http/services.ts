import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { Approvals } from "#lib/durable/Approvals.ts";
import { Audit } from "#lib/durable/Audit.ts";
import { EventLog } from "#lib/durable/EventLog.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { Unknowns } from "#lib/durable/Unknowns.ts";
import { Wakes } from "#lib/durable/Wakes.ts";
import { ReadDatabase } from "#server/postgres/ReadDatabase.ts";
import { ToolProbes } from "#server/operator/ToolProbes.ts";
import { ToolSchemas } from "#server/operator/ToolSchemas.ts";
import { AgentCatalogue } from "#server/views/AgentCatalogue.ts";

/** Everything the handlers need. */
export type ApiServices =
  | SqlClient
  | Approvals
  | EventLog
  | SubmissionLedger
  | Unknowns
  | Wakes
  | Audit
  | AgentCatalogue
  | ToolProbes
  | ToolSchemas;

const picked = Context.pick(
  SqlClient,
  Approvals,
  EventLog,
  SubmissionLedger,
  Unknowns,
  Wakes,
  Audit,
  AgentCatalogue,
  ToolProbes,
  ToolSchemas,
);

/**
 * Taken once, when the routes are built, and given to each request; nothing else
 * of the builder's surroundings goes along, least of all its scope.
 */
export const servicesOf = Effect.map(Effect.context<ApiServices>(), (context) =>
  picked(context).pipe(Context.add(ReadDatabase, Context.get(context, ReadDatabase))),
);
