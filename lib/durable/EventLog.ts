/**
 * The tenant's events in one sequence without gaps and without late arrivals.
 * The order is assigned after the facts have committed, by one assigner at a
 * time, so a reader that has seen n never sees anything at or below n again.
 */
import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type * as Stream from "effect/Stream";
import type { LoggedEvent } from "../contract/events.ts";
import type { TenantId } from "../contract/ids.ts";
import type { StoreError } from "./StoreError.ts";

export class EventLog extends Context.Service<
  EventLog,
  {
    /** Events after `after`, at most `limit` (1 to 1,000), of the tenant or of one run of it. */
    readonly read: (request: {
      readonly tenantId: TenantId;
      readonly runId?: string;
      readonly after: number;
      readonly limit: number;
    }) => Effect.Effect<ReadonlyArray<LoggedEvent>, StoreError>;
    /** The highest sequence that readers may rely on, and the lowest still kept. */
    readonly bounds: (
      tenantId: TenantId,
    ) => Effect.Effect<{ readonly first: number; readonly last: number }, StoreError>;
    /**
     * A hint each time the tenant's log may have grown. Hints may be lost or
     * merged (PG-04): a reader subscribes first, reads, then waits for a hint
     * or one second, and reads again.
     */
    readonly hints: (tenantId: TenantId) => Effect.Effect<Stream.Stream<void>, never, Scope.Scope>;
  }
>()("effect-agent/durable/EventLog") {}
