/**
 * `npm run verify-journal [-- --tenant T] [--thread ID]`: checks what is stored against itself and repairs
 * nothing; with `--archive FOLDER` the archives in that folder, and no database. One line per fault, then the
 * count. Ends with 1 where there is a fault, with 2 where the check
 * could not be made.
 */
import { parseArgs } from "node:util";
import * as NodeRuntime from "@effect/platform-node/NodeRuntime";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Cause, Console, Effect, Exit, Schema } from "effect";
import { SqlClient, SqlSchema } from "effect/unstable/sql";
import { TenantId } from "#lib/contract/ids.ts";
import type { JournalFault } from "#lib/durable/verify-thread.ts";
import { verifyAudit } from "#server/postgres/verify-audit.ts";
import { type VerifyReport, verifyTenant, verifyThread } from "#server/postgres/verify-journal.ts";
import { checkArchive, listArchives } from "#server/retention/check-archive.ts";
import { CommandRefused, commandStore } from "./lib/store.ts";

const { values } = parseArgs({
  options: {
    tenant: { type: "string" },
    thread: { type: "string" },
    archive: { type: "string" },
  },
});

const listTenants = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ tenant_id: TenantId }),
    execute: () =>
      sql`SELECT tenant_id FROM threads UNION SELECT tenant_id FROM audit_tails ORDER BY tenant_id`,
  })(),
);

const placeOf = (fault: JournalFault): string => {
  switch (fault.kind) {
    case "audit":
      return "audit log";
    case "archive":
      return fault.where;
    default:
      return `thread ${fault.where}`;
  }
};

const lineOf = (scope: string, fault: JournalFault): string =>
  [
    "fault",
    scope,
    placeOf(fault),
    fault.sequence === null ? "no record" : `record ${fault.sequence}`,
    `${fault.kind}: expected ${fault.expected}, seen ${fault.seen}`,
  ].join("  ");

const total = { threads: 0, records: 0, faults: 0 };

const tell = (scope: string, faults: ReadonlyArray<JournalFault>) => {
  total.faults += faults.length;
  return Effect.forEach(faults, (fault) => Console.log(lineOf(scope, fault)), { discard: true });
};

const verifyArchives = Effect.fnUntraced(function* (folder: string) {
  for (const name of yield* listArchives(folder)) {
    const { records, segments, faults } = yield* checkArchive(folder, name);
    total.threads += segments.length;
    total.records += records;
    yield* tell(`archive ${name}`, faults);
  }
});

const verifyDatabase = Effect.gen(function* () {
  const add = (tenantId: string) => (part: VerifyReport) => {
    total.threads += part.threads;
    total.records += part.records;
    return tell(`tenant ${tenantId}`, part.faults);
  };
  if (values.thread !== undefined && values.tenant === undefined)
    return yield* new CommandRefused({
      message: "--thread also needs the --tenant that it is of.",
    });
  const tenants =
    values.tenant === undefined
      ? (yield* listTenants).map((row) => row.tenant_id)
      : [TenantId.make(values.tenant)];
  for (const tenantId of tenants) {
    if (values.thread !== undefined) {
      const report = yield* verifyThread(tenantId, values.thread);
      if (report.threads === 0)
        return yield* new CommandRefused({
          message: `Tenant ${tenantId} has no thread ${values.thread}.`,
        });
      yield* add(tenantId)(report);
      continue;
    }
    yield* verifyTenant(tenantId, add(tenantId));
    yield* tell(`tenant ${tenantId}`, (yield* verifyAudit(tenantId)).faults);
  }
}).pipe(Effect.provide(commandStore("verify-journal")));

const main = Effect.gen(function* () {
  yield* values.archive === undefined ? verifyDatabase : verifyArchives(values.archive);
  yield* Console.log(
    `verify: ${total.threads} threads, ${total.records} records, ${total.faults} faults`,
  );
  return total.faults === 0;
});

NodeRuntime.runMain(
  main.pipe(
    Effect.scoped,
    Effect.provide(NodeServices.layer),
    Effect.tapError((error) => Console.error(error.message)),
  ),
  {
    disableErrorReporting: true,
    teardown: (exit, end) =>
      end(
        Exit.isSuccess(exit)
          ? exit.value === true
            ? 0
            : 1
          : Cause.hasInterruptsOnly(exit.cause)
            ? 130
            : 2,
      ),
  },
);
