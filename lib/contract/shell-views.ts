/** Who looks at the console, and what the shell counts. */
import * as Schema from "effect/Schema";
import { EpochMillis, OperatorId, Sequence, TenantId } from "./ids.ts";
import { OperatorRole } from "./status.ts";

export const Me = Schema.Struct({
  operatorId: OperatorId,
  tenantId: TenantId,
  name: Schema.String,
  email: Schema.String,
  role: OperatorRole,
  hasPassword: Schema.Boolean,
  /** The server's clock, so that countdowns never use the browser's. */
  serverTime: EpochMillis,
  /** True when no model key is configured and the rehearsal model answers. */
  rehearsal: Schema.Boolean,
  modelId: Schema.String,
});
export type Me = typeof Me.Type;

/** What the landing shell needs: the badges and the clock. */
export const Counts = Schema.Struct({
  pendingApprovals: Schema.Int,
  openUnknowns: Schema.Int,
  openDenials: Schema.Int,
  activeRuns: Schema.Int,
  asOf: Sequence,
  serverTime: EpochMillis,
});
export type Counts = typeof Counts.Type;
