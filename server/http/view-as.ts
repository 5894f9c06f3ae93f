import * as Effect from "effect/Effect";
import { CurrentOperator } from "#lib/contract/http/authentication.ts";
import type { OperatorAct } from "#server/operator/permissions.ts";
import { requireRole } from "#server/operator/run-command.ts";

/** The operator behind the request, once their role allows the act; a refusal is audited (Z-12, C099). */
export const operatorFor = (act: OperatorAct, target: string) =>
  Effect.gen(function* () {
    const operator = yield* CurrentOperator;
    yield* requireRole({ operator, act, target, commandId: null });
    return operator;
  });
