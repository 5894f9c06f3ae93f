import * as Effect from "effect/Effect";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import { assert, layer } from "@effect/vitest";
import { CallState } from "#lib/contract/status.ts";
import { store } from "#tests/postgres/store.ts";

const write = (state: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      INSERT INTO tool_calls (tenant_id, run_id, turn, call_id, call_index, thread_id, tool_name, state,
        execution_class, provider_executed, needs_approval, parameters_digest, tool_digest, declared_sequence,
        declared_at)
      VALUES ('states', 'r', 1, ${state}, 0, 't', 'tool', ${state}, 'readonly', false, false, 'd', 'd', 1, now())`,
  );

layer(store)("the states of a call in the database", (it) => {
  it.effect("are those that a reader knows, and no other", () =>
    Effect.gen(function* () {
      for (const state of CallState.literals) yield* write(state);
      for (const state of ["", "Queued", "done", "queued "]) {
        const refused = yield* Effect.flip(write(state));
        assert.include(String(refused.reason.cause), "call_state_is_known", state);
      }
    }),
  );
});
