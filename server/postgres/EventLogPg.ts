/**
 * The tenant's event log on PostgreSQL. Facts commit first; then one assigner per
 * tenant at a time gives their events the next sequences, so a reader never meets
 * a late arrival. NOTIFY only says "look again" (PG-04): every process also scans
 * once a second for events that nobody rang for.
 */
import * as PgClient from "@effect/sql-pg/PgClient";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as PubSub from "effect/PubSub";
import * as Queue from "effect/Queue";
import * as Schema from "effect/Schema";
import * as Stream from "effect/Stream";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { type LoggedEvent, ReadableEvent } from "#lib/contract/events.ts";
import { AgentId, RunId, TenantId, ThreadId } from "#lib/contract/ids.ts";
import { EventLog } from "#lib/durable/EventLog.ts";
import { Int8, JsonText, Millis } from "#server/postgres/columns.ts";
import { transition } from "#server/postgres/Database.ts";
import { EventHints } from "#server/postgres/EventHints.ts";
import { LogTails } from "#server/postgres/log-tail.ts";

const channel = "effect_agent";
/** Events that one transaction of the assigner moves at most. */
const assignBatch = 2_000;
/**
 * Lets events that are written together get their places together; one that comes alone waits for nothing.
 * A pass costs a commit, and while runs append it takes a core from them.
 */
const assignPause = "50 millis";
const scanInterval = "1 second";
/** Hints that a slow reader may fall behind by; older ones are dropped, the next one says the same. */
const hintBacklog = 64;
/** Stands for every tenant: after a lost connection nobody knows who was missed. */
const everyTenant = "*";

const Assigned = Schema.Tuple([Schema.Struct({ assigned: Schema.Int, last_sequence: Int8 })]);

const EventRow = Schema.Struct({
  sequence: Int8,
  at: Millis,
  agent_id: AgentId,
  thread_id: ThreadId,
  run_id: RunId,
  kind: Schema.String,
  body: JsonText(Schema.Json),
  characters: Schema.Int,
});

const Bounds = Schema.Struct({ first_sequence: Int8, last_sequence: Int8 });
const WaitingTenant = Schema.Struct({ tenant_id: TenantId });

const decodeEvent = Schema.decodeUnknownOption(ReadableEvent);

