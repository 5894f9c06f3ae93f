/** Checks a tenant's audit log against itself, in one snapshot and page by page. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import type { TenantId } from "#lib/contract/ids.ts";
import { Audit } from "#lib/durable/Audit.ts";
import { makeAuditVerifier } from "#lib/durable/verify-audit.ts";
import type { JournalFault } from "#lib/durable/verify-thread.ts";
import { Int8 } from "./columns.ts";
import { inJournalSnapshot } from "./rebuild-projections.ts";

const pageSize = 1_000;

const Tail = Schema.Struct({ sequence: Int8, digest: Schema.String });

export const verifyAudit = Effect.fn("verifyAudit")((tenantId: TenantId) =>
  inJournalSnapshot(
    "verifyAudit",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient;
      const audit = yield* Audit;
      const verifier = makeAuditVerifier(tenantId);
      const faults: Array<JournalFault> = [];
      let entries = 0;
      for (;;) {
        const rows = yield* audit.read({
          tenantId,
          after: verifier.tail().sequence,
          limit: pageSize,
        });
        for (const row of rows) faults.push(...verifier.take(row));
        entries += rows.length;
        if (rows.length === 0) break;
      }
      const findTail = SqlSchema.findOneOption({
        Request: Schema.Void,
        Result: Tail,
        execute: () => sql`SELECT sequence, digest FROM audit_tails WHERE tenant_id = ${tenantId}`,
      });
      const head = Option.getOrElse(yield* findTail(), () => verifier.tail());
      const end = verifier.tail();
      if (head.sequence !== end.sequence || head.digest !== end.digest)
        faults.push({
          kind: "audit",
          where: tenantId,
          sequence: head.sequence,
          expected: `row ${head.sequence} with digest ${head.digest}`,
          seen: `row ${end.sequence} with digest ${end.digest}`,
        });
      return { entries, faults };
    }),
  ),
);
