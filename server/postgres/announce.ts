import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { RunEvent } from "#lib/contract/events.ts";
import type { AgentId, RunId, TenantId, ThreadId } from "#lib/contract/ids.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";

/** Where an event belongs. */
export interface EventPlace {
  readonly tenantId: TenantId;
  readonly agentId: AgentId;
  readonly threadId: ThreadId;
  readonly runId: RunId;
}

const encode = Schema.encodeUnknownEffect(Schema.toCodecJson(RunEvent));

/** Writes the event in the caller's transaction: the console learns of the change exactly when it is committed. */
export const announce = (place: EventPlace, event: RunEvent) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const body = yield* Effect.orDie(encode(event));
    yield* sql`
      SELECT announce_event(${place.tenantId}, ${place.agentId}, ${place.threadId}, ${place.runId},
        ${event._tag}, ${canonicalJson(body)})`;
  });
