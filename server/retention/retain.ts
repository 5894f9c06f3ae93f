/**
 * Archives or deletes what is settled and old enough, in batches that each end in a
 * state that is whole: an archive is on disk before a row is gone, and one whose rows
 * are not all gone is finished by the next pass. Audit rows and the ledger's keys
 * stay. Unsettled work is not touched, also where settled runs of its thread go.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { TenantId } from "#lib/contract/ids.ts";
import { transition } from "#server/postgres/Database.ts";
import { makeBatches } from "./batch.ts";
import { makeFindSegments, type Segment } from "./find-segments.ts";
import { makeGoOn } from "./go-on.ts";
import { refuseLaterSchema } from "./known-schema.ts";
import { onePass } from "./one-pass.ts";
import { makeTrimEvents } from "./trim-events.ts";

export interface RetentionOptions {
  /** Settled longer ago than this, by the database's clock; seconds. */
  readonly olderThanSeconds: number;
  /** Where archives go; undefined: rows are deleted without one. */
  readonly folder: string | undefined;
  /** One line for a person after each batch. */
  readonly onProgress: (line: string) => Effect.Effect<void>;
}

export interface RetentionReport {
  readonly threads: number;
  readonly runs: number;
  readonly records: number;
  readonly events: number;
  /** Threads that were left because their chain does not hold. */
  readonly faulty: number;
  /** Runs that were left because they stand in an archive that is not in this pass's folder. */
  readonly held: number;
}

const TenantRow = Schema.Struct({ tenant_id: TenantId });

const pass = Effect.fnUntraced(function* (options: RetentionOptions) {
  const sql = yield* SqlClient.SqlClient;
  const batches = yield* makeBatches;
  const findSegments = yield* makeFindSegments;
  const trimEvents = yield* makeTrimEvents;
  const goOn = yield* makeGoOn(batches, options.onProgress);
  const { olderThanSeconds } = options;
  const total = {
    ...(yield* goOn(options.folder, olderThanSeconds)),
    events: 0,
    faulty: 0,
  };

  const listTenants = SqlSchema.findAll({
    Request: Schema.Void,
    Result: TenantRow,
    execute: () => sql`SELECT DISTINCT tenant_id FROM threads ORDER BY tenant_id`,
  });
  for (const { tenant_id: tenantId } of yield* transition("Retention.tenants", listTenants())) {
    let after: string | undefined = "";
    while (after !== undefined) {
      const found: {
        readonly segments: Array<Segment>;
        readonly next: string | undefined;
        readonly hasMore: boolean;
      } = yield* transition("Retention.find", findSegments({ tenantId, after, olderThanSeconds }));
      let gone = 0;
      while (found.segments.length > 0) {
        const { faulty, archive, ...counts } = yield* batches.next(
          tenantId,
          found.segments,
          options,
        );
        gone += counts.runs;
        total.threads += counts.threads;
        total.runs += counts.runs;
        total.records += counts.records;
        total.faulty += faulty;
        yield* options.onProgress(
          `${tenantId}: ${counts.runs} runs of ${counts.threads} threads, ${counts.records} records ${archive === undefined ? "deleted" : `in ${archive}`}`,
        );
      }
      // A thread with more runs than go at once is looked at again, as long as that leads anywhere.
      if (!found.hasMore || gone === 0) after = found.next;
    }
    total.events += yield* trimEvents(tenantId, olderThanSeconds);
  }
  return total satisfies RetentionReport;
});

/** One pass over every tenant, alone: of two at once the second is refused, and so is one of an older release. */
export const retain = Effect.fn("retain")((options: RetentionOptions) =>
  onePass(Effect.andThen(transition("Retention.schema", refuseLaterSchema), pass(options))),
);
