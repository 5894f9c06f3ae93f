import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { OperatorId, TenantId } from "#lib/contract/ids.ts";
import { Me } from "#lib/contract/shell-views.ts";
import { AgentCatalogue } from "./AgentCatalogue.ts";
import { millis } from "./columns.ts";
import { decodeRows, inSnapshot } from "./snapshot.ts";

const { rehearsal: _rehearsal, modelId: _modelId, ...stored } = Me.fields;
const Row = Schema.Struct(stored);

/** The operator, the server's clock, and which model answers. */
export const readMe = Effect.fn("views.readMe")(function* (who: {
  readonly tenantId: TenantId;
  readonly operatorId: OperatorId;
}) {
  const sql = yield* SqlClient;
  const rows = yield* inSnapshot(
    who.tenantId,
    decodeRows(Row)(sql`
      SELECT operator_id AS "operatorId", tenant_id AS "tenantId", name, email, role,
        password_hash IS NOT NULL AS "hasPassword", ${sql.literal(millis("clock_timestamp()"))} AS "serverTime"
      FROM operators WHERE tenant_id = ${who.tenantId} AND operator_id = ${who.operatorId}`),
  );
  const row = rows[0] ?? (yield* Effect.die("An operator who is signed in has a row"));
  const model = yield* (yield* AgentCatalogue).model;
  const me: Me = { ...row, ...model };
  return me;
});
