/** Which faults a request meets: the scenarios' and those switched on at run time. */
import { Context, Effect, Layer, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";

import { FaultBehaviour, type FaultRule } from "./provider-contract.ts";
import { scenarioRules } from "./scenario-rules.ts";

/** What a request meets, put together from every fault that matches it. */
export interface MetFaults {
  readonly delayMillis: number;
  readonly decline: boolean;
  readonly dropBeforeCommit: boolean;
  readonly dropAfterCommit: boolean;
}

const MatchedRow = Schema.Struct({ behaviour: FaultBehaviour, delay_millis: Schema.Int });
const StoredFault = Schema.Struct({
  fault_id: Schema.String,
  request_kind: Schema.String,
  order_id: Schema.NullOr(Schema.String),
  behaviour: FaultBehaviour,
  delay_millis: Schema.Int,
  remaining: Schema.NullOr(Schema.Int),
});
const decodeMatched = Schema.decodeUnknownEffect(Schema.Array(MatchedRow));
const decodeStored = Schema.decodeUnknownEffect(Schema.Array(StoredFault));

const combine = (matched: ReadonlyArray<typeof MatchedRow.Type>): MetFaults => ({
  delayMillis: matched.reduce(
    (sum, { behaviour, delay_millis }) => sum + (behaviour === "delay" ? delay_millis : 0),
    0,
  ),
  decline: matched.some(({ behaviour }) => behaviour === "decline"),
  dropBeforeCommit: matched.some(({ behaviour }) => behaviour === "drop-before-commit"),
  dropAfterCommit: matched.some(({ behaviour }) => behaviour === "drop-after-commit"),
});

const makeFaults = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;

  /** Uses up one occurrence of every counted fault that matches. */
  const meet = Effect.fn("Faults.meet")(function* (
    kind: FaultRule["request_kind"],
    orderId: string,
  ) {
    const scenario = scenarioRules
      .filter(
        (rule) =>
          rule.request_kind === kind && (rule.order_id === undefined || rule.order_id === orderId),
      )
      .map(({ behaviour, delay_millis }) => ({ behaviour, delay_millis: delay_millis ?? 0 }));
    const switchedOn = yield* decodeMatched(
      yield* sql`UPDATE provider.faults SET remaining = remaining - 1
        WHERE request_kind = ${kind} AND (order_id IS NULL OR order_id = ${orderId}) AND (remaining IS NULL OR remaining > 0)
        RETURNING behaviour, delay_millis`,
    );
    return combine([...scenario, ...switchedOn]);
  });

  const add = Effect.fn("Faults.add")(function* (rule: FaultRule) {
    const [stored] = yield* decodeStored(
      yield* sql`INSERT INTO provider.faults (request_kind, order_id, behaviour, delay_millis, remaining)
        VALUES (${rule.request_kind}, ${rule.order_id ?? null}, ${rule.behaviour}, ${rule.delay_millis ?? 0}, ${rule.remaining ?? null})
        RETURNING fault_id, request_kind, order_id, behaviour, delay_millis, remaining`,
    );
    return stored;
  });

  const list = Effect.fn("Faults.list")(function* () {
    return yield* decodeStored(
      yield* sql`SELECT fault_id, request_kind, order_id, behaviour, delay_millis, remaining
        FROM provider.faults ORDER BY created_at, fault_id LIMIT 200`,
    );
  });

  const clear = Effect.fn("Faults.clear")(function* () {
    yield* sql`DELETE FROM provider.faults`;
  });

  return { meet, add, list, clear };
});

export class Faults extends Context.Service<Faults, Effect.Success<typeof makeFaults>>()(
  "effect-agent/server/demo/payment-provider/Faults",
) {
  static readonly layer = Layer.effect(Faults, makeFaults);
}
