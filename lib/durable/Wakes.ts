import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type { TenantId, ThreadId } from "../contract/ids.ts";

/**
 * Asks whoever is placed on a thread to look at it. A wake is a hint: losing one
 * costs time (the sweeper comes by each second), never correctness.
 */
export class Wakes extends Context.Service<
  Wakes,
  {
    readonly wake: (thread: {
      readonly tenantId: TenantId;
      readonly threadId: ThreadId;
    }) => Effect.Effect<void>;
  }
>()("effect-agent/durable/Wakes") {}
