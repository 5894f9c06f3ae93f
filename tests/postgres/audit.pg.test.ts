import { assert, layer } from "@effect/vitest";
import * as Effect from "effect/Effect";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import { Audit } from "#lib/durable/Audit.ts";
import { type AuditEntry, auditDigest } from "#lib/durable/audit-chain.ts";
import { ada } from "#tests/postgres/records.ts";
import { rows, store } from "#tests/postgres/store.ts";

const entry = (overrides: Partial<AuditEntry> = {}): AuditEntry => ({
  tenantId: "acme",
  actor: ada,
  verb: "decide-approval",
  target: "apr_1",
  runId: "run_1",
  accepted: true,
  reason: "fine",
  before: { state: "pending" },
  after: { state: "approved", note: "a\u0000b" },
  commandId: "command-1",
  ...overrides,
});

layer(store, { excludeTestServices: true })("the audit log on Postgres", (it) => {
  it.effect(
    "[A-10][OP-09] acts of many writers form one chain per tenant that a reader can recompute",
    () =>
      Effect.gen(function* () {
        const audit = yield* Audit;
        yield* Effect.forEach(
          Array.from({ length: 30 }, (_, index) => index),
          (index) =>
            audit.append(
              entry({
                target: `apr_${index}`,
                accepted: index % 3 !== 0,
                reason: index === 7 ? "lone \ud800 and \u0000" : "fine",
                tenantId: index % 5 === 0 ? "other" : "acme",
              }),
            ),
          { concurrency: 8 },
        );
        const stored = yield* rows(
          "SELECT *, (extract(epoch FROM at) * 1000)::float8 AS millis, sequence::int AS place FROM audit_log WHERE tenant_id = 'acme' ORDER BY sequence",
        );
        assert.strictEqual(stored.length, 24);
        let previousDigest = "0".repeat(64);
        for (const [index, row] of stored.entries()) {
          assert.strictEqual(row["place"], index + 1);
          assert.strictEqual(row["previous_digest"], previousDigest);
          const digest = auditDigest(
            entry({
              target: String(row["target"]),
              accepted: row["accepted"] === true,
              reason: String(row["reason"]),
              before: JSON.parse(String(row["before"])),
              after: JSON.parse(String(row["after"])),
            }),
            { sequence: index + 1, at: Number(row["millis"]), previousDigest },
          );
          assert.strictEqual(row["digest"], digest);
          previousDigest = digest;
        }
      }),
  );

  it.effect("[OP-09] an act that is rolled back leaves no audit row and no gap", () =>
    Effect.gen(function* () {
      const audit = yield* Audit;
      const sql = yield* SqlClient.SqlClient;
      const tenantId = "rolls-back";
      yield* audit.append(entry({ tenantId }));
      yield* Effect.exit(
        sql.withTransaction(
          Effect.andThen(audit.append(entry({ tenantId, verb: "lost" })), Effect.fail("no")),
        ),
      );
      const { sequence } = yield* audit.append(entry({ tenantId, accepted: false }));
      assert.strictEqual(sequence, 2);
      const stored = yield* rows(
        "SELECT verb, accepted FROM audit_log WHERE tenant_id = $1 ORDER BY sequence",
        [tenantId],
      );
      assert.deepStrictEqual(stored, [
        { verb: "decide-approval", accepted: true },
        { verb: "decide-approval", accepted: false },
      ]);
    }),
  );
});