/** A kind or shape of a later version stays in the log as a neutral row. */
const loggedEventOf = (tenantId: TenantId, row: typeof EventRow.Type): LoggedEvent => ({
  version: 1,
  sequence: row.sequence,
  tenantId,
  at: row.at,
  agentId: row.agent_id,
  threadId: row.thread_id,
  runId: row.run_id,
  event: Option.getOrElse(decodeEvent(row.body), () => ({
    _tag: "UnknownEvent" as const,
    kind: row.kind,
  })),
});

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient;
  const hints = yield* EventHints;
  const grown = yield* PubSub.sliding<string>(hintBacklog);

  const decodeAssigned = Schema.decodeUnknownEffect(Assigned);
  const assignOnce = (tenantId: string) =>
    transition(
      "EventLog.assign",
      Effect.flatMap(
        sql`SELECT assigned, last_sequence FROM assign_event_sequences(${tenantId}, ${assignBatch})`,
        decodeAssigned,
      ),
    );

  const assign = Effect.fnUntraced(function* (tenantId: string) {
    for (;;) {
      const [{ assigned }] = yield* assignOnce(tenantId);
      if (assigned > 0) yield* PubSub.publish(grown, tenantId);
      if (assigned < assignBatch) return;
    }
  });

  // A failed assignment is found again by the scan.
  const assigner = hints.take.pipe(
    Effect.flatMap((tenants) =>
      Effect.forEach(
        tenants,
        (tenantId) =>
          Effect.catchTag(assign(tenantId), "StoreError", (error) =>
            Effect.logWarning(
              `Events of tenant ${tenantId} wait for their places: ${error.message}`,
            ),
          ),
        { concurrency: 4, discard: true },
      ),
    ),
    Effect.andThen(Effect.sleep(assignPause)),
    Effect.forever,
  );

  const findWaiting = SqlSchema.findAll({
    Request: Schema.Void,
    Result: WaitingTenant,
    execute: () =>
      sql`SELECT DISTINCT tenant_id FROM (SELECT tenant_id FROM event_inbox LIMIT 10000) AS waiting`,
  });
  const scan = transition("EventLog.scan", findWaiting()).pipe(
    Effect.flatMap((rows) =>
      Effect.forEach(rows, (row) => hints.written(row.tenant_id), { discard: true }),
    ),
    Effect.catchTag("StoreError", (error) => Effect.logDebug(error.message)),
    Effect.andThen(Effect.sleep(scanInterval)),
    Effect.forever,
  );

  const heard = (payload: string) => {
    const space = payload.indexOf(" ");
    const tenantId = payload.slice(space + 1);
    return payload.slice(0, space) === "inbox"
      ? hints.written(tenantId)
      : Effect.asVoid(PubSub.publish(grown, tenantId));
  };
  const listener = Effect.scoped(
    Effect.gen(function* () {
      const notifications = yield* sql.listen(channel);
      yield* PubSub.publish(grown, everyTenant);
      return yield* Effect.forever(
        Effect.flatMap(Queue.take(notifications), ({ payload }) => heard(payload)),
      );
    }),
  ).pipe(
    // Everything, also the interruption that a closed connection hands to its readers:
    // only the end of this layer ends the listener.
    Effect.catchCause((cause) =>
      Effect.logDebug("The event log's listener starts again", Cause.squash(cause)),
    ),
    Effect.andThen(Effect.sleep(scanInterval)),
    Effect.forever,
  );

  yield* Effect.forkScoped(assigner);
  yield* Effect.forkScoped(scan);
  yield* Effect.forkScoped(listener);

  const select = SqlSchema.findAll({
    Request: Schema.Struct({
      tenantId: Schema.String,
      runId: Schema.NullOr(Schema.String),
      after: Schema.Int,
      limit: Schema.Int,
    }),
    Result: EventRow,
    execute: (request) =>
      sql`SELECT sequence, at, agent_id, thread_id, run_id, kind, body, length(body) AS characters
        FROM events
        WHERE tenant_id = ${request.tenantId}
          ${request.runId === null ? sql`` : sql`AND run_id = ${request.runId}`}
          AND sequence > ${request.after}
        ORDER BY sequence LIMIT ${request.limit}`,
  });

  const load = (tenantId: TenantId, runId: string | null) => (after: number, limit: number) =>
    Effect.map(transition("EventLog.read", select({ tenantId, runId, after, limit })), (rows) =>
      rows.map((row) => ({
        event: loggedEventOf(tenantId, row),
        characters: row.characters,
      })),
    );

  const tails = new LogTails();
  const read = Effect.fn("EventLog.read")(function* (
    request: Parameters<EventLog["Service"]["read"]>[0],
  ) {
    const { tenantId, runId, after } = request;
    const limit = Math.min(Math.max(request.limit, 1), 1_000);
    // One run's events are asked for once, by a page that opens; the tenant's by everybody, all the time.
    if (runId === undefined) return yield* tails.read(tenantId, after, limit, load(tenantId, null));
    return (yield* load(tenantId, runId)(after, limit)).map(({ event }) => event);
  });

  const findBounds = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: Bounds,
    execute: (tenantId) =>
      sql`SELECT first_sequence, last_sequence FROM event_tails WHERE tenant_id = ${tenantId}`,
  });

  const bounds = Effect.fn("EventLog.bounds")(function* (tenantId: TenantId) {
    const row = yield* transition("EventLog.bounds", findBounds(tenantId));
    const found = Option.match(row, {
      onNone: () => ({ first: 1, last: 0 }),
      onSome: ({ first_sequence, last_sequence }) => ({
        first: first_sequence,
        last: last_sequence,
      }),
    });
    tails.forgetBeyond(tenantId, found.last);
    return found;
  });

  const hintsOf = (tenantId: TenantId) =>
    Effect.map(PubSub.subscribe(grown), (subscription) =>
      Stream.fromSubscription(subscription).pipe(
        Stream.filter((hinted) => hinted === tenantId || hinted === everyTenant),
        Stream.map((): void => undefined),
      ),
    );

  return EventLog.of({ read, bounds, hints: hintsOf });
});

/** `EventLog` on the pool's database, with this process's assigner, scan and listener. */
export const layer = Layer.effect(EventLog, make);
