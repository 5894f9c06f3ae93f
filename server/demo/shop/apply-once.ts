/**
 * Makes a tool whose whole effect is in the shop's tables safe to run again: the
 * effect and the fact that this call had it are one transaction, so a second
 * attempt with the same idempotency key finds the first one's result.
 */
import { Effect, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";

import { CurrentToolCall } from "#lib/current-tool-call.ts";

const StoredRow = Schema.Struct({ tool_name: Schema.String, result: Schema.Unknown });
const decodeStored = Schema.decodeUnknownEffect(Schema.Array(StoredRow));

/**
 * Runs `effect` in a transaction, once per call. Outside of a tool call (tests,
 * the direct replay) there is no key and it simply runs in a transaction. A
 * refusal rolls back, so nothing remembers it and a repetition asks again.
 */
export const applyOnce = <S extends Schema.Constraint, E, R>(
  tool: { readonly name: string; readonly successSchema: S },
  effect: Effect.Effect<S["Type"], E, R>,
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    const call = yield* CurrentToolCall;
    if (call === undefined) return yield* sql.withTransaction(effect);
    const key = call.idempotencyKey;

    const once = Effect.gen(function* () {
      const claimed =
        yield* sql`INSERT INTO retail.applied_calls (idempotency_key, tool_name, result)
        VALUES (${key}, ${tool.name}, 'null') ON CONFLICT (idempotency_key) DO NOTHING RETURNING idempotency_key`;
      if (claimed.length === 0) {
        const [stored] = yield* decodeStored(
          yield* sql`SELECT tool_name, result FROM retail.applied_calls WHERE idempotency_key = ${key}`,
        );
        if (stored === undefined || stored.tool_name !== tool.name) {
          return yield* Effect.die(
            new Error(
              `idempotency key of ${tool.name} is already used by ${stored?.tool_name ?? "nothing"}`,
            ),
          );
        }
        return yield* Schema.decodeUnknownEffect(tool.successSchema)(stored.result);
      }
      const result = yield* effect;
      const encoded = yield* Schema.encodeUnknownEffect(tool.successSchema)(result);
      yield* sql`UPDATE retail.applied_calls SET result = ${JSON.stringify(encoded ?? null)}::json WHERE idempotency_key = ${key}`;
      return result;
    });
    return yield* sql.withTransaction(once);
  });
