/**
 * The audit log: append-only, one hash chain per tenant, accepted and refused acts
 * alike (A-10, OP-09). Nothing in the library or the host changes or removes a row.
 */
import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type { TenantId } from "#lib/contract/ids.ts";
import type { AuditEntry, StoredAuditEntry } from "./audit-chain.ts";
import type { StoreError } from "./StoreError.ts";

export class Audit extends Context.Service<
  Audit,
  {
    /**
     * Writes one row, in the caller's transaction where there is one. A store may
     * hold the tenant's tail until that transaction ends: call it last.
     */
    readonly append: (
      entry: AuditEntry,
    ) => Effect.Effect<{ readonly sequence: number }, StoreError>;
    /** Rows after `after` in sequence, at most `limit` (1 to 1,000), as they were digested. */
    readonly read: (request: {
      readonly tenantId: TenantId;
      readonly after: number;
      readonly limit: number;
    }) => Effect.Effect<ReadonlyArray<StoredAuditEntry>, StoreError>;
  }
>()("effect-agent/durable/Audit") {}
